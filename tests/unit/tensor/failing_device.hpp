// SPDX-License-Identifier: BSL-1.0
/// A device that is the host's memory, whose allocations and transfers fail when told to.
#pragma once

#include <byre/tensor/devices.hpp>

#include <cstring>

#include "support/failing_allocator.hpp"

namespace byre::test {

class FailingDevice final : public DeviceSupport {
 public:
  static FailingDevice& instance() {
    static FailingDevice support;
    static const bool is_registered = (register_device(Device(7, 7), support), true);
    static_cast<void>(is_registered);
    return support;
  }

  bool fails_to_transfer = false;

  FailingAllocator& allocator() noexcept override { return allocator_; }
  void copy_to_host(void* destination, const void* source, std::size_t nbytes) override {
    if (fails_to_transfer) {
      throw DeviceError(format_text("the device failed"));
    }
    std::memcpy(destination, source, nbytes);
  }
  void copy_from_host(void* destination, const void* source, std::size_t nbytes) override {
    copy_to_host(destination, source, nbytes);
  }
  const char* name() const noexcept override { return "failing"; }

 private:
  FailingAllocator allocator_{Device(7, 7)};
};

}  // namespace byre::test
