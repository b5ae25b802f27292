// SPDX-License-Identifier: BSL-1.0
#include <byre/interop/detail/tensor_data.hpp>
#include <byre/interop/tensor_transfer.hpp>
#include <byre/ipc/detail/transfers.hpp>
#include <byre/tensor/elements.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>

namespace byre::inline BYRE_ABI {
namespace {

using detail::DataKind;
using detail::Transfers;

struct TensorInMessage {
  std::uint32_t dtype = 0;
  std::uint32_t ndim = 0;
  std::int64_t offset = 0;
  std::array<std::int64_t, 2 * max_ndim> sizes_and_strides{};
};
static_assert(sizeof(TensorInMessage) <= sizeof(detail::TransferMessage::details));

/// Whether the storage of a tensor has so many other bytes that the elements are sent alone.
bool is_small_part(const Tensor& tensor) {
  return tensor.nbytes() < tensor.storage().nbytes() / 2;
}

/// Copies the elements of a tensor in row-major order.
void copy_elements(const void* tensor, std::byte* destination) {
  const Tensor& from = *static_cast<const Tensor*>(tensor);
  Storage to(Buffer::adopt(destination, from.nbytes(), [](void*) {}));
  copy_(Tensor::over(std::move(to), from.sizes(), from.dtype()), from);
}

Tensor tensor_of(const detail::Imported& imported) try {
  TensorInMessage layout;
  std::memcpy(&layout, imported.message.details.data(), sizeof layout);
  if (layout.ndim > max_ndim || layout.dtype >= static_cast<std::uint32_t>(DType::uninitialized)) {
    const Text why = format_text("the dtype %u or the %u dimensions of a tensor are invalid",
                                 layout.dtype, layout.ndim);
    detail::throw_invalid(why.chars.data());
  }
  const auto dims = [&](std::size_t begin) {
    const std::span all(layout.sizes_and_strides);
    const auto part = all.subspan(begin, layout.ndim);
    return Dims(part.begin(), part.end());
  };
  const auto dtype = static_cast<DType>(layout.dtype);
  const Storage storage(imported.buffer);
  const auto count = static_cast<std::int64_t>(storage.nbytes() / itemsize(dtype));
  return Tensor::over(storage, {count}, dtype).as_strided(dims(0), dims(max_ndim), layout.offset);
} catch (const ShapeError&) {
  detail::throw_invalid("the layout of a tensor does not fit its bytes");
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("importing a tensor");
}

}  // namespace

ExportedPages export_pages(const Tensor& tensor, CallSite site) {
  detail::expect_initialized(tensor, "export_pages");
  const bool is_part = is_small_part(tensor);
  const Layout layout =
      is_part ? contiguous_layout(tensor.sizes(), "export_pages") : Layout(tensor.layout());
  TensorInMessage packed{.dtype = static_cast<std::uint32_t>(tensor.dtype()),
                         .ndim = static_cast<std::uint32_t>(layout.ndim()),
                         .offset = layout.offset};
  std::copy(layout.sizes.begin(), layout.sizes.end(), packed.sizes_and_strides.begin());
  std::copy(layout.strides.begin(), layout.strides.end(),
            packed.sizes_and_strides.begin() + max_ndim);
  const auto details = std::as_bytes(std::span(&packed, 1));
  if (!is_part) {
    return Transfers::export_storage(tensor.storage(), DataKind::tensor, details, site);
  }
  const std::size_t nbytes = tensor.nbytes();
  return Transfers::export_copy(DataKind::tensor, details, tensor.storage().allocator(), nbytes,
                                nbytes, &copy_elements, &tensor, site);
}

void send(int socket, const Tensor& tensor, CallSite site) {
  send(socket, export_pages(tensor, site));
}

template <>
Tensor import_pages<Tensor>(std::span<const std::byte> message, std::span<const int> descriptors,
                            Accept accept) {
  return tensor_of(Transfers::import(message, descriptors, DataKind::tensor, accept));
}

template <>
Tensor receive<Tensor>(int socket, Accept accept) {
  return tensor_of(Transfers::receive(socket, DataKind::tensor, accept));
}

}  // namespace byre::inline BYRE_ABI
