// SPDX-License-Identifier: BSL-1.0
/// For tests: calls of the driver that fail when they are told to, barriers that are left out, and time that passes.
#pragma once

#include <vulkan/vulkan.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

namespace examples::vulkan::faults {

/// The calls of one function of the driver, in the whole process. Thread-safe.
class Calls {
 public:
  /// From now on, the `nth` call (1: the next) answers `result`, `times` times in a row, and does nothing.
  void fail(unsigned nth, VkResult result, unsigned times = 1) noexcept {
    const std::lock_guard lock(mutex_);
    calls_before_ = nth - 1;
    times_ = times;
    result_ = result;
  }

  /// The answer of this call: VK_SUCCESS if it is to be made.
  VkResult next() noexcept {
    const std::lock_guard lock(mutex_);
    if (times_ == 0 ||
        std::exchange(calls_before_, calls_before_ == 0 ? 0 : calls_before_ - 1) != 0) {
      return VK_SUCCESS;
    }
    --times_;
    return result_;
  }

 private:
  std::mutex mutex_;
  unsigned calls_before_ = 0;
  unsigned times_ = 0;
  VkResult result_ = VK_SUCCESS;
};

inline constinit Calls submit;
inline constinit Calls allocate_memory;
/// Whether the queue records no barriers where it should, so that validation is seen to notice.
inline constinit std::atomic<bool> leave_out_barriers{false};
/// How far the clock is ahead by which the memory gives back what is not needed.
inline constinit std::atomic<std::uint64_t> seconds_ahead{0};

}  // namespace examples::vulkan::faults
