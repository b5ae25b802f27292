// SPDX-License-Identifier: BSL-1.0
#include <byre/interop/detail/tensor_data.hpp>
#include <byre/tensor/detail/operands.hpp>

#include <algorithm>

namespace byre::inline v0::detail {

void expect_initialized(const Tensor& tensor, const char* operation) {
  expect_tensor(tensor, operation);
  if (!tensor.is_dtype_initialized()) {
    throw StateError(format_text(
        "%s: the tensor %s is dtype-uninitialized. Call realize(dtype) or mutable_data<T>() first.",
        operation, to_string(tensor.sizes()).c_str()));
  }
  if (!tensor.is_storage_initialized()) {
    throw StateError(
        format_text("%s: the tensor %s of %s is storage-uninitialized: it has nothing to write. "
                    "Call mutable_data<T>() to write it first.",
                    operation, to_string(tensor.sizes()).c_str(), name_of(tensor.dtype())));
  }
}

Tensor dense_on_host(const Tensor& tensor, CallSite site) {
  if (!tensor.device().is_cpu()) {
    return tensor.to(Device::cpu(), site);
  }
  return tensor.is_contiguous() ? tensor : tensor.clone(site);
}

std::optional<Text> odd_bool_in(std::span<const std::byte> data, DType dtype) {
  if (dtype != DType::boolean) {
    return std::nullopt;
  }
  const auto odd = std::ranges::find_if(data, [](std::byte byte) { return byte > std::byte{1}; });
  if (odd == data.end()) {
    return std::nullopt;
  }
  return format_text("its bool number %td is the byte %d", odd - data.begin(),
                     std::to_integer<int>(*odd));
}

void swap_bytes(std::byte* data, std::size_t nbytes, DType dtype) {
  const std::size_t number_nbytes = dtype == DType::complex64 ? sizeof(float) : itemsize(dtype);
  for (std::size_t at = 0; at < nbytes; at += number_nbytes) {
    std::reverse(data + at, data + at + number_nbytes);
  }
}

}  // namespace byre::inline v0::detail
