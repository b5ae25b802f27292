// SPDX-License-Identifier: BSL-1.0
/// Messages with descriptors, over Unix sockets of the user. Only sources for systems with memory
/// files call these functions. After a failure, last_error() returns the reason.
#pragma once

#include <byre/config.hpp>
#include <byre/system/detail/descriptor.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace byre::inline BYRE_ABI::system {

using byre::detail::Descriptor;

inline constexpr std::size_t most_descriptors = 2;  ///< of one message

enum class Transfer : std::uint8_t {
  done,
  failed,
  ended,             ///< the other side closed the socket, or sent a shorter message
  lost_descriptors,  ///< more came than most_descriptors, or than the process may open
};

/// Sends a message of at most 2 KiB, and duplicates of descriptors. Waits if the socket is full, or
/// fails if the socket is non-blocking. Nothing is sent after a failure.
Transfer send_message(int socket, std::span<const std::byte> message,
                      std::span<const int> descriptors) noexcept;

/// A duplicate of a descriptor of the user, which closes on exec.
Descriptor duplicate_of(int descriptor) noexcept;

/// A message that was received.
struct Received {
  std::size_t nbytes = 0;
  std::size_t descriptor_count = 0;
  std::array<Descriptor, most_descriptors> descriptors;
};

/// Receives a message of exactly message.size() bytes. Waits for it, unless the socket is
/// non-blocking and no part of the message is there. If the message ends earlier, the result is
/// `ended`, and received.nbytes tells how many bytes came.
Transfer receive_message(int socket, std::span<std::byte> message, Received& received) noexcept;

}  // namespace byre::inline BYRE_ABI::system
