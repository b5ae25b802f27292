// SPDX-License-Identifier: BSL-1.0
/// DeviceAllocator: an example of an allocator for a device whose memory the host cannot address.
#pragma once

#include <byre/memory/allocator.hpp>

#include <cstddef>
#include <cstring>
#include <iterator>
#include <map>
#include <stdexcept>

#include "support/protected_pages.hpp"

namespace byre::test {

/// Represents device memory by pages that are accessible only during copies of this allocator. Any
/// other access ends the test. For one thread.
class DeviceAllocator final : public Allocator {
 public:
  explicit DeviceAllocator(Device device = Device(1, 0)) : Allocator(device) {}

  Block allocate(const Request& request) override {
    largest_prefix_ = request.prefix > largest_prefix_ ? request.prefix : largest_prefix_;
    const std::size_t nbytes = round_up(request.prefix + request.nbytes + 1);
    void* place = map_pages(nbytes);
    std::memset(place, 0xA5, nbytes);  // represents indeterminate contents
    set_access(place, nbytes, false);
    blocks_[place] = {nbytes, static_cast<std::byte*>(place) + request.prefix + request.nbytes};
    return {static_cast<std::byte*>(place) + request.prefix, request.nbytes, place};
  }

  void deallocate(const Block& block) noexcept override {
    const auto found = blocks_.find(block.base);
    unmap_pages(found->first, found->second.nbytes);
    blocks_.erase(found);
  }

  void copy(void* destination, const void* source, std::size_t nbytes) override {
    ++copies_;
    expect_within_block(destination, nbytes);
    expect_within_block(source, nbytes);
    set_host_access(true);
    std::memcpy(destination, source, nbytes);
    set_host_access(false);
  }

  const char* name() const noexcept override { return "device"; }

  /// fill() and value_at() represent uploads to and downloads from the device.
  void fill(void* data, int value, std::size_t nbytes) {
    set_host_access(true);
    std::memset(data, value, nbytes);
    set_host_access(false);
  }
  int value_at(const std::byte* data) {
    set_host_access(true);
    const int value = std::to_integer<int>(*data);
    set_host_access(false);
    return value;
  }

  int copies() const { return copies_; }
  std::size_t blocks_out() const { return blocks_.size(); }
  std::size_t largest_prefix() const { return largest_prefix_; }

 private:
  static std::size_t round_up(std::size_t nbytes) { return (nbytes + 4095) / 4096 * 4096; }
  /// Throws if `data` is in a block of the device and the copy exceeds the requested bytes of that
  /// block.
  void expect_within_block(const void* data, std::size_t nbytes) const {
    const auto next = blocks_.upper_bound(const_cast<void*>(data));
    if (next == blocks_.begin()) {
      return;
    }
    const auto& [place, pages] = *std::prev(next);
    const auto* const first = static_cast<const std::byte*>(data);
    if (first < static_cast<const std::byte*>(place) + pages.nbytes &&
        (first > pages.end || nbytes > static_cast<std::size_t>(pages.end - first))) {
      throw std::out_of_range("a copy exceeds a block of the device");
    }
  }
  void set_host_access(bool may) {
    for (const auto& [place, pages] : blocks_) {
      set_access(place, pages.nbytes, may);
    }
  }

  struct Pages {
    std::size_t nbytes;
    const std::byte* end;  ///< the end of the requested bytes
  };
  std::map<void*, Pages> blocks_;
  std::size_t largest_prefix_ = 0;
  int copies_ = 0;
};

}  // namespace byre::test
