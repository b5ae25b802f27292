// SPDX-License-Identifier: BSL-1.0
/// Creation of tensors and of views.
#include <byre/memory/detail/malloc.hpp>
#include <byre/memory/detail/thread_cache.hpp>
#include <byre/tensor/detail/operands.hpp>
#include <byre/tensor/detail/tensor_write.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace byre::inline BYRE_ABI {

namespace {

/// Precedes a TensorBase in its block of memory and stores the address to free.
struct alignas(std::max_align_t) BlockHeader {
  void* base;
};

constexpr std::size_t block_nbytes =
    detail::ThreadCache::nbytes_for({.nbytes = sizeof(BlockHeader) + sizeof(TensorBase)});

}  // namespace

void* TensorBase::operator new(std::size_t) noexcept {
  Block block = detail::take_from_thread_cache({.nbytes = block_nbytes});
  if (block.data == nullptr) [[unlikely]] {
    block = detail::try_malloc({.nbytes = block_nbytes});
    if (block.data == nullptr) {
      return nullptr;
    }
  }
  auto* const first = static_cast<std::byte*>(block.data);
  ::new (first) BlockHeader{block.base};
  return first + sizeof(BlockHeader);
}

void TensorBase::operator delete(void* place) noexcept {
  std::byte* const first = static_cast<std::byte*>(place) - sizeof(BlockHeader);
  void* const base = reinterpret_cast<const BlockHeader*>(first)->base;
  if (!detail::put_in_thread_cache(base, first, block_nbytes)) {
    std::free(base);
  }
}

Tensor Tensor::make(Storage storage, Layout&& layout, DType dtype, Device device,
                    Allocator* next_memory, shadow::ShadowHandle family) {
  return owned(new TensorBase(std::move(storage), std::move(layout), dtype, device, next_memory,
                              std::move(family)));
}

void Tensor::throw_out_of_memory() {
  throw OutOfMemory(sizeof(TensorBase), "heap, for a tensor");
}

Tensor::Tensor(Device device) {
  static_cast<void>(support_of(device));
  *this = make(Storage(), contiguous_layout({0}, "Tensor"), DType::uninitialized, device);
}

Tensor Tensor::empty(const Dims& sizes, DType dtype, Device device) {
  return empty(sizes, dtype, support_of(device).allocator());
}

Tensor Tensor::empty(const Dims& sizes, DType dtype, Allocator& allocator) {
  detail::expect_dtype_named(dtype, "empty");
  Layout layout = contiguous_layout(sizes, "empty");
  const std::size_t nbytes = detail::byte_count(layout.numel(), byre::itemsize(dtype), "empty");
  return make(detail::allocate_elements(nbytes, dtype, allocator), std::move(layout), dtype,
              allocator.device());
}

Tensor Tensor::zeros(const Dims& sizes, DType dtype, Device device) {
  const Tensor on_host = empty(sizes, dtype);
  if (on_host.nbytes() != 0) {
    Storage storage = on_host.storage();
    std::memset(storage.mutable_data(), 0, on_host.nbytes());
  }
  return device.is_cpu() ? on_host : on_host.to(device);
}

Tensor Tensor::copy_of(const Dims& sizes, const void* values, std::size_t count, DType dtype) {
  Tensor tensor = empty(sizes, dtype);
  if (count != static_cast<std::size_t>(tensor.numel())) {
    throw ShapeError(
        format_text("Tensor::of: %zu values for %lld elements of sizes %s. Pass one value for each "
                    "element.",
                    count, static_cast<long long>(tensor.numel()), to_string(sizes).c_str()));
  }
  if (count != 0) {
    std::memcpy(detail::TensorWrite::materialize_all(tensor, CallSite::current()), values,
                tensor.nbytes());
  }
  return tensor;
}

Tensor Tensor::over(Storage storage, const Dims& sizes, DType dtype) {
  detail::expect_dtype_named(dtype, "Tensor::over");
  Layout layout = contiguous_layout(sizes, "Tensor::over");
  const std::size_t needed =
      detail::byte_count(layout.numel(), byre::itemsize(dtype), "Tensor::over");
  if (needed > storage.nbytes()) {
    throw ShapeError(
        format_text("Tensor::over: sizes %s of %s need %zu bytes, the storage has %zu. Pass a "
                    "larger storage.",
                    to_string(sizes).c_str(), name_of(dtype), needed, storage.nbytes()));
  }
  const Device device = storage.allocator().device();
  const std::byte* const first = std::as_const(storage).data();
  detail::expect_aligned(first, dtype, device, "Tensor::over");
  detail::expect_bools(first, needed, dtype, device, "Tensor::over");
  return make(std::move(storage), std::move(layout), dtype, device);
}

std::int64_t Tensor::size(std::int64_t axis) const {
  return sizes()[views::detail::existing_axis(layout(), axis, "size")];
}

Tensor Tensor::with_layout(Layout&& layout, const char* operation) const {
  return with_layout(std::move(layout), dtype(), operation);
}

Tensor Tensor::with_layout(Layout&& layout, DType dtype, const char* operation) const {
  expect_initialized(operation);
  detail::byte_count(layout.numel(), byre::itemsize(dtype),
                     operation);  // throws if repeated elements exceed the limit
  return make(storage(), std::move(layout), dtype, device(), base().allocator, base().shadow);
}

std::vector<Tensor> Tensor::with_layouts(std::vector<Layout> layouts, const char* operation) const {
  std::vector<Tensor> parts;
  try {
    parts.reserve(layouts.size());
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(layouts.size() * sizeof(Tensor), "heap, for the parts of a tensor");
  }
  for (Layout& layout : layouts) {
    parts.push_back(with_layout(std::move(layout), operation));
  }
  return parts;
}

Tensor Tensor::view(DType dtype) const {
  expect_initialized("view");
  expect_dtype(this->dtype(), "view");
  detail::expect_dtype_named(dtype, "view");
  if (dtype == DType::boolean && this->dtype() != dtype) {
    throw DTypeError(format_text(
        "view: cannot view %s as bool: only the bytes 0 and 1 are bools. Convert by copy_() to a "
        "tensor of bool: all but 0 become true.",
        name_of(this->dtype())));
  }
  detail::expect_aligned(storage().data(), dtype, device(), "view");
  return with_layout(views::with_itemsize(layout(), itemsize(), byre::itemsize(dtype)), dtype,
                     "view");
}

Tensor Tensor::as_strided(const Dims& sizes, const Dims& strides, std::int64_t offset) const {
  expect_initialized("as_strided");
  const std::size_t present = itemsize() == 0 ? 0 : storage().nbytes() / itemsize();
  return with_layout(views::as_strided(sizes, strides, offset, static_cast<std::int64_t>(present)),
                     "as_strided");
}

Tensor Tensor::view_as_real() const {
  expect_dtype(DType::complex64, "view_as_real");
  return with_layout(views::as_real(layout()), DType::f32, "view_as_real");
}

Tensor Tensor::view_as_complex() const {
  expect_dtype(DType::f32, "view_as_complex");
  return with_layout(views::as_complex(layout()), DType::complex64, "view_as_complex");
}

}  // namespace byre::inline BYRE_ABI
