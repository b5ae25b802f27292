// SPDX-License-Identifier: BSL-1.0
/// The members of Tensor that change its state, and the checks that reject operations which the
/// state does not allow. docs/tensor-states.md has a table of both.
#include <byre/observe/events.hpp>
#include <byre/shadow/report.hpp>
#include <byre/tensor/detail/operands.hpp>
#include <byre/tensor/tensor.hpp>

#include <algorithm>
#include <utility>

namespace byre::inline BYRE_ABI {
void Tensor::refuse_uninitialized(const char* operation) const {
  throw StateError(format_text(
      "%s: the tensor %s %s is storage-uninitialized: it has elements, but no memory. Call "
      "realize(dtype) or mutable_data<T>() first.",
      operation, to_string(sizes()).c_str(), name_of(dtype())));
}

void Tensor::expect_unshared(const char* operation) const {
  if (const std::uint32_t handles = storage().handle_count(); handles > 1) {
    throw StateError(format_text(
        "%s: the storage of the tensor %s %s is shared: %u other tensors or handles would lose "
        "their memory. Drop them first, or use a clone().",
        operation, to_string(sizes()).c_str(), name_of(dtype()),
        static_cast<unsigned>(handles - 1)));
  }
}

void Tensor::expect_dtype(DType wanted, const char* operation) const {
  detail::expect_dtype_known(*this, operation);
  if (dtype() != wanted) {
    detail::refuse_other_dtype(*this, wanted, operation);
  }
}

Allocator& Tensor::allocator() const {
  if (storage()) {
    return storage().allocator();
  }
  return base().allocator == nullptr ? support_of(device()).allocator() : *base().allocator;
}

void Tensor::drop_storage() {
  base().allocator = &allocator();
  base().storage = Storage();
  base().shadow = nullptr;
}

/// Moves the bytes at most once, even if other storages share them. The whole storage is recorded
/// as read, because the move also reads the bytes outside of this tensor.
void Tensor::grow_storage(std::size_t nbytes, CallSite site) {
  stats::detail::WriteReport report;
  record_read_of_storage(site);
  Storage& storage = base().storage;
  const bool is_own = storage.is_unique() && !storage.is_read_only();
  if (is_own && dtype() != DType::boolean) {
    return storage.resize(nbytes, site);
  }
  const auto cause = is_own                ? stats::CopyCause::resized
                     : storage.is_unique() ? stats::CopyCause::read_only
                                           : stats::CopyCause::shared;
  Storage larger = detail::allocate_elements(nbytes, dtype(), allocator());
  if (const std::size_t kept = storage.nbytes(); kept != 0) {
    report.begin();
    allocator().copy(larger.mutable_data(), std::as_const(storage).data(), kept);
    report.copied(storage, larger, {kept, cause, site});
  }
  storage = std::move(larger);
  base().shadow = nullptr;
}

Tensor& Tensor::resize(const Dims& wanted, OnShrink on_shrink) {
  TensorBase& self = base();
  if (wanted == self.layout.sizes) {
    return *this;
  }
  Layout layout = contiguous_layout(wanted, "resize");
  if (!is_contiguous()) {
    throw ShapeError(format_text(
        "resize: cannot resize to %s: the tensor, of sizes %s and strides %s, must be "
        "contiguous. Resize the result of contiguous(), or call free_memory() first.",
        to_string(wanted).c_str(), to_string(sizes()).c_str(), to_string(strides()).c_str()));
  }
  const std::int64_t numel = layout.numel();
  const bool shrinks = numel < self.layout.numel();
  const std::size_t used = base().byte_offset() + detail::byte_count(numel, itemsize(), "resize");
  const bool has_memory = bool(self.storage);
  const bool keeps_memory = has_memory && used <= self.storage.nbytes() &&
                            !(shrinks && on_shrink == OnShrink::free_memory);
  if (keeps_memory) {
    layout.offset = self.layout.offset;
  } else {
    expect_unshared("resize");
    drop_storage();
  }
  self.layout = std::move(layout);
  return *this;
}

Tensor& Tensor::realize(DType wanted) {
  TensorBase& self = base();
  detail::expect_dtype_named(wanted, "realize");
  if (wanted == self.dtype && is_storage_initialized()) {
    return *this;
  }
  if (wanted != self.dtype) {
    expect_unshared("realize as another dtype");
  }
  const std::size_t nbytes = detail::byte_count(numel(), byre::itemsize(wanted), "realize");
  return take_storage(detail::allocate_elements(nbytes, wanted, allocator()), wanted);
}

Tensor& Tensor::free_memory() {
  expect_unshared("free_memory");
  Layout layout = contiguous_layout(sizes(), "free_memory");
  drop_storage();
  base().layout = std::move(layout);
  return *this;
}

Tensor& Tensor::reserve(const Dims& wanted, CallSite site) {
  TensorBase& self = base();
  expect_dtype(self.dtype, "reserve");
  expect_unshared("reserve");
  const std::int64_t numel = detail::element_count(wanted, "reserve");
  const std::size_t nbytes =
      base().byte_offset() + detail::byte_count(numel, itemsize(), "reserve");
  if (!self.storage) {
    const std::size_t own = detail::byte_count(this->numel(), itemsize(), "reserve");
    self.storage = detail::allocate_elements(std::max(nbytes, own), self.dtype, allocator());
  } else if (nbytes > self.storage.nbytes()) {
    grow_storage(nbytes, site);
  }
  return *this;
}

Tensor& Tensor::extend(std::int64_t count, unsigned growth_percent, CallSite site) {
  expect_initialized("extend");
  expect_dtype(dtype(), "extend");
  expect_unshared("extend");
  if (ndim() == 0 || count < 0 || !is_contiguous()) {
    throw ShapeError(
        format_text("extend: cannot add %lld along the first dimension of %s. Pass a count of 0 or "
                    "more, for a contiguous tensor with one or more dimensions.",
                    static_cast<long long>(count), to_string(sizes()).c_str()));
  }
  Dims wanted(sizes());
  Dims reserved(sizes());
  std::int64_t growth = 0;
  if (__builtin_add_overflow(wanted[0], count, &wanted[0]) ||
      __builtin_mul_overflow(wanted[0], growth_percent, &growth) ||
      __builtin_add_overflow(wanted[0], growth / 100, &reserved[0])) {
    throw ShapeError(
        format_text("extend: adding %lld along the first dimension of %s, and %u percent, "
                    "overflows 64 bits. Was a size miscomputed?",
                    static_cast<long long>(count), to_string(sizes()).c_str(), growth_percent));
  }
  Layout layout = contiguous_layout(wanted, "extend");
  layout.offset = storage_offset();
  const std::size_t used =
      base().byte_offset() + detail::byte_count(layout.numel(), itemsize(), "extend");
  if (used > storage().nbytes()) {
    try {
      reserve(reserved, site);
    } catch (const shadow::ReshapeViolation&) {
      throw;
    } catch (const Error&) {
      if (reserved == wanted) {
        throw;
      }
      reserve(wanted, site);  // without the additional memory that `reserved` includes
    }
  }
  base().layout = std::move(layout);
  return *this;
}

Tensor& Tensor::share_data(const Tensor& source) {
  TensorBase& self = base();
  detail::expect_tensor(source, "share_data");
  source.expect_initialized("share_data");
  source.expect_dtype(source.dtype(), "share_data");
  if (source.device() != self.device) {
    throw DeviceError(
        format_text("share_data: the source is on %s, this tensor is on %s. Copy the "
                    "source by to() first.",
                    describe(source.device()).chars.data(), describe(self.device).chars.data()));
  }
  Layout layout = viewed_as_or_throw(source.layout(), sizes(), "share_data",
                                     "Share the result of contiguous(), or resize this tensor to "
                                     "the sizes of the source first.");
  self.storage = source.storage();
  self.shadow = source.base().shadow;
  self.layout = std::move(layout);
  self.dtype = source.dtype();
  return *this;
}

std::size_t Tensor::nbytes_of_external(const void* data, DType dtype) const {
  detail::expect_dtype_named(dtype, "share_external");
  const std::size_t nbytes = detail::byte_count(numel(), byre::itemsize(dtype), "share_external");
  if (data != nullptr) {  // Buffer::adopt rejects null
    detail::expect_aligned(data, dtype, device(), "share_external");
    detail::expect_bools(data, nbytes, dtype, device(), "share_external");
  }
  return nbytes;
}

Tensor& Tensor::take_storage(Storage storage, DType dtype) {
  TensorBase& self = base();
  Layout layout = contiguous_layout(self.layout.sizes, "realize");
  self.storage = std::move(storage);
  self.shadow = nullptr;
  self.layout = std::move(layout);
  self.dtype = dtype;
  return *this;
}

}  // namespace byre::inline BYRE_ABI
