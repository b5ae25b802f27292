// SPDX-License-Identifier: BSL-1.0
/// Access to the elements of a tensor through pointers.
#include <byre/tensor/detail/operands.hpp>
#include <byre/tensor/detail/tensor_write.hpp>
#include <byre/tensor/tensor.hpp>

namespace byre::inline BYRE_ABI {

const void* Tensor::tracked_bytes_to_read(DType wanted, CallSite site) const {
  expect_dtype(wanted, "data");
  detail::expect_elements(*this, "data");
  record_read(site);
  return base().first_element();
}

void* Tensor::tracked_bytes_to_write(DType wanted, Wait wait, CallSite site) {
  realize_to_write(wanted);
  detail::TensorWrite write(*this, 0, site, true);
  void* const first = write.materialize(nullptr, wait);
  write.done();
  return first;
}

void* Tensor::bytes_to_write_in_parallel(DType wanted, Wait wait, CallSite site) {
  expect_dtype(wanted, "mutable_data_in_parallel");
  if (!is_storage_initialized()) {
    throw StateError(format_text(
        "mutable_data_in_parallel: the tensor %s of %s is storage-uninitialized: it has "
        "no memory to write. Call realize(dtype) before the loop.",
        to_string(sizes()).c_str(), name_of(dtype())));
  }
  Storage& memory = base().storage;
  const auto request_access = [&] {
    std::byte* const first = memory.mutable_data_in_parallel(wait, site);
    return first == nullptr ? nullptr : first + base().byte_offset();
  };
  if (numel() == 0 || shadow::detail::can_skip_escape_tracking(memory)) [[likely]] {
    return request_access();
  }
  detail::TensorWrite write = [&] {
    // The steps of a TensorWrite must not run concurrently with those of another TensorWrite of the
    // same view family.
    const sync::detail::AddressLock<sync::Default> one_at_a_time(memory.slot());
    return detail::TensorWrite(*this, 0, site, true);
  }();
  void* const first = request_access();  // not locked: a copy sink may use this tensor
  const sync::detail::AddressLock<sync::Default> one_at_a_time(memory.slot());
  write.done();
  return first;
}

void Tensor::realize_to_write(DType wanted) {
  if (wanted == DType::uninitialized) {
    expect_dtype(wanted, "mutable_raw_data");
  }
  realize(wanted);
}

void Tensor::record_read_of_storage(CallSite site) const {
  if (is_tracked()) {
    shadow::detail::record_read(storage(), base().shadow.get(), {site, sizes()});
  }
}

void Tensor::record_copy_onto_itself(const Tensor& source, CallSite site) {
  if (!is_tracked() || is_of_view_family(source)) {
    return;
  }
  if (nbytes() == storage().nbytes()) {
    // The copy covers the whole storage: this family has now observed every write of other
    // families.
    shadow::detail::mark_synced(storage(), base().shadow.get());
    return;
  }
  detail::TensorWrite(*this, nbytes(), site).done();
}

const void* Tensor::element_to_read(std::span<const std::int64_t> indices, DType wanted,
                                    CallSite site) const {
  detail::expect_host(*this, "at");
  const std::int64_t element = element_at(layout(), indices, "at");
  const auto* const first = static_cast<const std::byte*>(bytes_to_read(wanted, site));
  return first + (element - storage_offset()) * static_cast<std::int64_t>(itemsize());
}

void* Tensor::element_to_write(std::span<const std::int64_t> indices, DType wanted, CallSite site) {
  detail::expect_host(*this, "set_at");
  const std::int64_t element = element_at(layout(), indices, "set_at");
  expect_dtype(wanted, "set_at");
  realize_to_write(wanted);
  const Layout written{.sizes = {}, .strides = {}, .offset = element};
  detail::TensorWrite write(*this, itemsize(), site);
  auto* const first = static_cast<std::byte*>(write.materialize(&written));
  write.done();
  return first + (element - storage_offset()) * static_cast<std::int64_t>(itemsize());
}

}  // namespace byre::inline BYRE_ABI
