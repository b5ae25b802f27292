// SPDX-License-Identifier: BSL-1.0
/// Content: bytes that identify their writer and the number of its write. An owner knows what it has to read:
/// a torn, lost, stale or foreign write shows at its next read. By any thread, on bytes that no thread
/// writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace byre::stress {

/// Each write of a run has its own: an identity belongs to one storage, which counts its versions.
struct Content {
  std::uint64_t identity = 0;
  std::uint64_t version = 0;

  friend bool operator==(const Content&, const Content&) = default;
};

/// Fewer bytes have no head. They are a hash of the content; the first one counts the versions, and so tells
/// a version from the 255 before it.
inline constexpr std::size_t head_nbytes = 32;

/// Fills `data` with a head (identity, version, size, checksum of it all) and a sequence of words
/// that follows from identity and version. At the speed of memory.
void write_content(std::byte* data, std::size_t nbytes, Content content) noexcept;

/// Whether the first `nbytes` of `written_nbytes` bytes are those of `content`. Reads every byte.
bool reads(const std::byte* data, std::size_t nbytes, Content content,
           std::size_t written_nbytes) noexcept;

/// How bytes differ from `expected`, as a text for the user; none if they do not.
std::optional<std::string> fault_in(const std::byte* data, std::size_t nbytes, Content expected);

std::string text_of(Content content);

}  // namespace byre::stress
