// SPDX-License-Identifier: BSL-1.0
#include <byre/interop/detail/format.hpp>
#include <byre/interop/detail/npy_array.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace byre::inline BYRE_ABI::detail {
namespace {

/// Reverses the dimensions: reads C order as Fortran order, and back.
Tensor reversed(const Tensor& tensor) {
  Dims axes(tensor.ndim());
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  std::ranges::reverse(axes);
  return tensor.permute(axes);
}

}  // namespace

NpyHeader npy_header_of(std::span<const std::byte> start, std::size_t file_nbytes,
                        const char* source) {
  NpyHeader header = parse_npy_header(start, source);
  const std::size_t present = file_nbytes - header.data_offset;
  if (present != header.data_nbytes) {
    refuse_npy(source,
               format_text("sizes %.200s of %s take %zu bytes, but %zu follow the header",
                           to_string(header.sizes).c_str(), name_of(header.dtype),
                           header.data_nbytes, present),
               present < header.data_nbytes ? "Was it cut short? Save it again."
                                            : "Save one array per file, and nothing after it.");
  }
  return header;
}

Tensor loaded_npy(std::span<const std::byte> start, std::size_t file_nbytes, const char* source,
                  const std::function<void(std::byte*, std::size_t)>& read_rest) {
  const NpyHeader header = npy_header_of(start, file_nbytes, source);
  const auto data = start.subspan(header.data_offset);
  return in_array_order(header,
                        loaded(elements_of(header, source), [&](std::byte* to, std::size_t nbytes) {
                          std::memcpy(to, data.data(), data.size());
                          if (data.size() != nbytes) {
                            read_rest(to + data.size(), nbytes - data.size());
                          }
                        }));
}

StoredElements elements_of(const NpyHeader& header, const char* source) {
  StoredElements elements{header.sizes, header.dtype, header.byte_order, header.data_nbytes,
                          [source](const Text& found) {
                            refuse_npy(source, found, "A bool is 0 or 1: save array != 0.");
                          }};
  if (header.fortran_order) {
    std::ranges::reverse(elements.sizes);
  }
  return elements;
}

Tensor in_array_order(const NpyHeader& header, const Tensor& stored) {
  return header.fortran_order ? reversed(stored) : stored;
}

NpyEncoding npy_encoding_of(const Tensor& tensor, const NpyFormat& format) {
  const bool fortran_order = !tensor.is_contiguous() && reversed(tensor).is_contiguous();
  return {npy_header(tensor.dtype(), tensor.sizes(), fortran_order, format), fortran_order};
}

Tensor elements_to_save(const Tensor& tensor, const NpyEncoding& file, const NpyFormat& format,
                        CallSite site) {
  return to_write(file.fortran_order ? reversed(tensor) : tensor, format.byte_order, site);
}

}  // namespace byre::inline BYRE_ABI::detail
