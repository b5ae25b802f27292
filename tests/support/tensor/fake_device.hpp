// SPDX-License-Identifier: BSL-1.0
/// FakeDevice: devices with memory that the host cannot access. An access by the host aborts the
/// test.
#pragma once

#include <byre/tensor/devices.hpp>

#include <cstddef>

#include "support/user_allocators.hpp"

namespace byre::test {

/// Not thread-safe: use all fake devices on one thread only.
class FakeDevice final : public DeviceSupport {
 public:
  /// Two devices, each registered at its first use.
  static FakeDevice& first() { return registered<1>(); }
  static FakeDevice& second() { return registered<2>(); }

  Allocator& allocator() noexcept override { return allocator_; }
  void copy_to_host(void* destination, const void* source, std::size_t nbytes) override {
    expect_transfer();
    ++downloads;
    allocator_.copy(destination, source, nbytes);
  }
  void copy_from_host(void* destination, const void* source, std::size_t nbytes) override {
    expect_transfer();
    ++uploads;
    allocator_.copy(destination, source, nbytes);
  }
  const char* name() const noexcept override { return "fake"; }

  Device device() const noexcept { return allocator_.device(); }
  std::size_t blocks_out() const { return allocator_.blocks_out(); }
  /// The number of copies within the device, without copies from and to the host.
  int copies() const { return allocator_.copies() - uploads - downloads; }

  bool fails_to_transfer = false;
  int uploads = 0;
  int downloads = 0;

 private:
  explicit FakeDevice(Device device) : allocator_(device) {}

  void expect_transfer() const {
    if (fails_to_transfer) {
      throw DeviceError(format_text("the device failed"));
    }
  }

  template <std::uint16_t Index>
  static FakeDevice& registered() {
    static FakeDevice support(Device(1, Index));
    static const bool is_registered = (register_device(support.device(), support), true);
    static_cast<void>(is_registered);
    return support;
  }

  DeviceAllocator allocator_;
};

}  // namespace byre::test
