// SPDX-License-Identifier: BSL-1.0
#include <byre/interop/detail/npy_array.hpp>
#include <byre/interop/detail/npy_error.hpp>
#include <byre/interop/detail/tensor_data.hpp>
#include <byre/tensor/detail/operands.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace byre::inline v0::detail {
namespace {

/// With the dimensions in the opposite order: C order read as Fortran order, and back.
Tensor reversed(const Tensor& tensor) {
  Dims axes(tensor.ndim());
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  std::ranges::reverse(axes);
  return tensor.permute(axes);
}

/// The sizes of the contiguous tensor that the data are.
Dims sizes_as_stored(const NpyHeader& header) {
  Dims sizes(header.sizes);
  if (header.fortran_order) {
    std::ranges::reverse(sizes);
  }
  return sizes;
}

Tensor in_order(const NpyHeader& header, const Tensor& stored) {
  return header.fortran_order ? reversed(stored) : stored;
}

/// Any other byte would not be a bool that C++ can read.
void expect_bools(const NpyHeader& header, const std::byte* data, const char* source) {
  if (const std::optional<Text> odd =
          odd_bool_in(std::span(data, header.data_nbytes), header.dtype)) {
    refuse_npy(source, *odd, "A bool is 0 or 1: save array != 0.");
  }
}

}  // namespace

NpyHeader npy_header_of(std::span<const std::byte> start, std::size_t file_nbytes,
                        const char* source) {
  NpyHeader header = parse_npy_header(start, source);
  const std::size_t present = file_nbytes - header.data_offset;
  if (present != header.data_nbytes) {
    refuse_npy(source,
               format_text("sizes %.200s of %s take %zu bytes, and %zu follow the header",
                           to_string(header.sizes).c_str(), name_of(header.dtype),
                           header.data_nbytes, present),
               present < header.data_nbytes ? "Was it cut short? Save it again."
                                            : "Save one array in a file, and nothing behind it.");
  }
  return header;
}

Tensor unfilled_npy(const NpyHeader& header) {
  return Tensor::empty(sizes_as_stored(header), header.dtype);
}

std::byte* npy_bytes(Tensor& unfilled) {
  return static_cast<std::byte*>(ElementAccess::to_write(unfilled, CallSite::current()));
}

Tensor filled_npy(const NpyHeader& header, const char* source, Tensor filled) {
  if (header.data_nbytes != 0) {
    std::byte* const data = npy_bytes(filled);
    expect_bools(header, data, source);
    if (header.byte_order != std::endian::native) {
      swap_bytes(data, header.data_nbytes, header.dtype);
    }
  }
  return in_order(header, filled);
}

NpyPlace place_of_npy(const NpyHeader& header, std::size_t data_offset) {
  if (header.byte_order != std::endian::native) {
    return NpyPlace::of_other_byte_order;
  }
  return data_offset % itemsize(header.dtype) == 0 ? NpyPlace::usable : NpyPlace::misaligned;
}

Tensor npy_in_place(const NpyHeader& header, const char* source, Storage file,
                    std::size_t data_offset) {
  if (header.data_nbytes == 0) {
    return in_order(header, unfilled_npy(header));
  }
  expect_bools(header, std::as_const(file).data() + data_offset, source);
  const Layout layout = contiguous_layout(sizes_as_stored(header), "map_npy");
  const Tensor elements = Tensor::over(std::move(file), {0}, header.dtype);
  return in_order(
      header, elements.as_strided(layout.sizes, layout.strides,
                                  static_cast<std::int64_t>(data_offset / itemsize(header.dtype))));
}

NpyFile npy_file_of(const Tensor& tensor, const NpyFormat& format) {
  const bool fortran_order = !tensor.is_contiguous() && reversed(tensor).is_contiguous();
  return {npy_header(tensor.dtype(), tensor.sizes(), fortran_order, format), fortran_order};
}

Tensor npy_data_of(const Tensor& tensor, const NpyFile& file, const NpyFormat& format,
                   CallSite site) {
  Tensor data = dense_on_host(file.fortran_order ? reversed(tensor) : tensor, site);
  if (format.byte_order != std::endian::native && data.nbytes() != 0) {
    data = data.clone(site);
    swap_bytes(static_cast<std::byte*>(ElementAccess::to_write(data, site)), data.nbytes(),
               data.dtype());
  }
  return data;
}

}  // namespace byre::inline v0::detail
