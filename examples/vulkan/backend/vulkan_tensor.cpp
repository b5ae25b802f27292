// SPDX-License-Identifier: BSL-1.0
#include "vulkan/backend/vulkan_tensor.hpp"

#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/dispatch/guards.hpp>
#include <byre/functional/dispatch/registry.hpp>

#include "vulkan/backend/kernels.hpp"
#include "vulkan/device/gpu.hpp"

namespace examples::vulkan {
namespace {

using namespace byre::functional;
using byre::Dims;
using byre::DType;
using byre::Storage;
using byre::Tensor;

/// Throws for an operator without a kernel.
Tensors refuse(const Call& call) {
  const char* const name = call.op.name().c_str();
  if (call.op.effect() != Effect::none) {
    throw DispatchError(byre::format_text(
        "cannot run %s on the Vulkan backend: it %s, and the backend supports pure operators only. "
        "Run the program under functionalize, which removes "
        "views and writes.",
        name, call.op.effect() == Effect::view ? "makes a view" : "writes to an operand"));
  }
  throw DispatchError(byre::format_text(
      "cannot run %s on the Vulkan backend: it lacks a kernel, and tensors are never read back to "
      "compute on the host. Add a kernel by extend(\"%s\").kernel(vulkan_backend(), ...).",
      name, name));
}

bool define_once() {
  define_copies();
  define_arithmetic();
  set_fallback(VulkanTensor::key, refuse);
  return true;
}

}  // namespace

Tensor VulkanTensor::tensor() const {
  return storage_ ? Tensor::over(storage_.lazy_clone(), sizes_, dtype_)
                  : Tensor::empty(sizes_, dtype_, Gpu::get().device());
}

AnyTensor VulkanTensor::to_rebind(const AnyTensor& other) const {
  const auto* const on_device = other.as<VulkanTensor>();
  return on_device != nullptr ? lazy_clone(*on_device) : to_vulkan(to_cpu(other));
}

void VulkanTensor::rebind(TensorImpl& prepared) noexcept {
  auto& other = static_cast<VulkanTensor&>(prepared);
  storage_ = std::move(other.storage_);
  sizes_ = std::move(other.sizes_);
  dtype_ = other.dtype_;
}

Key vulkan_backend() {
  static const bool is_defined = define_once();
  static_cast<void>(is_defined);
  return VulkanTensor::key;
}

AnyTensor to_vulkan(const Tensor& tensor) {
  vulkan_backend();
  Gpu& gpu = Gpu::get();
  if (tensor.device() == gpu.device() && tensor.is_contiguous() && tensor.nbytes() != 0 &&
      tensor.storage().nbytes() == tensor.nbytes()) {
    return make_counted<VulkanTensor>(tensor.storage().lazy_clone(), tensor.sizes(),
                                      tensor.dtype());
  }
  const Tensor on_host = tensor.to(byre::Device::cpu()).contiguous();
  VulkanTensorPtr made = empty_on_device(on_host.sizes(), on_host.dtype());
  gpu.queue().upload(made->storage().mutable_data(), on_host.raw_data(), on_host.nbytes());
  return made;
}

Tensor from_vulkan(const AnyTensor& tensor) {
  const auto* const on_device = tensor.as<VulkanTensor>();
  if (on_device == nullptr) {
    throw byre::DeviceError(byre::format_text(
        "from_vulkan: the tensor belongs to %s, required vulkan. Call to_vulkan() first.",
        tensor ? to_string(tensor.keys()).c_str() : "no backend"));
  }
  Tensor on_host = Tensor::empty(on_device->dims(), on_device->dtype());
  Gpu::get().queue().download(on_host.mutable_raw_data(), on_device->storage().data(),
                              on_host.nbytes());
  return on_host;
}

}  // namespace examples::vulkan
