// SPDX-License-Identifier: BSL-1.0
/// What reading and writing .safetensors files have in common: the names of dtypes, and names that have to
/// be unique.
#pragma once

#include <byre/tensor/dtype.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace byre::inline v0::detail {

inline constexpr std::string_view metadata_key("__metadata__");

/// Of the number in front of the header.
inline constexpr std::size_t safetensors_length_nbytes = 8;

struct SafetensorsType {
  DType dtype;
  std::string_view code;
};

/// In the order that the format has them, in which the larger ones are behind the smaller ones.
inline constexpr std::array<SafetensorsType, dtype_count> safetensors_types{
    {{DType::boolean, "BOOL"},
     {DType::u8, "U8"},
     {DType::i8, "I8"},
     {DType::i16, "I16"},
     {DType::f16, "F16"},
     {DType::bf16, "BF16"},
     {DType::i32, "I32"},
     {DType::f32, "F32"},
     {DType::complex64, "C64"},
     {DType::f64, "F64"},
     {DType::i64, "I64"}}};

/// One of those that are there twice.
std::optional<std::string_view> repeated_of(std::vector<std::string_view> names);

/// The first of each pair.
template <class Pairs>
std::vector<std::string_view> keys_of(const Pairs& pairs) {
  std::vector<std::string_view> keys;
  for (const auto& pair : pairs) {
    keys.emplace_back(pair.first);
  }
  return keys;
}

}  // namespace byre::inline v0::detail
