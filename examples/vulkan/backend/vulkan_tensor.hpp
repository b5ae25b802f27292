// SPDX-License-Identifier: BSL-1.0
/// A backend of byre's operators whose tensors are in a Vulkan device's memory and whose kernels are its shaders. It
/// has pure operators only: programs with views or writes run on it under the functionalize pass.
///
///   const Lowering on_vulkan{vulkan_backend(), to_vulkan, from_vulkan};
///   const Program program = functionalize_on(on_vulkan, written_for_the_host);
///
/// No operator reads back what is on the device, or waits for it.
#pragma once

#include <byre/functional/dispatch/any_tensor.hpp>
#include <byre/storage/storage.hpp>
#include <byre/tensor/tensor.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace examples::vulkan {

/// Contiguous, from the first byte of a storage that no other tensor sees; storages share data lazily. Of one without
/// elements the storage is an empty handle. Which elements it has changes by rebind(), and by kernels that write in
/// place what nobody else has.
class VulkanTensor final : public byre::functional::TensorImpl {
 public:
  static inline const byre::functional::Key key = byre::functional::add_backend({.name = "vulkan"});

  /// The storage is on Gpu::get().device(), and as large as the elements.
  VulkanTensor(byre::Storage storage, byre::Dims sizes, byre::DType dtype)
      : TensorImpl(key), storage_(std::move(storage)), sizes_(std::move(sizes)), dtype_(dtype) {}
  byre::Dims sizes() const override { return sizes_; }
  byre::DType dtype() const override { return dtype_; }
  const byre::Dims& dims() const noexcept { return sizes_; }
  const byre::Storage& storage() const noexcept { return storage_; }
  byre::Storage& storage() noexcept { return storage_; }
  /// As byre's tensors see the device: a lazy clone there. Throws OutOfMemory.
  byre::Tensor tensor() const;
  /// Of one of the CPU, a copy.
  byre::functional::AnyTensor to_rebind(const byre::functional::AnyTensor& other) const override;
  void rebind(TensorImpl& prepared) noexcept override;

 private:
  byre::Storage storage_;
  byre::Dims sizes_;
  byre::DType dtype_;
};

using VulkanTensorPtr = boost::intrusive_ptr<VulkanTensor>;

/// The backend's key. Its kernels are registered at the first call. Thread-safe.
byre::functional::Key vulkan_backend();

/// A copy on the device, lazy if `tensor` is contiguous there. Throws VulkanError, OutOfMemory, and StateError for a
/// tensor that is uninitialized.
byre::functional::AnyTensor to_vulkan(const byre::Tensor& tensor);

/// A copy on the host, which is waited for. Throws DeviceError for a tensor of another backend or a pass, VulkanError,
/// and OutOfMemory.
byre::Tensor from_vulkan(const byre::functional::AnyTensor& tensor);

}  // namespace examples::vulkan
