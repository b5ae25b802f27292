// SPDX-License-Identifier: BSL-1.0
/// The fuzz target of .npy files. Written arrays must be read back, mapped back and described by
/// their header. Any other bytes must be rejected with a FileError, or be an array that can be
/// written and read back.
#include <byre/interop/npy.hpp>
#include <byre/interop/npy_header.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "../files.hpp"

namespace byre::fuzz {
namespace {

constexpr std::array dtypes{DType::boolean, DType::u8,  DType::i8,       DType::i16,
                            DType::i32,     DType::i64, DType::f16,      DType::bf16,
                            DType::f32,     DType::f64, DType::complex64};

constexpr Format format{
    .save = [](const auto& path, const Contents& file) { save_npy(path, file.tensors[0].second); },
    .load =
        [](const auto& path) {
          return Contents{{{"array", load_npy(path)}}, {}};
        },
    .map =
        [](const auto& path) {
          return Contents{{{"array", map_npy(path)}}, {}};
        },
    .read =
        [](auto bytes) {
          return Contents{{{"array", read_npy(bytes)}}, {}};
        },
    .refuses_to_map = "Call load_npy, which reads and converts them"};

/// Whether a file of these sizes may be read. The product of all sizes but 0 must fit in 64 bits,
/// because strides are computed from it; the number of bytes must fit, too, unless there are no
/// elements.
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

/// Writes and reads headers only: most shapes need more data than there is memory.
void write_header(Choices input) {
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
      fail("the header of %s of %s reads differently: %s", to_string(sizes).c_str(), name_of(dtype),
           header.c_str());
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

/// Writes and reads a file of a small tensor in C order, in Fortran order, or in another order.
void write_tensor(Choices input) {
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
  fill(tensor, [&] { return input.byte(); });
  if (order != 0 && tensor.ndim() > 1) {
    tensor = order == 1 && tensor.ndim() == 2 ? tensor.t() : tensor.transpose(0, 1);
  }
  trace("%s, strides %s", described("array", tensor).c_str(), to_string(tensor.strides()).c_str());
  save_and_read(format, {{{"array", tensor}}, {}});
}

/// Reads a file with a correct length field, any description, and as many zero bytes as the
/// description requires. Therefore only the description can be wrong.
void read_description(Choices input) {
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
    trace("%zu bytes are required", wanted);
    file.append(wanted < most ? wanted : 0, '\0');
  } catch (const FileError&) {
    // read_anything() below checks that all ways of reading report this error.
  }
  read_anything(format, file);
}

void read_file(Choices input) {
  read_anything(format, std::string(input.rest()));
}

}  // namespace

const char* const target_name = "npy";

}  // namespace byre::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t nbytes) {
  using namespace byre::fuzz;
  return run_one_of({write_header, write_tensor, read_file, read_description}, bytes, nbytes);
}
