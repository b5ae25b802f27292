// SPDX-License-Identifier: BSL-1.0
#include <byre/error/detail/quoted_text.hpp>
#include <byre/interop/detail/format.hpp>
#include <byre/interop/detail/npy_literal.hpp>
#include <byre/interop/npy_header.hpp>

#include <algorithm>
#include <array>
#include <new>
#include <string_view>

namespace byre::inline BYRE_ABI {
namespace {

using detail::refuse_npy;

constexpr std::string_view magic("\x93NUMPY");

struct TypeCode {
  DType dtype;
  std::string_view code;
};

/// The type codes of the format, without the byte order.
constexpr std::array<TypeCode, 10> type_codes{{{DType::boolean, "b1"},
                                               {DType::u8, "u1"},
                                               {DType::i8, "i1"},
                                               {DType::i16, "i2"},
                                               {DType::i32, "i4"},
                                               {DType::i64, "i8"},
                                               {DType::f16, "f2"},
                                               {DType::f32, "f4"},
                                               {DType::f64, "f8"},
                                               {DType::complex64, "c8"}}};
constexpr const char* readable_types =
    "Save it as one of bool, u1, i1, i2, i4, i8, f2, f4, f8 or c8: numpy.save(file, "
    "array.astype('f4')).";

char code_of(std::endian byte_order) noexcept {
  return byte_order == std::endian::little ? '<' : '>';
}

/// The size of the field that states the text's length.
std::size_t length_nbytes_of(std::size_t version) noexcept {
  return version == 1 ? 2 : 4;
}

/// The text that describes the data, and the offset in the file at which this text ends.
struct Description {
  std::string_view text;
  std::size_t end;
};

Description description_in(std::span<const std::byte> bytes, const char* source) {
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!all.starts_with(magic) || all.size() < magic.size() + 2) {
    refuse_npy(source, format_text("it does not begin with \\x93NUMPY and a version"),
               "Is it a .npy file, and all of it?");
  }
  const auto number_at = [&](std::size_t at) { return static_cast<std::size_t>(bytes[at]); };
  const std::size_t major = number_at(6);
  const std::size_t minor = number_at(7);
  if (major < 1 || major > 3 || minor != 0) {
    refuse_npy(source, format_text("its version is %zu.%zu", major, minor),
               "Save it as version 1.0, 2.0 or 3.0: numpy.lib.format.write_array has an argument "
               "for that.");
  }
  const auto cut_short = [&] {
    refuse_npy(source, format_text("its %zu bytes end within the header", all.size()),
               "Was it cut short? Save it again.");
  };
  const std::size_t begin = magic.size() + 2 + length_nbytes_of(major);
  if (all.size() < begin) {
    cut_short();
  }
  const auto length =
      static_cast<std::size_t>(detail::read_little_endian(bytes.subspan(8, begin - 8)));
  if (length > npy_header_max_nbytes - begin) {
    refuse_npy(source,
               format_text("its header has %zu bytes, more than a plain array needs", length),
               readable_types);
  }
  if (length > all.size() - begin) {
    cut_short();
  }
  return {all.substr(begin, length), begin + length};
}

void read_type(detail::PythonLiteral& literal, NpyHeader& header) {
  if (literal.at('[')) {
    literal.refuse("its dtype is structured", readable_types);
  }
  const std::string_view descr = literal.string();
  const bool has_order = !descr.empty() && std::string_view("<>=|").find(descr[0]) != descr.npos;
  const std::string_view code = descr.substr(has_order ? 1 : 0);
  const auto* const found = std::ranges::find(type_codes, code, &TypeCode::code);
  if (found == type_codes.end()) {
    literal.refuse_value("its dtype is", descr, readable_types);
  }
  header.dtype = found->dtype;
  if (itemsize(header.dtype) > 1 && (descr[0] == '<' || descr[0] == '>')) {
    header.byte_order = descr[0] == '<' ? std::endian::little : std::endian::big;
  }
}

/// Reads the three entries, in any order. Rejects repeated entries.
void read_entries(detail::PythonLiteral& literal, NpyHeader& header) {
  constexpr std::array<std::string_view, 3> keys{"descr", "fortran_order", "shape"};
  std::array<bool, 3> is_read{};
  literal.expect('{');
  while (!literal.take('}')) {
    const std::string_view key = literal.string();
    const auto number = static_cast<std::size_t>(std::ranges::find(keys, key) - keys.begin());
    if (number == keys.size() || is_read[number]) {
      literal.refuse_value("its header has the unknown or repeated key", key,
                           "The keys are descr, fortran_order and shape, each once.");
    }
    is_read[number] = true;
    literal.expect(':');
    if (number == 0) {
      read_type(literal, header);
    } else if (number == 1) {
      header.fortran_order = literal.boolean();
    } else {
      header.sizes = literal.integers(max_ndim);
    }
    if (!literal.take(',')) {
      literal.expect('}');
      break;
    }
  }
  literal.expect_end();
  if (const auto missing = std::ranges::find(is_read, false); missing != is_read.end()) {
    literal.refuse_value("its header lacks the key",
                         keys[static_cast<std::size_t>(missing - is_read.begin())],
                         "The keys are descr, fortran_order and shape, each once.");
  }
}

}  // namespace

NpyHeader parse_npy_header(std::span<const std::byte> bytes, const char* source) try {
  const Description description = description_in(bytes, source);
  detail::PythonLiteral literal(description.text, source);
  NpyHeader header;
  header.data_offset = description.end;
  read_entries(literal, header);
  try {
    const std::int64_t numel = detail::element_count(header.sizes, "shape");
    header.data_nbytes = detail::byte_count(numel, itemsize(header.dtype), "shape");
  } catch (const ShapeError& error) {
    refuse_npy(source, detail::without_full_stop(error.what()),
               "The header is wrong: save it again.");
  }
  return header;
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("parse_npy_header");
}

std::string npy_header(DType dtype, const Dims& sizes, bool fortran_order,
                       const NpyFormat& format) try {
  const auto* const type = std::ranges::find(type_codes, dtype, &TypeCode::dtype);
  if (type == type_codes.end()) {
    throw DTypeError(
        format_text("cannot save elements of %s in a .npy file: the format has no code for them. "
                    "Convert them, for example to f32.",
                    name_of(dtype)));
  }
  detail::expect_ndim(sizes.size(), "npy_header");
  if (format.version < 1 || format.version > 3) {
    throw InvalidArgument(format_text(
        "cannot write a .npy file of version %u. Pass version 1, 2 or 3.", format.version));
  }
  std::string text = "{'descr': '";
  text += byre::itemsize(dtype) == 1 ? '|' : code_of(format.byte_order);
  text += type->code;
  text += std::string("', 'fortran_order': ") + (fortran_order ? "True" : "False");
  const std::string list = to_string(sizes);  // "[2, 3]"
  text += ", 'shape': (" + list.substr(1, list.size() - 2) + (sizes.size() == 1 ? ",), }" : "), }");
  const std::size_t length_nbytes = length_nbytes_of(format.version);
  const std::size_t nbytes = magic.size() + 2 + length_nbytes + text.size() + 1;
  text.append(detail::padding_after(nbytes), ' ').push_back('\n');
  return std::string(magic) + static_cast<char>(format.version) + '\0' +
         detail::little_endian(text.size(), length_nbytes) + text;
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("npy_header");
}
}  // namespace byre::inline BYRE_ABI
