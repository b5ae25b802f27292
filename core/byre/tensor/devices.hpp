// SPDX-License-Identifier: BSL-1.0
/// The registry of devices: the functions that a device provides so that tensors can use its
/// memory. The host is always registered; the library that implements another device registers it.
#pragma once

#include <byre/config.hpp>
#include <byre/error/error.hpp>
#include <byre/memory/allocator.hpp>

#include <cstddef>

namespace byre::inline v0 {

/// Thrown if a device is not registered, or an operation does not support the tensor's device.
class BYRE_API DeviceError : public Error {
 public:
  using Error::Error;
};

/// The interface that a device implements. Requires that it outlives every tensor on the device and
/// that any thread may call any member.
class BYRE_API DeviceSupport {
 public:
  virtual ~DeviceSupport() = default;

  /// The allocator of the device's tensors. Its Allocator::copy copies within the device.
  virtual Allocator& allocator() noexcept = 0;
  /// Copies between the device and the host; the copy is complete on return. If it throws, it must
  /// not have changed anything.
  virtual void copy_to_host(void* destination, const void* source, std::size_t nbytes) = 0;
  virtual void copy_from_host(void* destination, const void* source, std::size_t nbytes) = 0;
  /// For messages: "accelerator".
  virtual const char* name() const noexcept = 0;
};

/// Registers `device`, once, before the first tensor on it. Throws DeviceError if `device` is the
/// host or is registered already, or if the device of the allocator of `support` is another one;
/// OutOfMemory. Thread-safe.
BYRE_API void register_device(Device device, DeviceSupport& support);

/// Throws DeviceError if `device` is not registered. Takes a lock, except for the host.
/// Thread-safe.
BYRE_API DeviceSupport& support_of(Device device);

/// For messages: "cpu", "device 3:0 (accelerator)". Thread-safe.
BYRE_API Text describe(Device device) noexcept;

}  // namespace byre::inline v0
