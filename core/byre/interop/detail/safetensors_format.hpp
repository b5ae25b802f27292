// SPDX-License-Identifier: BSL-1.0
/// The bytes of a .safetensors file before the data: the length of the header and its JSON text,
/// read and written without tensors.
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

namespace byre::inline BYRE_ABI::detail {

inline constexpr std::string_view metadata_key("__metadata__");

/// The size of the number that precedes the header and states the header's length.
inline constexpr std::size_t safetensors_length_nbytes = 8;

struct SafetensorsType {
  DType dtype;
  std::string_view code;
};

/// In the format's order of dtypes: larger dtypes come later. Tensors are saved in the reverse
/// order.
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

/// An entry of the JSON text, before its dtype and sizes are checked.
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

/// Reads the text key by key, because a parsed tree would lose repeated keys. Throws FileError,
/// which names the source, if the text is not JSON, has an unknown, repeated or missing key, or a
/// value of the wrong type. Does not recurse, and stores nothing that nests deeper than the format
/// allows.
SafetensorsJson read_safetensors_json(std::string_view text, const char* source);

/// The text in quotes, with the necessary escapes; nullopt if the text is not UTF-8.
std::optional<std::string> json_string(const std::string& text);

/// A tensor to save.
struct SafetensorsPart {
  std::string_view name;
  DType dtype;
  std::span<const std::int64_t> sizes;
  std::size_t nbytes;
};

/// The indices of the tensors in the order in which their data are written: larger elements first,
/// so that all are aligned, then by name. The reference implementation uses this order, too.
std::vector<std::size_t> writing_order(std::span<const SafetensorsPart> parts);

/// The header with its length, for data that follow in the order of `parts`. The data then begin at
/// a multiple of 64 bytes. Throws InvalidArgument for names and keys that occur twice or are not
/// UTF-8, for the name __metadata__, for a header of more than `limit_nbytes`, and for data larger
/// than a file can be.
std::string safetensors_header(std::span<const SafetensorsPart> parts,
                               std::span<const std::pair<std::string, std::string>> metadata,
                               std::size_t limit_nbytes = safetensors_header_max_nbytes);

}  // namespace byre::inline BYRE_ABI::detail
