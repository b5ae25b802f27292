// SPDX-License-Identifier: BSL-1.0
/// An allocator as users write one: of a device the host cannot address.
#pragma once

#include <byre/memory/allocator.hpp>

#include <sys/mman.h>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <map>
#include <stdexcept>

namespace byre::test {

/// Memory of a device: pages the host may not touch, so that touching them ends the test, but for
/// the time of its own copies. For one thread.
class DeviceAllocator final : public Allocator {
 public:
  explicit DeviceAllocator(Device device = Device(1, 0)) : Allocator(device) {}

  Block allocate(const Request& request) override {
    largest_prefix_ = request.prefix > largest_prefix_ ? request.prefix : largest_prefix_;
    const std::size_t nbytes = round_up(request.prefix + request.nbytes + 1);
    void* place =
        ::mmap(nullptr, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memset(place, 0xA5, nbytes);  // what was there before
    ::mprotect(place, nbytes, PROT_NONE);
    nbytes_of_[place] = nbytes;
    end_of_[place] = static_cast<std::byte*>(place) + request.prefix + request.nbytes;
    return {static_cast<std::byte*>(place) + request.prefix, request.nbytes, place};
  }

  void deallocate(const Block& block) noexcept override {
    const auto found = nbytes_of_.find(block.base);
    ::munmap(found->first, found->second);
    nbytes_of_.erase(found);
    end_of_.erase(block.base);
  }

  void copy(void* destination, const void* source, std::size_t nbytes) override {
    ++copies_;
    expect_within_block(destination, nbytes);
    expect_within_block(source, nbytes);
    let_host(true);
    std::memcpy(destination, source, nbytes);
    let_host(false);
  }

  const char* name() const noexcept override { return "device"; }

  /// As an engine's upload and download.
  void fill(void* data, int value, std::size_t nbytes) {
    let_host(true);
    std::memset(data, value, nbytes);
    let_host(false);
  }
  int value_at(const std::byte* data) {
    let_host(true);
    const int value = std::to_integer<int>(*data);
    let_host(false);
    return value;
  }

  int copies() const { return copies_; }
  std::size_t blocks_out() const { return nbytes_of_.size(); }
  std::size_t largest_prefix() const { return largest_prefix_; }

 private:
  static std::size_t round_up(std::size_t nbytes) { return (nbytes + 4095) / 4096 * 4096; }
  /// Of its own memory a copy takes no more than was asked for.
  void expect_within_block(const void* data, std::size_t nbytes) const {
    const auto next = end_of_.upper_bound(const_cast<void*>(data));
    if (next == end_of_.begin()) {
      return;
    }
    const auto& [place, end] = *std::prev(next);
    const auto* const first = static_cast<const std::byte*>(data);
    const std::byte* const mapped =
        static_cast<const std::byte*>(place) + nbytes_of_.at(const_cast<void*>(place));
    if (first < mapped && (first > end || nbytes > static_cast<std::size_t>(end - first))) {
      throw std::out_of_range("a copy goes beyond a block of the device");
    }
  }
  void let_host(bool may) {
    for (const auto& [place, nbytes] : nbytes_of_) {
      ::mprotect(place, nbytes, may ? PROT_READ | PROT_WRITE : PROT_NONE);
    }
  }

  std::map<void*, std::size_t> nbytes_of_;
  std::map<void*, const std::byte*> end_of_;  ///< of what was asked for
  std::size_t largest_prefix_ = 0;
  int copies_ = 0;
};

}  // namespace byre::test
