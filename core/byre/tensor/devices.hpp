// SPDX-License-Identifier: BSL-1.0
/// The registry of devices: a device registers the functions that tensors need to use its memory.
/// The host, the CPU with its memory, is always registered; a library that implements another
/// device registers that device.
#pragma once

#include <byre/config.hpp>
#include <byre/error/error.hpp>
#include <byre/memory/allocator.hpp>

#include <cstddef>

namespace byre::inline BYRE_ABI {

/// Thrown if a device is not registered, or an operation does not support the tensor's device.
class BYRE_API DeviceError : public Error {
 public:
  using Error::Error;
};

/// The interface that a device implements. The implementation must outlive every tensor on the
/// device, and every member must be safe to call on any thread, concurrently.
class BYRE_API DeviceSupport {
 public:
  virtual ~DeviceSupport() = default;

  /// The allocator of the device's tensors. Its Allocator::copy copies within the device.
  virtual Allocator& allocator() noexcept = 0;
  /// Copy `nbytes` bytes between the device and the host. The copy must be complete on return. An
  /// implementation that throws must not have changed the destination.
  virtual void copy_to_host(void* destination, const void* source, std::size_t nbytes) = 0;
  virtual void copy_from_host(void* destination, const void* source, std::size_t nbytes) = 0;
  /// The device's name in messages, for example "accelerator".
  virtual const char* name() const noexcept = 0;
};

/// Registers `device` until the process ends. Call this function once for each device, before the
/// first tensor on it. Throws DeviceError if `device` is the host or is registered already, or if
/// the allocator of `support` belongs to another device; OutOfMemory if memory is exhausted. Takes
/// a lock. Thread-safe.
BYRE_API void register_device(Device device, DeviceSupport& support);

/// The implementation of `device`. Throws DeviceError if `device` is not registered. Takes a lock,
/// except for the host. Thread-safe.
BYRE_API DeviceSupport& support_of(Device device);

/// The device in messages: "cpu" or "device 3:0 (accelerator)". Takes a lock, except for the host.
/// Thread-safe.
BYRE_API Text describe(Device device) noexcept;

}  // namespace byre::inline BYRE_ABI
