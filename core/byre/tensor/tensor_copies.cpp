// SPDX-License-Identifier: BSL-1.0
/// Clones of tensors: lazy or copied immediately, on one device or on another.
#include <byre/tensor/detail/operands.hpp>
#include <byre/tensor/detail/tensor_write.hpp>
#include <byre/tensor/layout/detail/compact.hpp>
#include <byre/tensor/layout/detail/strided_copy.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstddef>
#include <optional>
#include <utility>

namespace byre::inline BYRE_ABI {
namespace {

/// Packs a noncontiguous tensor on a device. Copies through the host, because devices need not
/// support strides.
void pack_through_host(const Tensor& source, void* destination, DeviceSupport& support) {
  const auto from = static_cast<std::size_t>(source.storage_offset());
  const auto count = static_cast<std::size_t>(source.layout().end()) - from;
  const std::size_t spanned_nbytes = count * source.itemsize();
  Buffer spanned = Buffer::allocate(spanned_nbytes);
  Buffer packed = Buffer::allocate(source.nbytes());
  support.copy_to_host(spanned.mutable_data(), detail::ElementAccess::to_read(source),
                       spanned_nbytes);
  detail::pack(spanned.data(), source.layout(), source.itemsize(), packed.mutable_data());
  support.copy_from_host(destination, packed.data(), source.nbytes());
}

void copy_within_device(const Tensor& source, void* destination) {
  if (source.device().is_cpu()) {
    detail::pack(detail::ElementAccess::to_read(source), source.layout(), source.itemsize(),
                 destination);
  } else if (source.is_contiguous()) {
    DeviceSupport& support = support_of(source.device());
    support.allocator().copy(destination, detail::ElementAccess::to_read(source), source.nbytes());
  } else {
    pack_through_host(source, destination, support_of(source.device()));
  }
}

/// A function for clone_view() that clones a storage lazily.
auto lazy_storage_clone(CallSite site) {
  return [site](const Storage& shared) { return shared.lazy_clone(site); };
}

}  // namespace

bool Tensor::sees_less_than_half() const noexcept {
  // Mapped files are excluded: a clone of a mapped file retains no memory, and a write to the clone
  // copies single pages.
  const std::size_t nbytes =
      static_cast<std::size_t>(detail::max_distinct_elements(layout())) * itemsize();
  return detail::is_less_than_half(nbytes, storage().nbytes()) && itemsize() != 0 &&
         storage().origin() != Origin::mapped;
}

std::optional<Tensor> Tensor::copy_if_less_than_half(const Layout& seen) const {
  auto [copied, layout] = detail::compacted(seen);
  const std::size_t nbytes = static_cast<std::size_t>(copied.numel()) * itemsize();
  if (!detail::is_less_than_half(nbytes, storage().nbytes())) {
    return std::nullopt;  // too large: a copy of overlapping elements includes the gaps
  }
  const Tensor part = make(storage(), std::move(copied), dtype(), device(), base().allocator);
  return make(part.packed().storage(), std::move(layout), dtype(), device(), base().allocator);
}

template <class CloneStorage, class MakeLayout>
Tensor Tensor::clone_view(const char* operation, CallSite site, const CloneStorage& clone_storage,
                          const MakeLayout& make_layout) const {
  expect_initialized(operation);
  if (sees_less_than_half()) [[unlikely]] {
    const Layout seen = make_layout();
    record_read(site);
    if (auto copy = copy_if_less_than_half(seen)) {
      return *std::move(copy);
    }
  }
  const auto make_storage = [&] {
    record_read_of_storage(site);  // after make_layout(), which rejects invalid arguments
    return clone_storage(base().storage);
  };
  return owned(new TensorBase(base(), make_layout, make_storage));
}

Tensor Tensor::lazy_clone(CallSite site) const {
  return clone_view("lazy_clone", site, lazy_storage_clone(site), [&] { return Layout(layout()); });
}

Tensor Tensor::writable_clone(CallSite site) {
  const auto clone_storage = [site](Storage& shared) {
    return shared.writable_clone(Wait::allowed, site);
  };
  return clone_view("writable_clone", site, clone_storage, [&] { return Layout(layout()); });
}

Tensor Tensor::clone(CallSite site) const {
  expect_initialized("clone");
  if (!is_dtype_initialized()) {
    return Tensor(device()).resize(sizes());  // without a dtype there are no elements to copy
  }
  record_read(site);
  return packed();
}

Tensor Tensor::packed() const {
  Tensor copy = empty(sizes(), dtype(), allocator());
  if (numel() != 0) {
    copy_within_device(*this, detail::TensorWrite::materialize_all(copy, CallSite::current()));
  }
  return copy;
}

Tensor Tensor::contiguous(CallSite site) const {
  expect_initialized("contiguous");
  return is_contiguous() ? lazy_clone(site) : clone(site);
}

Tensor Tensor::reshape(const Dims& wanted, CallSite site) const {
  if (const auto mode = shadow::reshape_mode(); mode != shadow::ReshapeMode::copy) [[unlikely]] {
    return reshape_as_alias(wanted, mode, site);
  }
  if (is_contiguous()) {
    return clone_view("reshape", site, lazy_storage_clone(site),
                      [&] { return contiguous_view(layout(), wanted, "reshape"); });
  }
  if (const auto viewed = viewed_as(layout(), wanted, "reshape")) {
    return clone_view("reshape", site, lazy_storage_clone(site), [&] { return Layout(*viewed); });
  }
  return clone(site).view(wanted);
}

Tensor Tensor::reshape_as_alias(const Dims& wanted, shadow::ReshapeMode mode, CallSite site) const {
  expect_initialized("reshape");
  auto viewed = viewed_as(layout(), wanted, "reshape");
  if (!viewed) {
    return clone(site).view(wanted);
  }
  auto family = base().shadow;
  if (mode != shadow::ReshapeMode::alias) {
    family = shadow::detail::link_by_reshape(storage(), family.get(), mode, {site, sizes()},
                                             viewed->sizes);
  }
  return make(storage(), std::move(*viewed), dtype(), device(), base().allocator,
              std::move(family));
}

Tensor& Tensor::reshape_(const Dims& wanted, CallSite site) {
  const Tensor reshaped = reshape(wanted, site);
  TensorBase& self = base();
  Layout layout(reshaped.layout());
  self.storage = reshaped.storage();
  self.shadow = reshaped.base().shadow;
  self.layout = std::move(layout);
  return *this;
}

Tensor Tensor::to(Device target, CallSite site) const {
  expect_initialized("to");
  if (target == device()) {
    return lazy_clone(site);
  }
  static_cast<void>(support_of(target));
  expect_dtype(dtype(), "to");
  record_read(site);
  return copied_to(target);
}

Tensor Tensor::copied_to(Device target) const {
  DeviceSupport& from = support_of(device());
  DeviceSupport& to = support_of(target);
  const Tensor source = is_contiguous() ? *this : packed();
  Tensor copy = empty(sizes(), dtype(), target);
  if (numel() == 0) {
    return copy;
  }
  void* const first = detail::TensorWrite::materialize_all(copy, CallSite::current());
  if (device().is_cpu()) {
    to.copy_from_host(first, detail::ElementAccess::to_read(source), nbytes());
  } else if (target.is_cpu()) {
    from.copy_to_host(first, detail::ElementAccess::to_read(source), nbytes());
  } else {
    Buffer on_host = Buffer::allocate(nbytes());
    from.copy_to_host(on_host.mutable_data(), detail::ElementAccess::to_read(source), nbytes());
    to.copy_from_host(first, on_host.data(), nbytes());
  }
  return copy;
}

}  // namespace byre::inline BYRE_ABI
