// SPDX-License-Identifier: BSL-1.0
/// Reading and writing the elements of a tensor through pointers.
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

const void* Tensor::expect_elements(DType wanted) const {
  expect_dtype(wanted, "data");
  if (!is_storage_initialized()) {
    throw StateError(
        format_text("data: the tensor %s of %s is storage-uninitialized: it has no "
                    "memory to read. Call mutable_data<T>() to write it first.",
                    to_string(sizes()).c_str(), name_of(dtype())));
  }
  return nullptr;
}

void Tensor::realize_to_write(DType wanted) {
  if (wanted == DType::uninitialized) {
    expect_dtype(wanted, "mutable_raw_data");
  }
  realize(wanted);
}

const void* Tensor::element_to_read(std::span<const std::int64_t> indices, DType wanted) const {
  expect_host(*this, "at");
  const std::int64_t element = element_at(layout(), indices, "at");
  const auto* const first = static_cast<const std::byte*>(bytes_to_read(wanted, {}));
  return first + (element - storage_offset()) * static_cast<std::int64_t>(itemsize());
}

void* Tensor::element_to_write(std::span<const std::int64_t> indices, DType wanted) {
  expect_host(*this, "set_at");
  const std::int64_t element = element_at(layout(), indices, "set_at");
  expect_dtype(wanted, "set_at");
  auto* const first = static_cast<std::byte*>(mutable_raw_data());
  return first + (element - storage_offset()) * static_cast<std::int64_t>(itemsize());
}

}  // namespace byre::inline v0
