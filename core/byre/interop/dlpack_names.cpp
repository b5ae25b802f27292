// SPDX-License-Identifier: BSL-1.0
#include <byre/interop/detail/dlpack.hpp>
#include <byre/interop/dlpack.hpp>
#include <byre/tensor/devices.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

namespace byre::inline BYRE_ABI {
namespace {

using dlpack::DLDataType;

struct DTypeMapping {
  DType dtype;
  DLDataType type;
};

constexpr std::array<DTypeMapping, 11> dlpack_dtypes{
    {{DType::boolean, {dlpack::kDLBool, 8, 1}},
     {DType::u8, {dlpack::kDLUInt, 8, 1}},
     {DType::i8, {dlpack::kDLInt, 8, 1}},
     {DType::i16, {dlpack::kDLInt, 16, 1}},
     {DType::i32, {dlpack::kDLInt, 32, 1}},
     {DType::i64, {dlpack::kDLInt, 64, 1}},
     {DType::f16, {dlpack::kDLFloat, 16, 1}},
     {DType::bf16, {dlpack::kDLBfloat, 16, 1}},
     {DType::f32, {dlpack::kDLFloat, 32, 1}},
     {DType::f64, {dlpack::kDLFloat, 64, 1}},
     {DType::complex64, {dlpack::kDLComplex, 64, 1}}}};

/// DLPack uses the number 1 for the CPU, so devices of kind 1 become kDLExtDev.
constexpr std::uint16_t extension_kind = 1;

bool is_registered(Device device) {
  try {
    static_cast<void>(support_of(device));
    return true;
  } catch (const DeviceError&) {
    return false;
  }
}

}  // namespace

dlpack::DLDevice dlpack_device(Device device) {
  if (device.is_cpu()) {
    return {dlpack::kDLCPU, 0};
  }
  static_cast<void>(support_of(device));
  const bool is_extension = device.kind() == extension_kind;
  return {is_extension ? std::int32_t{dlpack::kDLExtDev} : device.kind(), device.index()};
}

dlpack::DLDataType dlpack_dtype(DType dtype) {
  const auto* const found = std::ranges::find_if(
      dlpack_dtypes, [&](const DTypeMapping& name) { return name.dtype == dtype; });
  if (found == dlpack_dtypes.end()) {
    detail::refuse_uninitialized_dtype("DLPack", dtype);
  }
  return found->type;
}

namespace detail {

Device device_of(dlpack::DLDevice device) {
  constexpr std::int32_t most = std::numeric_limits<std::uint16_t>::max();
  if (device.device_type == dlpack::kDLCPU) {
    return Device::cpu();
  }
  if (device.device_type < 2 || device.device_type > most || device.device_id < 0 ||
      device.device_id > most) {
    throw DeviceError(
        format_text("from_dlpack: unsupported device %d:%d. Copy the tensor to the host first.",
                    device.device_type, device.device_id));
  }
  const auto index = static_cast<std::uint16_t>(device.device_id);
  const Device same(static_cast<std::uint16_t>(device.device_type), index);
  const Device extension(extension_kind, index);
  if (device.device_type == dlpack::kDLExtDev && !is_registered(same) && is_registered(extension)) {
    return extension;
  }
  if (!is_registered(same)) {
    throw DeviceError(format_text(
        "from_dlpack: the tensor is on DLPack device %d:%d, but device %u:%u is not registered. "
        "Call register_device(), or copy the tensor to the host first.",
        device.device_type, device.device_id, unsigned{same.kind()}, unsigned{same.index()}));
  }
  return same;
}

DType dtype_of_dlpack(DLDataType type) {
  const auto* const found = std::ranges::find_if(dlpack_dtypes, [&](const DTypeMapping& name) {
    return name.type.code == type.code && name.type.bits == type.bits && type.lanes == 1;
  });
  if (found == dlpack_dtypes.end()) {
    throw DTypeError(
        format_text("from_dlpack: unsupported elements: type code %u, %u bits, %u lanes. Export "
                    "one of bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64 or complex64.",
                    unsigned{type.code}, unsigned{type.bits}, unsigned{type.lanes}));
  }
  return found->dtype;
}

}  // namespace detail
}  // namespace byre::inline BYRE_ABI
