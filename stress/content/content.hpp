// SPDX-License-Identifier: BSL-1.0
/// What the bytes of a storage say of themselves: who wrote them, and the how manieth time. An owner
/// knows what it has to read, so a torn, lost, stale or foreign write shows at its next read. Any
/// thread may call these functions, for bytes that nobody writes meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace byre::stress {

/// No two writes of a run write the same content: an identity belongs to one storage, which counts
/// its versions.
struct Content {
  std::uint64_t identity = 0;
  std::uint64_t version = 0;

  friend bool operator==(const Content&, const Content&) = default;
};

/// Fewer bytes hold no head: they are a hash of the content, the first of which counts the versions,
/// so that a byte tells one from the 255 before.
inline constexpr std::size_t head_nbytes = 32;

/// Fills `data` with a head (identity, version, size, checksum of it all) and a sequence of words
/// that follows from identity and version. At the speed of memory.
void write_content(std::byte* data, std::size_t nbytes, Content content) noexcept;

/// Whether the first `nbytes` bytes, of `written_nbytes` that were written, are those of `content`:
/// every byte is looked at.
bool reads(const std::byte* data, std::size_t nbytes, Content content,
           std::size_t written_nbytes) noexcept;

/// What is wrong with bytes that ought to be `expected`, for people; nothing if they are right.
std::optional<std::string> fault_in(const std::byte* data, std::size_t nbytes, Content expected);

std::string text_of(Content content);

}  // namespace byre::stress
