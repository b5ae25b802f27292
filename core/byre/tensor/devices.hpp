// SPDX-License-Identifier: BSL-1.0
/// The registry of devices: what a kind of memory brings so that tensors can live in it. The host
/// is always there; others are registered by whoever implements them.
#pragma once

#include <byre/config.hpp>
#include <byre/error/error.hpp>
#include <byre/memory/allocator.hpp>

#include <cstddef>

namespace byre::inline v0 {

/// A device that is not registered, or an operation that this device has no kernel for.
class BYRE_API DeviceError : public Error {
 public:
  using Error::Error;
};

/// What a device implements. Thread-safety: every member may be called from any thread. Lifetime:
/// outlives every tensor on the device.
class BYRE_API DeviceSupport {
 public:
  virtual ~DeviceSupport() = default;

  /// Where its tensors take their memory; Allocator::copy copies within the device.
  virtual Allocator& allocator() noexcept = 0;
  /// Between the device and the host; complete on return. May throw: nothing has changed then.
  virtual void copy_to_host(void* destination, const void* source, std::size_t nbytes) = 0;
  virtual void copy_from_host(void* destination, const void* source, std::size_t nbytes) = 0;
  /// For messages: "accelerator".
  virtual const char* name() const noexcept = 0;
};

/// Makes `device` known, once, before it is used. Throws DeviceError if it is known already or is
/// the host, or if the support's allocator is of another device. Thread-safe.
BYRE_API void register_device(Device device, DeviceSupport& support);

/// Throws DeviceError for a device nobody registered. Thread-safe.
BYRE_API DeviceSupport& support_of(Device device);

/// "cpu", "device 3:0 (accelerator)".
BYRE_API Text describe(Device device) noexcept;

}  // namespace byre::inline v0
