// SPDX-License-Identifier: BSL-1.0
/// Faults that tests inject: failing calls of the driver, omitted barriers, and a clock that is
/// advanced.
#pragma once

#include <vulkan/vulkan.h>

#include <atomic>
#include <cstdint>

namespace examples::vulkan::faults {

/// All calls of one function of the driver in the process. Thread-safe.
class Calls {
 public:
  /// Makes the next `times` calls return `result` without any effect.
  void fail(VkResult result, unsigned times = 1) noexcept {
    result_ = result;
    times_ = times;
  }

  /// Returns the injected result if one is due, or else calls the function.
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
/// Whether the queue omits all barriers, to test that the validation layer detects this.
inline std::atomic<bool> leave_out_barriers{false};
/// By how many seconds the clock of DeviceMemory is ahead. The clock determines when idle memory is
/// returned.
inline std::atomic<std::uint64_t> seconds_ahead{0};

}  // namespace examples::vulkan::faults
