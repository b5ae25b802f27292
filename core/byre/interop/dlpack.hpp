// SPDX-License-Identifier: BSL-1.0
/// Exchange of tensors with other array libraries (NumPy, PyTorch, JAX, CuPy, ...) by DLPack 1,
/// without copying elements. A lazy clone never observes a write by the other library.
///
/// Tensors on the host have DLPack's CPU device. For other devices, the device kind is the number
/// of the DLPack device type, so register devices with DLPack's numbers (2 is CUDA). Exception:
/// kind 1 is DLPack's kDLExtDev.
///
/// Unless a function says otherwise, it copies no elements. An export has the thread-safety of
/// data() or mutable_data() on the tensor. Any thread may call the other functions at any time.
#pragma once

#include <byre/config.hpp>
#include <byre/interop/dlpack_structures.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstdint>

namespace byre::inline BYRE_ABI {

/// How the library that receives an export (its consumer) may access the data.
enum class DLPackAccess : std::uint8_t {
  read,   ///< flag READ_ONLY: shares the data like a lazy clone; see Storage::pin_to_read()
  write,  ///< materializes, and pins the bytes until the deleter is called; see Storage::pin()
  copy,   ///< flag IS_COPIED: exports a copy that is made now, for the consumer alone
};

/// Exports the tensor's elements to another library, which must call the deleter once, on any
/// thread. Counts as a read of `tensor` like data(), or as a write like mutable_data(). The caller
/// must not run an export for writing, or later writes by the consumer, concurrently with any other
/// access to the storage. A deleter that runs within the deleter of another byre export does not
/// recurse: the outer deleter releases the inner tensor before it returns. Long chains of tensors
/// that libraries wrap in each other therefore do not exhaust the stack.
///
/// Throws StateError if the tensor lacks a dtype or memory, DeviceError if the device is not
/// registered, OutOfMemory, or the errors of data() or mutable_data(). Cost: copies elements only
/// for DLPackAccess::copy, or if write access materializes.
[[nodiscard]] BYRE_API dlpack::DLManagedTensorVersioned* to_dlpack(
    Tensor tensor, DLPackAccess access = DLPackAccess::read, Wait wait = Wait::allowed,
    CallSite site = CallSite::current());

/// As to_dlpack(), but exports the structure of DLPack before 1.0. That structure has no read-only
/// flag, so its consumer may write. Also throws InvalidArgument for DLPackAccess::read.
[[nodiscard]] BYRE_API dlpack::DLManagedTensor* to_older_dlpack(
    Tensor tensor, DLPackAccess access = DLPackAccess::write, Wait wait = Wait::allowed,
    CallSite site = CallSite::current());

/// Whether other code may write the imported memory.
enum class DLPackImport : std::uint8_t {
  /// The exporter may still write the memory: a lazy clone copies immediately. Exception: lazy
  /// clones share memory that has the flag IS_COPIED.
  aliased,
  /// The caller guarantees that no other code writes the memory: lazy clones share it, as they
  /// share memory of Buffer::adopt.
  exclusive,
};

/// Imports a tensor over the memory of another library. A write to the tensor changes that memory
/// in place; if the memory is READ_ONLY, the write goes to a copy. byre recognizes its own exports:
/// a read export becomes a lazy clone, a write export a tensor over the exported storage. The
/// deleter is called once: when the last owner releases the memory, or before this function ends if
/// no owner needs the memory (after an error, for a tensor without elements, for an export of
/// byre). The deleter must not throw. Code that writes bools must store 0 or 1.
///
/// Throws InvalidArgument for null, another major version or misaligned memory; DTypeError if no
/// dtype matches the elements, or if a bool is neither 0 nor 1; ShapeError for negative sizes or
/// strides, or if the elements exceed the largest object; DeviceError if the device is not
/// registered; or OutOfMemory. Cost: reads all elements of a tensor of bools on the host.
BYRE_API Tensor from_dlpack(dlpack::DLManagedTensorVersioned* managed,
                            DLPackImport how = DLPackImport::aliased);
BYRE_API Tensor from_dlpack(dlpack::DLManagedTensor* managed,
                            DLPackImport how = DLPackImport::aliased);

/// The DLPack descriptions of a device and of a dtype. dlpack_device() throws DeviceError if the
/// device is not registered; dlpack_dtype() throws DTypeError for DType::uninitialized.
BYRE_API dlpack::DLDevice dlpack_device(Device device);
BYRE_API dlpack::DLDataType dlpack_dtype(DType dtype);

}  // namespace byre::inline BYRE_ABI
