// SPDX-License-Identifier: BSL-1.0
#include <byre/tensor/detail/operands.hpp>
#include <byre/tensor/detail/tensor_write.hpp>
#include <byre/tensor/devices.hpp>
#include <byre/tensor/promotion.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

namespace byre::inline BYRE_ABI::detail {

void refuse_uninitialized_dtype(const char* operation, DType) {
  throw DTypeError(format_text(
      "%s: the dtype is uninitialized. Pass a dtype, such as DType::f32, or call realize(dtype) on "
      "the tensor first.",
      operation));
}

void refuse_empty_handle(const char* operation) {
  throw StateError(
      format_text("%s: the tensor handle is empty, as Tensor() is. Pass a tensor, for example from "
                  "Tensor::empty().",
                  operation));
}

void expect_dtype_known(const Tensor& operand, const char* operation) {
  expect_tensor(operand, operation);
  if (!operand.is_dtype_initialized()) {
    throw StateError(format_text(
        "%s: the tensor %s is dtype-uninitialized. Call realize(dtype) or mutable_data<T>() first.",
        operation, to_string(operand.sizes()).c_str()));
  }
}

void expect_elements(const Tensor& operand, const char* operation) {
  expect_tensor(operand, operation);
  if (!operand.is_storage_initialized()) {
    throw StateError(format_text(
        "%s: the tensor %s of %s is storage-uninitialized: no element was written yet. Write the "
        "elements first, by fill_() or through mutable_data<T>().",
        operation, to_string(operand.sizes()).c_str(), name_of(operand.dtype())));
  }
  expect_dtype_known(operand, operation);
}

void expect_host(const Tensor& operand, const char* operation) {
  if (!operand.device().is_cpu()) {
    throw DeviceError(
        format_text("%s: the tensor is on %s, required is the host. Copy it by "
                    "to(Device::cpu()).",
                    operation, describe(operand.device()).chars.data()));
  }
}

void refuse_other_dtype(const Tensor& operand, DType wanted, const char* operation) {
  throw DTypeError(
      format_text("%s: the tensor %s is of %s, requested is %s. Convert it by copy_(), or request "
                  "%s.",
                  operation, to_string(operand.sizes()).c_str(), name_of(operand.dtype()),
                  name_of(wanted), name_of(operand.dtype())));
}

void expect_operands(const char* operation, std::initializer_list<const Tensor*> operands) {
  for (const Tensor* const operand : operands) {
    expect_elements(*operand, operation);
    expect_host(*operand, operation);
  }
}

void ElementAccess::record_read(const Tensor& operand, CallSite site) {
  operand.record_read(site);
}

const void* ElementAccess::to_read(const Tensor& operand) noexcept {
  return operand.base().first_element();
}

void* ElementAccess::to_write(Tensor& output, CallSite site) {
  return TensorWrite::materialize_all(output, site);
}

Tensor ElementAccess::on_host(const Tensor& operand) {
  return operand.copied_to(Device::cpu());
}

void ElementAccess::record_copy_onto_itself(Tensor& self, const Tensor& source, CallSite site) {
  self.record_copy_onto_itself(source, site);
}

Dims broadcast_sizes(const Dims& a, const Dims& b, const char* operation) {
  const Dims& longer = a.size() >= b.size() ? a : b;
  const Dims& shorter = a.size() >= b.size() ? b : a;
  const std::size_t added = longer.size() - shorter.size();
  Dims sizes(longer);
  for (std::size_t axis = 0; axis < shorter.size(); ++axis) {
    std::int64_t& size = sizes[added + axis];
    if (size != shorter[axis] && size != 1 && shorter[axis] != 1) {
      throw ShapeError(
          format_text("%s: sizes %s and %s do not broadcast: counted from the last dimension, two "
                      "sizes must be equal or one of them 1. Change one operand by view() or "
                      "unsqueeze().",
                      operation, to_string(a).c_str(), to_string(b).c_str()));
    }
    size = size == 1 ? shorter[axis] : size;
  }
  return sizes;
}

Layout broadcast_to(const Dims& sizes, const Tensor& operand, const char* operation) {
  if (broadcast_sizes(sizes, operand.sizes(), operation) != sizes) {
    throw ShapeError(format_text(
        "%s: an operand of sizes %s does not broadcast to the sizes of the written tensor, %s. Use "
        "the operation that returns a new tensor.",
        operation, to_string(operand.sizes()).c_str(), to_string(sizes).c_str()));
  }
  return views::expand(operand.layout(), sizes);
}

void expect_category_holds(DType to, DType result, const char* operation) {
  if (category_of(result) > category_of(to)) {
    throw DTypeError(format_text(
        "%s: a tensor of %s cannot store a result of %s, a higher category. Use the operation that "
        "returns a new tensor, or convert by copy_().",
        operation, name_of(to), name_of(result)));
  }
}

void refuse_dtype(DType dtype, const char* operation) {
  throw DTypeError(
      format_text("%s does not support %s, the promoted dtype of its operands. Convert one of them "
                  "first, by copy_() to a tensor of another dtype.",
                  operation, name_of(dtype)));
}

Storage allocate_elements(std::size_t nbytes, DType dtype, Allocator& allocator) {
  Storage storage = Storage::allocate(nbytes, allocator);
  if (dtype != DType::boolean || nbytes == 0) {
    return storage;
  }
  if (allocator.device().is_cpu()) {
    std::memset(storage.mutable_data(), 0, nbytes);
  } else {
    Buffer zeros = Buffer::allocate(nbytes);
    std::memset(zeros.mutable_data(), 0, nbytes);
    support_of(allocator.device())
        .copy_from_host(storage.mutable_data(), std::as_const(zeros).data(), nbytes);
  }
  return storage;
}

void expect_aligned(const void* data, DType dtype, Device device, const char* operation) {
  const std::size_t excess = reinterpret_cast<std::uintptr_t>(data) % alignment(dtype);
  if (device.is_cpu() && excess != 0) {
    throw InvalidArgument(
        format_text("%s: memory is misaligned for %s: its address is %zu more than a multiple of "
                    "%zu. Copy it to "
                    "aligned memory.",
                    operation, name_of(dtype), excess, alignment(dtype)));
  }
}

void expect_bools(const void* data, std::size_t nbytes, DType dtype, Device device,
                  const char* operation) {
  if (dtype != DType::boolean || !device.is_cpu() || nbytes == 0) {
    return;
  }
  const std::span bytes(static_cast<const std::uint8_t*>(data), nbytes);
  const auto odd = std::ranges::find_if(bytes, [](std::uint8_t byte) { return byte > 1; });
  if (odd != bytes.end()) {
    throw DTypeError(
        format_text("%s: bool number %td is the byte %d, allowed are 0 and 1. Use u8, and convert "
                    "by copy_() to a "
                    "tensor of bool: all but 0 become true.",
                    operation, odd - bytes.begin(), int{*odd}));
  }
}

}  // namespace byre::inline BYRE_ABI::detail
