// SPDX-License-Identifier: BSL-1.0
#include <byre/files/detail/input_file.hpp>
#include <byre/files/output_file.hpp>
#include <byre/interop/detail/npy_array.hpp>
#include <byre/interop/detail/npy_error.hpp>
#include <byre/interop/detail/tensor_data.hpp>
#include <byre/interop/npy.hpp>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

namespace byre::inline v0 {

Tensor load_npy(FileName name) try {
  detail::InputFile file(name.c_str());
  std::vector<std::byte> start(std::min(file.nbytes(), npy_header_max_nbytes));
  file.read(start.data(), start.size());
  const NpyHeader header = detail::npy_header_of(start, file.nbytes(), name.c_str());
  file.seek(header.data_offset);
  return detail::npy_tensor(header, name.c_str(),
                            [&](void* data, std::size_t nbytes) { file.read(data, nbytes); });
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("load_npy");
}

Tensor read_npy(std::span<const std::byte> bytes) try {
  constexpr const char* source = "memory";
  const NpyHeader header = detail::npy_header_of(bytes, bytes.size(), source);
  return detail::npy_tensor(header, source, [&](void* data, std::size_t nbytes) {
    std::memcpy(data, bytes.data() + header.data_offset, nbytes);
  });
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("read_npy");
}

Tensor map_npy(FileName name) try {
  Storage storage = Storage::map_file(name);
  const std::span bytes(std::as_const(storage).data(), storage.nbytes());
  const NpyHeader header = detail::npy_header_of(bytes, bytes.size(), name.c_str());
  switch (detail::place_of_npy(header, header.data_offset)) {
    case detail::NpyPlace::of_other_byte_order:
      detail::refuse_npy(name.c_str(), format_text("its numbers are in the other byte order"),
                         "They cannot be used where they are; load_npy reads and converts them.");
    case detail::NpyPlace::misaligned:
      detail::refuse_npy(
          name.c_str(),
          format_text("its elements of %zu bytes begin at byte %zu, which is no multiple of that",
                      itemsize(header.dtype), header.data_offset),
          "They cannot be used where they are; load_npy reads them into aligned memory.");
    case detail::NpyPlace::usable:
      break;
  }
  return detail::npy_in_place(header, name.c_str(), std::move(storage), header.data_offset);
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("map_npy");
}

void save_npy(FileName name, const Tensor& tensor, const NpyFormat& format, CallSite site) try {
  detail::expect_initialized(tensor, "save_npy");
  const detail::NpyFile parts = detail::npy_file_of(tensor, format);
  const Tensor data = detail::npy_data_of(tensor, parts, format, site);
  OutputFile file(name);
  file.write(parts.header.data(), parts.header.size());
  if (data.nbytes() != 0) {
    file.write(data.raw_data(site), data.nbytes());
  }
  file.commit();
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("save_npy");
}

}  // namespace byre::inline v0
