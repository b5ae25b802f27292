// SPDX-License-Identifier: BSL-1.0
/// A backend for byre's operators. Its tensors are in the memory of a Vulkan device, and its
/// kernels are shaders. It supports pure operators only. The functionalize pass
/// (docs/functionalization.md) runs programs with views or writes on it.
///
///   const Lowering on_vulkan{vulkan_backend(), to_vulkan, from_vulkan};
///   const Program program = functionalize_on(on_vulkan, written_for_the_host);
///
/// No operator reads data back from the device or waits for it.
#pragma once

#include <byre/functional/dispatch/any_tensor.hpp>
#include <byre/storage/storage.hpp>
#include <byre/tensor/tensor.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace examples::vulkan {

/// A contiguous tensor that begins at the first byte of its storage. No other tensor has this
/// storage, but storages may share data as lazy clones. The elements of a tensor change only by
/// rebind(), and by kernels that write in place because they have the only handle to the tensor. A
/// tensor without elements has an empty storage handle.
class VulkanTensor final : public byre::functional::TensorImpl {
 public:
  static inline const byre::functional::Key key = byre::functional::add_backend({.name = "vulkan"});

  /// Requires a storage on Gpu::get().device() with exactly the bytes of the elements.
  VulkanTensor(byre::Storage storage, byre::Dims sizes, byre::DType dtype)
      : TensorImpl(key), storage_(std::move(storage)), sizes_(std::move(sizes)), dtype_(dtype) {}
  byre::Dims sizes() const override { return sizes_; }
  byre::DType dtype() const override { return dtype_; }
  const byre::Dims& dims() const noexcept { return sizes_; }
  const byre::Storage& storage() const noexcept { return storage_; }
  byre::Storage& storage() noexcept { return storage_; }
  /// Returns a lazy clone as a byre::Tensor on the device. Throws OutOfMemory.
  byre::Tensor tensor() const;
  /// A lazy clone of `other`, or a copy on the device if `other` is a tensor of the CPU.
  byre::functional::AnyTensor to_rebind(const byre::functional::AnyTensor& other) const override;
  void rebind(TensorImpl& prepared) noexcept override;

 private:
  byre::Storage storage_;
  byre::Dims sizes_;
  byre::DType dtype_;
};

using VulkanTensorPtr = byre::CountedPtr<VulkanTensor>;

/// Returns the backend's key. The first call registers its kernels. Thread-safe.
byre::functional::Key vulkan_backend();

/// Copies to the device, lazily if `tensor` is on the device and contiguous. Throws VulkanError,
/// OutOfMemory, and StateError if the tensor is uninitialized.
byre::functional::AnyTensor to_vulkan(const byre::Tensor& tensor);

/// Copies to the host and waits for the copy. Throws DeviceError if the tensor belongs to another
/// backend or to a pass. Also throws VulkanError and OutOfMemory.
byre::Tensor from_vulkan(const byre::functional::AnyTensor& tensor);

}  // namespace examples::vulkan
