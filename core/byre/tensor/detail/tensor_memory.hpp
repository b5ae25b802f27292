// SPDX-License-Identifier: BSL-1.0
/// The memory of elements: made so that C++ may read it, or looked at whether it may.
#pragma once

#include <byre/storage/storage.hpp>
#include <byre/tensor/dtype.hpp>

#include <cstddef>

namespace byre::inline v0::detail {

/// Of indeterminate contents, but for bools, which are false: to read a bool that is neither 0 nor 1
/// is undefined, while any bytes are some number. Throws OutOfMemory, and for bools DeviceError.
Storage allocate_elements(std::size_t nbytes, DType dtype, Allocator& allocator);

/// Throws InvalidArgument if elements of `dtype` cannot begin at `data`, on the host; a device knows
/// its own addresses.
void expect_aligned(const void* data, DType dtype, Device device, const char* operation);

/// Throws DTypeError for a bool, on the host, that is neither 0 nor 1. Other dtypes are not read.
void expect_bools(const void* data, std::size_t nbytes, DType dtype, Device device,
                  const char* operation);

}  // namespace byre::inline v0::detail
