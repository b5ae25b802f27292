// SPDX-License-Identifier: BSL-1.0
/// The parts of a .safetensors file in front of the data: its length, and JSON, read and written without the tensors.
#pragma once

#include <byre/interop/detail/format.hpp>
#include <byre/interop/safetensors_header.hpp>
#include <byre/tensor/dims.hpp>
#include <byre/tensor/dtype.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
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

[[noreturn]] inline void refuse_safetensors(const char* source, const Text& found,
                                            const char* advice) {
  refuse_as(".safetensors", source, found, advice);
}

/// An entry as it is written.
struct SafetensorsJsonEntry {
  std::string name;
  std::string dtype;
  Dims sizes;
  std::array<std::uint64_t, 2> offsets{};
};

struct SafetensorsJson {
  std::vector<SafetensorsJsonEntry> tensors;
  std::vector<std::pair<std::string, std::string>> metadata;
};

/// Every key and number as it is written, so that none is lost that a tree of values would lose. Throws FileError,
/// which names the source, if the text is no JSON, has an unknown key, a key twice or not at all, or a value of another
/// type than the format's. It keeps nothing deeper than the format goes, and does not recurse.
SafetensorsJson read_safetensors_json(std::string_view text, const char* source);

/// In quotes, with the escapes that it needs; nothing if it is not UTF-8.
std::optional<std::string> json_string(const std::string& text);

struct SafetensorsPart {
  std::string_view name;
  DType dtype;
  std::span<const std::int64_t> sizes;
  std::size_t nbytes;
};

/// The number of each tensor, in the order in which their data are written: the larger elements first, so that
/// all are aligned, and else by name. It is that of the reference implementation.
std::vector<std::size_t> order_of(std::span<const SafetensorsPart> parts);

/// The header with its length, of data in the order of `parts`, which begin at a multiple of 64 bytes. Throws
/// InvalidArgument for names and keys that are there twice or are not UTF-8, for the name __metadata__, and
/// for a header of more than `limit_nbytes` or a file of more bytes than one can have.
std::string safetensors_header(std::span<const SafetensorsPart> parts,
                               std::span<const std::pair<std::string, std::string>> metadata,
                               std::size_t limit_nbytes = safetensors_header_max_nbytes);

}  // namespace byre::inline v0::detail
