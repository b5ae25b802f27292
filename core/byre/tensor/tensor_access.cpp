// SPDX-License-Identifier: BSL-1.0
/// Reading and writing the elements of a tensor through pointers.
#include <byre/tensor/detail/writable_pages.hpp>
#include <byre/tensor/tensor.hpp>

namespace byre::inline v0 {
namespace {

void expect_host(const Tensor& tensor, const char* operation) {
  if (!tensor.device().is_cpu()) {
    throw DeviceError(
        format_text("%s: the tensor is on %s, whose memory the host cannot address. "
                    "Copy it with to(Device::cpu()).",
                    operation, describe(tensor.device()).chars.data()));
  }
}

}  // namespace

const void* Tensor::tracked_bytes_to_read(DType wanted, CallSite site) const {
  expect_dtype(wanted, "data");
  if (!is_storage_initialized()) {
    throw StateError(
        format_text("data: the tensor %s of %s is storage-uninitialized: it has no "
                    "memory to read. Call mutable_data<T>() to write it first.",
                    to_string(sizes()).c_str(), name_of(dtype())));
  }
  record_read(site);
  return base().first_element();
}

void* Tensor::tracked_bytes_to_write(DType wanted, Wait wait, CallSite site) {
  if (wanted != dtype()) {
    realize_to_write(wanted);
  }
  return elements_to_write(0, wait, site, true);  // whatever is done with the pointer
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
  const auto ask = [&] {
    std::byte* const first = memory.mutable_data_in_parallel(wait, site);
    return first == nullptr ? nullptr : first + base().nbytes_in_front();
  };
  if (numel() == 0 || shadow::detail::can_skip_escape_tracking(memory)) [[likely]] {
    return ask();
  }
  const Write write = write_of(0, site, true);
  {
    // A write of a family excludes what else the family does.
    const sync::detail::AddressLock<sync::Boost> one_at_a_time(memory.slot());
    begin_write(write);
  }
  void* const first = ask();  // without that lock: a copy sink may ask for this tensor
  const sync::detail::AddressLock<sync::Boost> one_at_a_time(memory.slot());
  end_write(write);
  return first;
}

void Tensor::realize_to_write(DType wanted) {
  if (wanted == DType::uninitialized) {
    expect_dtype(wanted, "mutable_raw_data");
  }
  realize(wanted);
}

Tensor::Write Tensor::write_of(std::size_t nbytes, CallSite site, bool escapes) const noexcept {
  return {{site, sizes(), nbytes == storage().nbytes(), escapes},
          numel() != 0 && (escapes || is_tracked())};
}

void Tensor::begin_write(const Write& write) {
  if (write.is_recorded) {
    shadow::detail::begin_write(storage(), base().shadow.get(), write.access);
  }
}

void* Tensor::materialize_elements(const Layout* populated, Wait wait, CallSite site) {
  Storage& memory = base().storage;
  std::byte* const first = memory.mutable_data(wait, site);
  if (populated != nullptr && is_in_pages(memory.origin())) [[unlikely]] {
    detail::make_pages_writable(memory, *populated, itemsize(), site);
  }
  return first == nullptr ? nullptr : first + base().nbytes_in_front();
}

void Tensor::end_write(const Write& write) {
  if (write.is_recorded) {
    shadow::detail::end_write(storage(), base().shadow.get(), write.access);
  }
}

void* Tensor::elements_to_write(std::size_t written, Wait wait, CallSite site, bool escapes) {
  realize_to_write(dtype());
  const Write write = write_of(written, site, escapes);
  begin_write(write);
  void* const first = materialize_elements(written == nbytes() ? &layout() : nullptr, wait, site);
  end_write(write);
  return first;
}

void* Tensor::begin_write(CallSite site) {
  begin_write(write_of(nbytes(), site));
  return materialize_elements(&layout(), Wait::allowed, site);
}

void Tensor::end_write(CallSite site) {
  end_write(write_of(nbytes(), site));
}

void Tensor::record_tracked_read(CallSite site) const {
  if (numel() != 0) {
    record_read_of_storage(site);
  }
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
    // All there is, as what wrote it last knows it.
    shadow::detail::mark_synced(storage(), base().shadow.get());
    return;
  }
  const Write write = write_of(nbytes(), site);
  begin_write(write);
  end_write(write);
}

const void* Tensor::element_to_read(std::span<const std::int64_t> indices, DType wanted,
                                    CallSite site) const {
  expect_host(*this, "at");
  const std::int64_t element = element_at(layout(), indices, "at");
  const auto* const first = static_cast<const std::byte*>(bytes_to_read(wanted, site));
  return first + (element - storage_offset()) * static_cast<std::int64_t>(itemsize());
}

void* Tensor::element_to_write(std::span<const std::int64_t> indices, DType wanted, CallSite site) {
  expect_host(*this, "set_at");
  const std::int64_t element = element_at(layout(), indices, "set_at");
  expect_dtype(wanted, "set_at");
  realize_to_write(wanted);
  const Layout written{.sizes = {}, .strides = {}, .offset = element};
  const Write write = write_of(itemsize(), site);
  begin_write(write);
  auto* const first = static_cast<std::byte*>(materialize_elements(&written, Wait::allowed, site));
  end_write(write);
  return first + (element - storage_offset()) * static_cast<std::int64_t>(itemsize());
}

}  // namespace byre::inline v0
