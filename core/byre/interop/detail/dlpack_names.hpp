// SPDX-License-Identifier: BSL-1.0
/// Devices and dtypes that DLPack names, as byre's. dlpack.hpp has the opposite direction.
#pragma once

#include <byre/interop/dlpack_structures.hpp>
#include <byre/memory/allocator.hpp>
#include <byre/tensor/dtype.hpp>

namespace byre::inline v0::detail {

/// Throws DeviceError for a device that is not registered.
Device device_of(dlpack::DLDevice device);
/// Throws DTypeError.
DType dtype_of_dlpack(dlpack::DLDataType type);

}  // namespace byre::inline v0::detail
