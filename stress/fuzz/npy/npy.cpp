// SPDX-License-Identifier: BSL-1.0
/// .npy files: what is written is read back, mapped back and found in the header; any other bytes are
/// refused by a FileError or are an array that is written and read back itself.
#include <byre/interop/npy.hpp>
#include <byre/interop/npy_header.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "../target.hpp"
#include "support/temporary_folder.hpp"

namespace byre::fuzz {
namespace {

constexpr std::array dtypes{DType::boolean, DType::u8,  DType::i8,       DType::i16,
                            DType::i32,     DType::i64, DType::f16,      DType::bf16,
                            DType::f32,     DType::f64, DType::complex64};

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string described(const Tensor& tensor) {
  return to_string(tensor.sizes()) + " of " + name_of(tensor.dtype());
}

void expect_same(const Tensor& found, const Tensor& wanted, const char* how) {
  const Tensor left = found.contiguous();
  const Tensor right = wanted.contiguous();
  if (left.dtype() != right.dtype() || left.sizes() != right.sizes()) {
    fail("%s was written and %s is %s", described(right).c_str(), described(left).c_str(), how);
  }
  if (right.nbytes() != 0 && std::memcmp(left.raw_data(), right.raw_data(), right.nbytes()) != 0) {
    fail("the elements of %s that are %s are not those written", described(right).c_str(), how);
  }
}

void write_and_read(const Tensor& tensor) {
  static const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "array.npy";
  save_npy(path, tensor);
  expect_same(load_npy(path), tensor, "read");
  expect_same(map_npy(path), tensor, "mapped");
  const std::string bytes = test::read_file(path);
  expect_same(read_npy(bytes_of(bytes)), tensor, "read from memory");
}

/// Sizes are refused whose product does not fit, sizes of 0 left out as strides are made of the others.
/// The bytes have to fit too, unless there are none.
bool fits_in_memory(const Dims& sizes, DType dtype) {
  std::int64_t count = 1;
  bool is_empty = false;
  for (const std::int64_t size : sizes) {
    is_empty |= size == 0;
    if (size != 0 && __builtin_mul_overflow(count, size, &count)) {
      return false;
    }
  }
  const auto itemsize = static_cast<std::int64_t>(byre::itemsize(dtype));
  const auto most = static_cast<std::int64_t>(max_nbytes);
  return count <= most && (is_empty || count <= most / itemsize);
}

/// The header alone, as most shapes have more data than there is memory.
void write_a_header(Choices input) {
  const DType dtype = dtypes[input.below(dtypes.size())];
  const bool fortran_order = input.below(2) != 0;
  Dims sizes(input.below(8));
  for (std::int64_t& size : sizes) {
    const std::size_t zeros = 1 + input.below(63);
    size = static_cast<std::int64_t>(input.number(8) >> zeros);
  }
  trace("the header of %s of %s", to_string(sizes).c_str(), name_of(dtype));
  try {
    const std::string header = npy_header(dtype, sizes, fortran_order);
    const NpyHeader found = parse_npy_header(bytes_of(header));
    if (dtype == DType::bf16 || !fits_in_memory(sizes, dtype) || header.size() % 64 != 0 ||
        found.dtype != dtype || found.byte_order != std::endian::native || found.sizes != sizes ||
        found.fortran_order != fortran_order || found.data_offset != header.size()) {
      fail("the header of %s of %s is not what is read: %s", to_string(sizes).c_str(),
           name_of(dtype), header.c_str());
    }
  } catch (const DTypeError&) {
    if (dtype != DType::bf16) {
      throw;
    }
  } catch (const FileError&) {
    if (fits_in_memory(sizes, dtype)) {
      throw;
    }
  }
}

/// A whole file, of a small tensor in C order, in Fortran order or in neither.
void write_a_tensor(Choices input) {
  const DType dtype = dtypes[input.below(dtypes.size())];
  if (dtype == DType::bf16) {
    return;
  }
  const std::size_t order = input.below(3);
  Dims sizes(input.below(5));
  for (std::int64_t& size : sizes) {
    size = static_cast<std::int64_t>(input.below(6));
  }
  Tensor tensor = Tensor::zeros(sizes, dtype);
  if (tensor.nbytes() != 0) {
    auto* const bytes = static_cast<std::uint8_t*>(tensor.mutable_raw_data());
    for (std::size_t at = 0; at < tensor.nbytes(); ++at) {
      bytes[at] = dtype == DType::boolean ? input.byte() % 2 : input.byte();
    }
  }
  if (order != 0 && tensor.ndim() > 1) {
    tensor = order == 1 && tensor.ndim() == 2 ? tensor.t() : tensor.transpose(0, 1);
  }
  trace("%s, strides %s", described(tensor).c_str(), to_string(tensor.strides()).c_str());
  write_and_read(tensor);
}

void read_anything(std::string_view file) {
  try {
    const Tensor tensor = read_npy(bytes_of(file));
    trace("%s", described(tensor).c_str());
    write_and_read(tensor);
  } catch (const FileError& refusal) {
    trace("%s", refusal.what());
  }
}

/// A file with the right length in front of the description, and as many zeros behind as it asks for: only
/// the description matters.
void read_a_description(Choices input) {
  const auto major = static_cast<char>(1 + input.below(3));
  const std::string_view text = input.rest();
  std::string file = std::string("\x93NUMPY") + major + '\0';
  for (int byte = 0; byte < (major == 1 ? 2 : 4); ++byte) {
    file.push_back(static_cast<char>(text.size() >> (8 * byte)));
  }
  file += text;
  try {
    constexpr std::size_t most = 1 << 16;
    const std::size_t wanted = parse_npy_header(bytes_of(file)).data_nbytes;
    trace("%zu bytes are asked for", wanted);
    file.append(wanted < most ? wanted : 0, '\0');
  } catch (const FileError&) {
    // read_npy says the same.
  }
  read_anything(file);
}

}  // namespace

const char* const target_name = "npy";

}  // namespace byre::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t nbytes) {
  using namespace byre::fuzz;
  Choices input(bytes, nbytes);
  try {
    switch (input.below(4)) {
      case 0:
        write_a_header(input);
        break;
      case 1:
        write_a_tensor(input);
        break;
      case 2:
        read_anything(input.rest());
        break;
      default:
        read_a_description(input);
    }
  } catch (const std::exception& error) {
    fail("an error that nothing calls for: %s", error.what());
  }
  return 0;
}
