// SPDX-License-Identifier: BSL-1.0
/// Shared by all formats of files: refusals, quoted text, unique names, numbers and alignment.
#pragma once

#include <byre/error/error.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace byre::inline v0::detail {

/// The first `most` characters, those that a terminal would obey as question marks.
std::string printable(std::string_view text, std::size_t most = 40);

/// Throws FileError, which says what was found in `source`, a file of the format `ending`, and the advice.
[[noreturn]] void refuse_as(const char* ending, const char* source, const Text& found,
                            const char* advice);

[[noreturn]] inline void refuse_npy(const char* source, const Text& found, const char* advice) {
  refuse_as(".npy", source, found, advice);
}

/// One of the names that are there twice.
std::optional<std::string_view> find_duplicate(std::vector<std::string_view> names);

/// The first of each pair.
template <class Pairs>
std::vector<std::string_view> keys_of(const Pairs& pairs) {
  std::vector<std::string_view> keys;
  for (const auto& pair : pairs) {
    keys.emplace_back(pair.first);
  }
  return keys;
}

/// A number in bytes, the least significant first.
std::string little_endian(std::uint64_t number, std::size_t nbytes);
std::uint64_t read_little_endian(std::span<const std::byte> bytes);

/// How many bytes bring data to a multiple of 64, so that a mapped file has them aligned for any vector.
constexpr std::size_t padding_after(std::uint64_t nbytes) noexcept {
  return static_cast<std::size_t>(-nbytes % 64);
}

}  // namespace byre::inline v0::detail
