// SPDX-License-Identifier: BSL-1.0
#include <byre/interop/detail/npy_error.hpp>
#include <byre/interop/detail/tensor_data.hpp>
#include <byre/interop/npy.hpp>
#include <byre/storage/detail/input_file.hpp>
#include <byre/storage/output_file.hpp>
#include <byre/tensor/detail/operands.hpp>

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace byre::inline v0 {
namespace {

using detail::refuse_npy;

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

/// The header at the start of a file of `file_nbytes`, whose data end where the file does.
NpyHeader header_of(std::span<const std::byte> start, std::size_t file_nbytes, const char* source) {
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

/// Any other byte would not be a bool that C++ can read.
void expect_bools(const NpyHeader& header, const void* data, const char* source) {
  const std::span bytes(static_cast<const std::byte*>(data), header.data_nbytes);
  if (const std::optional<Text> odd = detail::odd_bool_in(bytes, header.dtype)) {
    refuse_npy(source, *odd, "A bool is 0 or 1: save array != 0.");
  }
}

/// A tensor whose data `fill(destination, nbytes)` brings.
template <class Fill>
Tensor filled(const NpyHeader& header, const char* source, const Fill& fill) {
  Tensor stored = Tensor::empty(sizes_as_stored(header), header.dtype);
  if (header.data_nbytes != 0) {
    auto* const data =
        static_cast<std::byte*>(detail::ElementAccess::to_write(stored, CallSite::current()));
    fill(data, header.data_nbytes);
    expect_bools(header, data, source);
    if (header.byte_order != std::endian::native) {
      detail::swap_bytes(data, header.data_nbytes, header.dtype);
    }
  }
  return in_order(header, stored);
}

}  // namespace

Tensor load_npy(FileName name) try {
  detail::InputFile file(name.c_str());
  std::vector<std::byte> start(std::min(file.nbytes(), npy_header_max_nbytes));
  file.read(start.data(), start.size());
  const NpyHeader header = header_of(start, file.nbytes(), name.c_str());
  file.seek(header.data_offset);
  return filled(header, name.c_str(),
                [&](void* data, std::size_t nbytes) { file.read(data, nbytes); });
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("load_npy");
}

Tensor read_npy(std::span<const std::byte> bytes) try {
  constexpr const char* source = "memory";
  const NpyHeader header = header_of(bytes, bytes.size(), source);
  return filled(header, source, [&](void* data, std::size_t nbytes) {
    std::memcpy(data, bytes.data() + header.data_offset, nbytes);
  });
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("read_npy");
}

Tensor map_npy(FileName name) try {
  Storage storage = Storage::map_file(name);
  const std::span bytes(std::as_const(storage).data(), storage.nbytes());
  const NpyHeader header = header_of(bytes, bytes.size(), name.c_str());
  const std::size_t itemsize = byre::itemsize(header.dtype);
  if (header.byte_order != std::endian::native) {
    refuse_npy(name.c_str(), format_text("its numbers are in the other byte order"),
               "They cannot be used where they are; load_npy reads and converts them.");
  }
  if (header.data_offset % itemsize != 0) {
    refuse_npy(name.c_str(),
               format_text("its elements of %zu bytes begin at byte %zu, which is no multiple of "
                           "that",
                           itemsize, header.data_offset),
               "They cannot be used where they are; load_npy reads them into aligned memory.");
  }
  if (header.data_nbytes == 0) {
    return in_order(header, Tensor::empty(sizes_as_stored(header), header.dtype));
  }
  expect_bools(header, bytes.data() + header.data_offset, name.c_str());
  const Layout layout = contiguous_layout(sizes_as_stored(header), "map_npy");
  const Tensor file = Tensor::over(std::move(storage), {0}, header.dtype);
  return in_order(header,
                  file.as_strided(layout.sizes, layout.strides,
                                  static_cast<std::int64_t>(header.data_offset / itemsize)));
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("map_npy");
}

void save_npy(FileName name, const Tensor& tensor, const NpyFormat& format, CallSite site) try {
  detail::expect_initialized(tensor, "save_npy");
  const bool fortran_order = !tensor.is_contiguous() && reversed(tensor).is_contiguous();
  const std::string header = npy_header(tensor.dtype(), tensor.sizes(), fortran_order, format);
  Tensor data = detail::dense_on_host(fortran_order ? reversed(tensor) : tensor, site);
  if (format.byte_order != std::endian::native && data.nbytes() != 0) {
    data = data.clone(site);
    detail::swap_bytes(static_cast<std::byte*>(detail::ElementAccess::to_write(data, site)),
                       data.nbytes(), data.dtype());
  }
  OutputFile file(name);
  file.write(header.data(), header.size());
  if (data.nbytes() != 0) {
    file.write(data.raw_data(site), data.nbytes());
  }
  file.commit();
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("save_npy");
}

}  // namespace byre::inline v0
