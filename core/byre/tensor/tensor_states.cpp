// SPDX-License-Identifier: BSL-1.0
/// The states of a tensor: what initializes it, what un-initializes it, and what is refused. The
/// table is docs/tensor-states.md.
#include <byre/tensor/tensor.hpp>

#include <algorithm>

namespace byre::inline v0 {
namespace {

std::string description(const Tensor& tensor) {
  return to_string(tensor.sizes()) + ' ' + name_of(tensor.dtype());
}

}  // namespace

void Tensor::expect_initialized(const char* operation) const {
  if (!is_storage_initialized()) {
    throw StateError(format_text(
        "%s: the tensor %s is storage-uninitialized: it has elements and no memory, and may not "
        "share that. Call realize(dtype) or mutable_data<T>() first.",
        operation, description(*this).c_str()));
  }
}

void Tensor::expect_unshared(const char* operation) const {
  if (const std::uint32_t views = storage().handle_count(); views > 1) {
    throw StateError(
        format_text("%s: the storage of the tensor %s is shared: it has %u views, which would lose "
                    "their memory. "
                    "Drop the others first, or do it to a clone().",
                    operation, description(*this).c_str(), static_cast<unsigned>(views)));
  }
}

void Tensor::expect_dtype(DType wanted, const char* operation) const {
  if (!is_dtype_initialized()) {
    throw StateError(format_text(
        "%s: the tensor %s is dtype-uninitialized. Call realize(dtype) or mutable_data<T>() first.",
        operation, to_string(sizes()).c_str()));
  }
  if (dtype() != wanted) {
    throw DTypeError(
        format_text("%s: the tensor %s is of %s, and %s was asked for. Convert it by "
                    "copy_, or ask for %s.",
                    operation, to_string(sizes()).c_str(), name_of(dtype()), name_of(wanted),
                    name_of(dtype())));
  }
}

Tensor& Tensor::resize(const Dims& wanted, OnShrink on_shrink) {
  TensorBase& self = base();
  Layout layout = contiguous_layout(wanted, "resize");
  const std::int64_t numel = layout.numel();
  const bool shrinks = numel < self.layout.numel();
  const std::size_t used = nbytes_in_front() + detail::byte_count(numel, itemsize(), "resize");
  const bool has_memory = bool(self.storage);
  const bool keeps_memory = has_memory && used <= self.storage.nbytes() &&
                            !(shrinks && on_shrink == OnShrink::free_memory);
  if (keeps_memory || (numel == 0 && !shrinks)) {
    layout.offset = self.layout.offset;
  } else {
    expect_unshared("resize");
    self.storage = Storage();
  }
  self.layout = std::move(layout);
  return *this;
}

Tensor& Tensor::realize(DType wanted) {
  TensorBase& self = base();
  if (wanted == DType::uninitialized) {
    detail::no_such_dtype("realize", wanted);
  }
  if (wanted == self.dtype && is_storage_initialized()) {
    return *this;
  }
  if (wanted != self.dtype) {
    expect_unshared("realize as another dtype");
  }
  Layout layout = contiguous_layout(self.layout.sizes, "realize");
  const std::size_t nbytes = detail::byte_count(layout.numel(), byre::itemsize(wanted), "realize");
  self.storage = Storage::allocate(nbytes, support_of(self.device).allocator());
  self.layout = std::move(layout);
  self.dtype = wanted;
  return *this;
}

Tensor& Tensor::free_memory() {
  expect_unshared("free_memory");
  Layout layout = contiguous_layout(sizes(), "free_memory");
  base().storage = Storage();
  base().layout = std::move(layout);
  return *this;
}

Tensor& Tensor::reserve(const Dims& wanted) {
  TensorBase& self = base();
  expect_dtype(self.dtype, "reserve");
  expect_unshared("reserve");
  const std::int64_t numel = detail::element_count(wanted, "reserve");
  const std::size_t nbytes = nbytes_in_front() + detail::byte_count(numel, itemsize(), "reserve");
  if (!self.storage) {
    const std::size_t own = detail::byte_count(this->numel(), itemsize(), "reserve");
    self.storage = Storage::allocate(std::max(nbytes, own), support_of(self.device).allocator());
  } else if (nbytes > self.storage.nbytes()) {
    self.storage.materialize();
    self.storage.resize(nbytes);
  }
  return *this;
}

Tensor& Tensor::extend(std::int64_t count, unsigned growth_percent) {
  expect_initialized("extend");
  expect_dtype(dtype(), "extend");
  expect_unshared("extend");
  if (ndim() == 0 || count < 0 || !is_contiguous()) {
    throw ShapeError(
        format_text("extend: %lld more along the first dimension of %s. There has to "
                    "be one, of a contiguous tensor, and 0 or more have to be added.",
                    static_cast<long long>(count), to_string(sizes()).c_str()));
  }
  Dims wanted(sizes());
  Dims reserved(sizes());
  std::int64_t growth = 0;
  if (__builtin_add_overflow(wanted[0], count, &wanted[0]) ||
      __builtin_mul_overflow(wanted[0], growth_percent, &growth) ||
      __builtin_add_overflow(wanted[0], growth / 100, &reserved[0])) {
    throw ShapeError(
        format_text("extend: %lld more along the first dimension of %s, and %u percent "
                    "of that, is more than can be counted.",
                    static_cast<long long>(count), to_string(sizes()).c_str(), growth_percent));
  }
  Layout layout = contiguous_layout(wanted, "extend");
  layout.offset = storage_offset();
  const std::size_t used =
      nbytes_in_front() + detail::byte_count(layout.numel(), itemsize(), "extend");
  if (used > storage().nbytes()) {
    reserve(reserved);
  }
  base().layout = std::move(layout);
  return *this;
}

Tensor& Tensor::share_data(const Tensor& source) {
  TensorBase& self = base();
  source.expect_initialized("share_data");
  source.expect_dtype(source.dtype(), "share_data");
  if (source.device() != self.device) {
    throw DeviceError(format_text("share_data: the source is on %s, this tensor on %s. Use to().",
                                  describe(source.device()).chars.data(),
                                  describe(self.device).chars.data()));
  }
  auto layout = viewed_as(source.layout(), sizes(), "share_data");
  if (!layout) {
    throw ShapeError(
        format_text("share_data: sizes %s with strides %s cannot be seen as %s without copying. "
                    "Share its contiguous(), or resize to its sizes first.",
                    to_string(source.sizes()).c_str(), to_string(source.strides()).c_str(),
                    to_string(sizes()).c_str()));
  }
  self.storage = source.storage();
  self.layout = std::move(*layout);
  self.dtype = source.dtype();
  return *this;
}

std::size_t Tensor::nbytes_of_external(DType dtype) const {
  if (dtype == DType::uninitialized) {
    detail::no_such_dtype("share_external", dtype);
  }
  return detail::byte_count(numel(), byre::itemsize(dtype), "share_external");
}

Tensor& Tensor::take_storage(Storage storage, DType dtype) {
  TensorBase& self = base();
  Layout layout = contiguous_layout(self.layout.sizes, "share_external");
  self.storage = std::move(storage);
  self.layout = std::move(layout);
  self.dtype = dtype;
  return *this;
}

namespace detail {

void no_such_dtype(const char* operation, DType) {
  throw DTypeError(format_text(
      "%s: a dtype is needed, and it is uninitialized. Name one, such as DType::f32, or call "
      "realize(dtype) on the tensor first.",
      operation));
}

}  // namespace detail
}  // namespace byre::inline v0
