// SPDX-License-Identifier: BSL-1.0
/// A device whose memory has every bit inverted: who reads it as the host's reads nonsense.
#pragma once

#include <byre/tensor/devices.hpp>

#include <cstddef>

#include "support/failing_allocator.hpp"

namespace byre::test {

class InvertingDevice final : public DeviceSupport {
 public:
  /// Registered when it is first asked for.
  static Device device() {
    static InvertingDevice support;
    static const bool is_registered = (register_device(number, support), true);
    static_cast<void>(is_registered);
    return number;
  }

  Allocator& allocator() noexcept override { return allocator_; }
  void copy_to_host(void* destination, const void* source, std::size_t nbytes) override {
    invert(destination, source, nbytes);
  }
  void copy_from_host(void* destination, const void* source, std::size_t nbytes) override {
    invert(destination, source, nbytes);
  }
  const char* name() const noexcept override { return "inverting"; }

 private:
  static constexpr Device number{77, 1};

  static void invert(void* destination, const void* source, std::size_t nbytes) {
    for (std::size_t at = 0; at < nbytes; ++at) {
      static_cast<std::byte*>(destination)[at] = ~static_cast<const std::byte*>(source)[at];
    }
  }

  FailingAllocator allocator_{number};
};

}  // namespace byre::test
