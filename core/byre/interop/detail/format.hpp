// SPDX-License-Identifier: BSL-1.0
/// Shared by all file formats: rejection of files, printable text, unique names, numbers and
/// alignment.
#pragma once

#include <byre/error/error.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace byre::inline BYRE_ABI::detail {

/// The first `most` characters of `text`, with question marks for control characters and for bytes
/// beyond ASCII.
std::string printable(std::string_view text, std::size_t most = 40);

/// Throws FileError, whose text states that `source` is not a valid file of the format `ending`,
/// and quotes `found` as the reason.
[[noreturn]] void refuse_as(const char* ending, const char* source, const Text& found,
                            const char* advice);

[[noreturn]] inline void refuse_npy(const char* source, const Text& found, const char* advice) {
  refuse_as(".npy", source, found, advice);
}

/// A name that occurs more than once, or nullopt if all names are unique.
std::optional<std::string_view> find_duplicate(std::vector<std::string_view> names);

/// The first member of each pair.
template <class Pairs>
std::vector<std::string_view> keys_of(const Pairs& pairs) {
  std::vector<std::string_view> keys;
  for (const auto& pair : pairs) {
    keys.emplace_back(pair.first);
  }
  return keys;
}

/// A number as bytes, the least significant first.
std::string little_endian(std::uint64_t number, std::size_t nbytes);
std::uint64_t read_little_endian(std::span<const std::byte> bytes);

/// The number of bytes up to the next multiple of 64. Data that begin at such a multiple in a
/// mapped file are aligned for any vector instruction.
constexpr std::size_t padding_after(std::uint64_t nbytes) noexcept {
  return static_cast<std::size_t>(-nbytes % 64);
}

}  // namespace byre::inline BYRE_ABI::detail
