// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>

#include <new>

namespace byre::inline BYRE_ABI::functional {

AnyTensor CpuTensor::to_rebind(const AnyTensor& other) const {
  return from_cpu(to_cpu(other).alias());
}

void CpuTensor::rebind(TensorImpl& prepared) noexcept {
  value = std::move(static_cast<CpuTensor&>(prepared).value);
}

AnyTensor from_cpu(Tensor tensor) {
  if (!tensor) [[unlikely]] {
    throw ArgumentError(
        format_text("from_cpu: the tensor is an empty handle, Tensor(). Pass one from "
                    "Tensor::empty() or an operation."));
  }
  return make_counted<CpuTensor>(std::move(tensor));
}

Tensor& to_cpu(const AnyTensor& tensor) {
  if (auto* const on_cpu = tensor.as<CpuTensor>()) {
    return on_cpu->value;
  }
  throw DeviceError(
      format_text("expected a tensor of the CPU, got one of %s. Call the operator on tensors of "
                  "one backend, or fetch the elements first.",
                  tensor ? to_string(tensor.keys()).c_str() : "no backend"));
}

Tensors Boxed<std::vector<Tensor>>::from(std::vector<Tensor> results) try {
  Tensors boxed;
  for (Tensor& result : results) {
    boxed.push_back(from_cpu(std::move(result)));
  }
  return boxed;
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("a list of results");
}

}  // namespace byre::inline BYRE_ABI::functional
