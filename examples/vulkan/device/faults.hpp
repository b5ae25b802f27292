// SPDX-License-Identifier: BSL-1.0
/// For tests: calls of the driver that fail when they are told to, barriers that are left out, and time that passes.
#pragma once

#include <vulkan/vulkan.h>

#include <atomic>
#include <cstdint>

namespace examples::vulkan::faults {

/// The calls of one function of the driver, in the whole process. Thread-safe.
class Calls {
 public:
  /// The next `times` calls answer `result`, and do nothing.
  void fail(VkResult result, unsigned times = 1) noexcept {
    result_ = result;
    times_ = times;
  }

  /// The answer of this call: a failure that is due, or the function's.
  template <class Function, class... Arguments>
  VkResult call(Function function, Arguments... arguments) noexcept {
    for (unsigned left = times_; left != 0;) {
      if (times_.compare_exchange_weak(left, left - 1)) {
        return result_;
      }
    }
    return function(arguments...);
  }

 private:
  std::atomic<VkResult> result_{VK_SUCCESS};
  std::atomic<unsigned> times_{0};
};

inline Calls submit;
inline Calls allocate_memory;
/// Whether the queue records no barriers where it should, so that validation is seen to notice.
inline std::atomic<bool> leave_out_barriers{false};
/// How far the clock is ahead by which the memory gives back what is not needed.
inline std::atomic<std::uint64_t> seconds_ahead{0};

}  // namespace examples::vulkan::faults
