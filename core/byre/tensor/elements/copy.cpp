// SPDX-License-Identifier: BSL-1.0
/// copy_(), which converts and broadcasts elements on the host and between devices. fill_(),
/// zero_(), cat() and flip() are built from its functions.
#include <byre/storage/buffer.hpp>
#include <byre/tensor/detail/float_environment.hpp>
#include <byre/tensor/detail/operands.hpp>
#include <byre/tensor/detail/tensor_write.hpp>
#include <byre/tensor/elements.hpp>
#include <byre/tensor/elements/detail/convert.hpp>
#include <byre/tensor/elements/detail/overlap.hpp>
#include <byre/tensor/layout/detail/strided_copy.hpp>

namespace byre::inline BYRE_ABI {
namespace {

using detail::ElementAccess;
using detail::Operand;

/// Writes the converted elements of `from` to `to`. Both are in host memory.
void convert(const Operand& to, DType to_dtype, const Operand& from, DType from_dtype,
             const Dims& sizes, const char* operation) {
  const detail::ConvertRow row = detail::conversion(to_dtype, from_dtype, operation);
  const detail::DefaultFloatEnvironment environment;
  detail::StridedCopy(sizes, to, from, itemsize(to_dtype), row).run();
}

/// Writes the elements of `source`, in the layout `expanded`, to all elements of `self`. `first` is
/// the address of the first element of `self`. Both tensors are in host memory.
void convert_all(void* first, const Tensor& self, const Tensor& source, const Layout& expanded,
                 const char* operation) {
  convert(Operand::of(first, self.layout(), self.itemsize()), self.dtype(),
          Operand::of(ElementAccess::to_read(source), expanded, source.itemsize()), source.dtype(),
          self.sizes(), operation);
}

/// Writes to a tensor on a device, by way of the host, because devices need not support dtypes or
/// strides. Fetches all bytes from the first to the last element of `self`, writes the elements on
/// the host, and copies the bytes back. If `self` is contiguous, every byte is written, so nothing
/// is fetched.
void convert_to_device(Tensor& self, const Tensor& source, const Layout& expanded, CallSite site) {
  DeviceSupport& support = support_of(self.device());
  const auto spanned =
      static_cast<std::size_t>(self.layout().end() - self.storage_offset()) * self.itemsize();
  Buffer stage = Buffer::allocate(spanned);
  std::byte* const on_host = stage.mutable_data();
  detail::TensorWrite write(self, self.nbytes(), site);
  void* const on_device = write.materialize(&self.layout());
  if (!self.is_contiguous()) {
    support.copy_to_host(on_host, on_device, spanned);
  }
  convert_all(on_host, self, source, expanded, "copy_");
  support.copy_from_host(on_device, on_host, spanned);
  write.done();
}

/// True if the device can copy the elements without the host: dtypes and sizes are equal, and both
/// tensors are contiguous.
bool is_plain_copy_within_device(const Tensor& self, const Tensor& source) {
  return self.device() == source.device() && !self.device().is_cpu() &&
         self.dtype() == source.dtype() && self.sizes() == source.sizes() && self.is_contiguous() &&
         source.is_contiguous();
}

/// Copies the elements of `source` to `self`. Requires that the two overlap element for element or
/// not at all, and that the caller has recorded the read.
void copy_recorded(Tensor& self, const Tensor& source, CallSite site) {
  if (is_plain_copy_within_device(self, source)) {
    detail::TensorWrite write(self, self.nbytes(), site);
    void* const to = write.materialize(&self.layout());  // before to_read(): see below
    support_of(self.device()).allocator().copy(to, ElementAccess::to_read(source), self.nbytes());
    write.done();
    return;
  }
  if (!source.device().is_cpu()) {
    copy_recorded(self, ElementAccess::on_host(source), site);
    return;
  }
  const Layout expanded = detail::broadcast_to(self.sizes(), source, "copy_");
  if (!self.device().is_cpu()) {
    convert_to_device(self, source, expanded, site);
    return;
  }
  // to_write() is called before to_read(): materializing moves the data of every tensor with this
  // storage, and `source` may be one of them.
  convert_all(ElementAccess::to_write(self, site), self, source, expanded, "copy_");
}

Tensor fill(Tensor& self, const Scalar& value, const char* operation, CallSite site) {
  detail::expect_dtype_known(self, operation);
  return copy_(self, value.fitting(self.dtype(), operation), site);
}

/// The size along `axis` after a tensor of sizes `next` is appended to a tensor of sizes `sizes`.
/// Throws ShapeError if another size differs, or if the result overflows.
std::int64_t joined_size(const Dims& sizes, const Dims& next, std::size_t axis) {
  Dims fitting(next);
  std::int64_t joined = 0;
  if (next.size() == sizes.size()) {
    fitting[axis] = sizes[axis];
  }
  if (fitting != sizes || __builtin_add_overflow(sizes[axis], next[axis], &joined)) {
    throw ShapeError(
        format_text("cat: sizes %s cannot be appended to sizes %s: all sizes but that of dimension "
                    "%zu must be equal. Resize or slice one of the tensors.",
                    to_string(next).c_str(), to_string(sizes).c_str(), axis));
  }
  return joined;
}

}  // namespace

Tensor copy_(Tensor self, const Tensor& source, CallSite site) {
  detail::expect_tensor(self, "copy_");
  detail::expect_elements(source, "copy_");
  const Layout expanded = detail::broadcast_to(self.sizes(), source, "copy_");
  detail::expect_distinct_elements(self, "copy_");
  if (!self.is_dtype_initialized() || !self.is_storage_initialized()) {
    // Writes a new tensor first, so that `self` is unchanged if a device fails.
    const DType dtype = self.is_dtype_initialized() ? self.dtype() : source.dtype();
    Tensor written = Tensor::empty(self.sizes(), dtype, self.allocator());
    return self.share_data(copy_(written, source, site));
  }
  const auto overlap = detail::expect_no_partial_overlap(self, source, expanded, "copy_");
  if (self.numel() == 0) {
    return self;
  }
  ElementAccess::record_read(source, site);
  if (overlap == detail::Overlap::same && self.dtype() == source.dtype()) {
    ElementAccess::record_copy_onto_itself(self, source, site);
    return self;
  }
  copy_recorded(self, source, site);
  return self;
}

void detail::convert_recorded(Tensor& output, const Tensor& operand, const char* operation) {
  convert_all(ElementAccess::to_write(output, {}), output, operand, operand.layout(), operation);
}

Tensor fill_(Tensor self, const Scalar& value, CallSite site) {
  return fill(self, value, "fill_", site);
}

Tensor zero_(Tensor self, CallSite site) {
  return fill(self, 0, "zero_", site);
}

Tensor cat(std::span<const Tensor> tensors, std::int64_t axis, CallSite site) {
  if (tensors.empty()) {
    throw ShapeError(format_text("cat: the list of tensors is empty. Pass at least one."));
  }
  for (const Tensor& tensor : tensors) {
    detail::expect_operands("cat", {&tensor});
  }
  const std::size_t along = views::detail::existing_axis(tensors[0].layout(), axis, "cat");
  Dims sizes(tensors[0].sizes());
  DType dtype = tensors[0].dtype();
  for (const Tensor& next : tensors.subspan(1)) {
    sizes[along] = joined_size(sizes, next.sizes(), along);
    dtype = promoted(dtype, next.dtype());
  }
  Tensor joined = Tensor::empty(sizes, dtype);
  std::int64_t start = 0;
  for (const Tensor& tensor : tensors) {
    const std::int64_t length = tensor.sizes()[along];
    Tensor part = joined.narrow(static_cast<std::int64_t>(along), start, length);
    copy_(part, tensor, site);
    start += length;
  }
  return joined;
}

Tensor flip(const Tensor& a, const Dims& axes, CallSite site) {
  detail::expect_operands("flip", {&a});
  const Dims reversed = detail::distinct_axes(axes, a.ndim(), "flip");
  Tensor flipped = Tensor::empty(a.sizes(), a.dtype());
  if (a.numel() == 0) {
    return flipped;
  }
  ElementAccess::record_read(a, site);
  const Operand to =
      Operand::of(ElementAccess::to_write(flipped, {}), flipped.layout(), a.itemsize());
  Operand from = Operand::of(ElementAccess::to_read(a), a.layout(), a.itemsize());
  for (const std::int64_t each : a.ndim() == 0 ? Dims() : reversed) {
    const auto axis = static_cast<std::size_t>(each);
    from.first += (a.sizes()[axis] - 1) * from.strides[axis];
    from.strides[axis] = -from.strides[axis];
  }
  convert(to, a.dtype(), from, a.dtype(), a.sizes(), "flip");
  return flipped;
}

}  // namespace byre::inline BYRE_ABI
