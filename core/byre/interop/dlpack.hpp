// SPDX-License-Identifier: BSL-1.0
/// Tensors to and from other array libraries by DLPack 1, without a byte copied: NumPy, PyTorch, JAX, CuPy and
/// others speak it. No lazy clone ever sees what is written by the other library.
///
/// Of a host's tensors the device is DLPack's CPU. A device of a registered kind from 2 on is the type of DLPack of
/// the same number (2 is CUDA's), so number it accordingly; kind 1 is its ExtDev.
#pragma once

#include <byre/config.hpp>
#include <byre/interop/dlpack_structures.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstdint>

namespace byre::inline v0 {

enum class DLPackAccess : std::uint8_t {
  read,   ///< READ_ONLY: shares the data as a lazy clone does; see Storage::pin_to_read()
  write,  ///< materializes, and pins the storage until it is released; see Storage::pin()
  copy,   ///< IS_COPIED: of a copy that is made now, which the consumer alone has
};

/// The tensor's elements for another library, which calls the deleter once, on any thread. `tensor` is read, or
/// written, as by data() or mutable_data(): write access excludes all else on the storage, and what the other library
/// writes later does too. If a deleter is called within another one of byre's, the outer one releases its tensor before
/// it returns: chains of tensors that libraries wrap in turn need no stack. Throws StateError for a tensor without a
/// dtype or memory, DeviceError for a device that DLPack has no number for, OutOfMemory, and what materializing throws.
[[nodiscard]] BYRE_API dlpack::DLManagedTensorVersioned* to_dlpack(
    Tensor tensor, DLPackAccess access = DLPackAccess::read, Wait wait = Wait::allowed,
    CallSite site = CallSite::current());

/// The same by the structure of DLPack before 1.0. It cannot say what is to be read only, so that whoever gets it may
/// write. Throws InvalidArgument too, for DLPackAccess::read.
[[nodiscard]] BYRE_API dlpack::DLManagedTensor* to_older_dlpack(
    Tensor tensor, DLPackAccess access = DLPackAccess::write, Wait wait = Wait::allowed,
    CallSite site = CallSite::current());

enum class DLPackImport : std::uint8_t {
  /// Whoever exported it may still write it: a lazy clone copies at once. What is marked as IS_COPIED is shared.
  aliased,
  /// The caller knows that nobody else writes it: lazy clones share it, as any adopted memory.
  exclusive,
};

/// A tensor over the memory of another library, which is written in place, or by a copy if it is READ_ONLY. An export of
/// byre's own comes back as what it is of: to_dlpack() to read as a lazy clone, to write as the storage itself. The
/// deleter is called once, whatever happens: when the last owner of the memory lets go, or when this throws. It must
/// not throw. Whoever writes bools keeps them 0 or 1. Throws InvalidArgument for null, another major version or memory
/// that is not aligned; DTypeError for elements that no dtype stands for, and bools that are neither 0 nor 1; ShapeError
/// for negative sizes and strides, and more elements than an object can have; DeviceError for a device that is not
/// registered; OutOfMemory.
BYRE_API Tensor from_dlpack(dlpack::DLManagedTensorVersioned* managed,
                            DLPackImport how = DLPackImport::aliased);
BYRE_API Tensor from_dlpack(dlpack::DLManagedTensor* managed,
                            DLPackImport how = DLPackImport::aliased);

/// What DLPack calls a device and a dtype. Throw as to_dlpack, and DTypeError for DType::uninitialized.
BYRE_API dlpack::DLDevice dlpack_device(Device device);
BYRE_API dlpack::DLDataType dlpack_dtype(DType dtype);

}  // namespace byre::inline v0
