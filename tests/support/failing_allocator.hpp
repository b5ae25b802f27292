// SPDX-License-Identifier: BSL-1.0
/// FailingAllocator: an allocator that can be told to fail, records its blocks, and can stop in the
/// middle of a copy.
#pragma once

#include <byre/memory/allocator.hpp>
#include <byre/memory/host_allocators.hpp>

#include <cstddef>
#include <cstring>
#include <functional>
#include <limits>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <utility>

#include "at_once.hpp"

namespace byre::test {

/// Thread-safe.
class FailingAllocator final : public Allocator {
 public:
  static constexpr int never = std::numeric_limits<int>::max();

  /// Thrown by a copy that was told to fail. It stands for an error type of the user.
  struct CopyFailed : std::runtime_error {
    CopyFailed() : runtime_error("the copy engine is on fire") {}
  };

  FailingAllocator() = default;
  explicit FailingAllocator(Device device) : Allocator(device) {}

  Block allocate(const Request& request) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const int number = allocations_until_failure_--;
    if (number <= 0 && number > -failing_allocations_) {
      throw std::bad_alloc();
    }
    const Block block = aligned_allocator().allocate(request);
    std::memset(block.data, 0xA5, request.nbytes);
    try {
      out_.insert(block.data);
    } catch (...) {
      aligned_allocator().deallocate(block);
      throw;
    }
    ++allocations_;
    return block;
  }

  void deallocate(const Block& block) noexcept override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (out_.erase(block.data) != 1) {
      ++wrong_releases_;
      return;
    }
    std::memset(block.data, 0x5A, block.capacity);
    aligned_allocator().deallocate(block);
  }

  void copy(void* destination, const void* source, std::size_t nbytes) override {
    try {
      if (const auto during = count_copy()) {
        during();
      }
    } catch (...) {
      std::memset(destination, 0xEE, nbytes / 2);  // as if the copy failed half-way
      throw;
    }
    Allocator::copy(destination, source, nbytes);
  }

  const char* name() const noexcept override { return "test allocator"; }

  /// Lets `times` allocations fail, the first of them number `nth` from now, counted from 0.
  void fail_allocation(int nth, int times = 1) {
    const std::lock_guard<std::mutex> lock(mutex_);
    allocations_until_failure_ = nth;
    failing_allocations_ = times;
  }
  void fail_copy(int nth) { set(copies_until_failure_, nth); }
  /// Calls `action` in each copy. If `action` throws, the copy fails with that exception.
  void during_copy(std::function<void()> action) { set(during_copy_, std::move(action)); }
  /// Stops the next copy at `halt`.
  void halt_copy(Halt& halt) {
    during_copy([this, &halt] {
      during_copy(nullptr);
      halt.enter();
    });
  }

  int allocations() const { return get(allocations_); }
  int copies() const { return get(copies_); }
  int wrong_releases() const { return get(wrong_releases_); }
  std::size_t blocks_out() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return out_.size();
  }

 private:
  template <class Member>
  void set(Member& member, Member value) {
    const std::lock_guard<std::mutex> lock(mutex_);
    member = std::move(value);
  }
  template <class Member>
  Member get(const Member& member) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return member;
  }
  std::function<void()> count_copy() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++copies_;
    return copies_until_failure_-- == 0 ? [] { throw CopyFailed(); } : during_copy_;
  }

  mutable std::mutex mutex_;
  std::set<const void*> out_;
  std::function<void()> during_copy_;
  int allocations_until_failure_ = never;
  int failing_allocations_ = 1;
  int copies_until_failure_ = never;
  int allocations_ = 0;
  int copies_ = 0;
  int wrong_releases_ = 0;
};

}  // namespace byre::test
