// SPDX-License-Identifier: BSL-1.0
/// The JSON that headers of .safetensors files are made of: read with every key and number as it is written,
/// so that none is lost that a tree of values would lose.
#pragma once

#include <byre/tensor/dims.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace byre::inline v0::detail {

/// An entry as it is written.
struct SafetensorsText {
  std::string name;
  std::string dtype;
  Dims sizes;
  std::array<std::uint64_t, 2> offsets{};
};

struct SafetensorsTexts {
  std::vector<SafetensorsText> tensors;
  std::vector<std::pair<std::string, std::string>> metadata;
};

/// Throws FileError, which names the source, for what is no JSON, has a key that is not the format's, a key
/// twice or not at all, or a value of another type than the format's. It keeps nothing deeper than the
/// format goes, and does not recurse.
SafetensorsTexts read_safetensors_json(std::string_view text, const char* source);

/// In quotes, with the escapes that it needs; nothing if it is not UTF-8.
std::optional<std::string> json_string(const std::string& text);

}  // namespace byre::inline v0::detail
