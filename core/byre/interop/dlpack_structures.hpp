// SPDX-License-Identifier: BSL-1.0
/// The structures of DLPack 1, by which array libraries exchange tensors. Names and layout are
/// those of the specification: a program that also includes DLPack's own header may cast between
/// the two.
///
/// Source: the specification of DLPack 1.1, https://dmlc.github.io/dlpack.
#pragma once

#include <byre/config.hpp>

#include <cstddef>
#include <cstdint>

namespace byre::inline BYRE_ABI::dlpack {

struct DLPackVersion {
  std::uint32_t major;
  std::uint32_t minor;
};

/// The version that byre writes; byre reads all versions with this major number.
inline constexpr DLPackVersion version{1, 1};

/// The device types to which byre gives a name. All others are plain numbers.
enum DLDeviceType : std::int32_t {
  kDLCPU = 1,
  kDLExtDev = 12,
};

struct DLDevice {
  std::int32_t device_type;
  std::int32_t device_id;
};

/// The codes of element types that byre has dtypes for.
enum DLDataTypeCode : std::uint8_t {
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLBfloat = 4,
  kDLComplex = 5,
  kDLBool = 6,
};

struct DLDataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t* shape;    ///< in elements
  std::int64_t* strides;  ///< in elements; null, as older libraries export it, means row-major
  std::uint64_t byte_offset;
};

/// The structure before DLPack 1.0, which has no read-only flag.
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);  ///< may be null
};

inline constexpr std::uint64_t DLPACK_FLAG_BITMASK_READ_ONLY = 1;
inline constexpr std::uint64_t DLPACK_FLAG_BITMASK_IS_COPIED = 2;

struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);  ///< may be null
  std::uint64_t flags;
  DLTensor dl_tensor;
};

static_assert(sizeof(DLDataType) == 4 && sizeof(DLDevice) == 8);
static_assert(sizeof(void*) != 8 || (sizeof(DLTensor) == 48 && sizeof(DLManagedTensor) == 64 &&
                                     sizeof(DLManagedTensorVersioned) == 80 &&
                                     offsetof(DLManagedTensorVersioned, deleter) == 16));

}  // namespace byre::inline BYRE_ABI::dlpack
