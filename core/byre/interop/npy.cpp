// SPDX-License-Identifier: BSL-1.0
#include <byre/files/detail/input_file.hpp>
#include <byre/interop/detail/format.hpp>
#include <byre/interop/detail/npy_array.hpp>
#include <byre/interop/npy.hpp>

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

namespace byre::inline BYRE_ABI {

Tensor load_npy(FileName name) try {
  detail::InputFile file(name.c_str());
  std::vector<std::byte> start(std::min(file.nbytes(), npy_header_max_nbytes));
  file.read(start.data(), start.size());
  return detail::loaded_npy(start, file.nbytes(), name.c_str(),
                            [&](std::byte* rest, std::size_t nbytes) { file.read(rest, nbytes); });
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("load_npy");
}

Tensor read_npy(std::span<const std::byte> bytes) try {
  return detail::loaded_npy(bytes, bytes.size(), "memory", {});
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("read_npy");
}

Tensor map_npy(FileName name) try {
  Storage file = Storage::map_file(name);
  const std::span bytes(std::as_const(file).data(), file.nbytes());
  const NpyHeader header = detail::npy_header_of(bytes, bytes.size(), name.c_str());
  const detail::StoredElements elements = detail::elements_of(header, name.c_str());
  if (elements.nbytes == 0) {
    return detail::in_array_order(header, loaded(elements, {}));
  }
  if (!are_usable(elements, header.data_offset)) {
    detail::refuse_npy(name.c_str(),
                       header.byte_order != std::endian::native
                           ? format_text("its byte order is not this machine's")
                           : format_text("its elements of %zu bytes begin at byte %zu, required is "
                                         "a multiple of their size",
                                         itemsize(header.dtype), header.data_offset),
                       "Call load_npy, which reads and converts them.");
  }
  return detail::in_array_order(header, mapped(elements, std::move(file), header.data_offset));
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("map_npy");
}

void save_npy(FileName name, const Tensor& tensor, const NpyFormat& format, CallSite site) try {
  detail::expect_initialized(tensor, "save_npy");
  const detail::NpyEncoding parts = detail::npy_encoding_of(tensor, format);
  const Tensor data = detail::elements_to_save(tensor, parts, format, site);
  OutputFile file(name);
  file.write(parts.header.data(), parts.header.size());
  detail::write_elements(file, data, site);
  file.commit();
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("save_npy");
}

}  // namespace byre::inline BYRE_ABI
