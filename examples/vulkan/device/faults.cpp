// SPDX-License-Identifier: BSL-1.0
#include "vulkan/device/faults.hpp"

#include <atomic>
#include <mutex>

namespace examples::vulkan::faults {
namespace {

/// Of one function.
class Fault {
 public:
  void set(unsigned nth, VkResult result, unsigned times) noexcept {
    const std::lock_guard lock(mutex_);
    calls_before_ = nth == 0 ? 0 : nth - 1;
    times_ = nth == 0 ? 0 : times;
    result_ = result;
  }

  /// What this call answers.
  VkResult take() noexcept {
    const std::lock_guard lock(mutex_);
    if (times_ == 0) {
      return VK_SUCCESS;
    }
    if (calls_before_ != 0) {
      --calls_before_;
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

constinit Fault of_submit;
constinit Fault of_allocate_memory;
constinit std::atomic<bool> barriers_left_out{false};
constinit std::atomic<std::uint64_t> seconds_passed{0};

}  // namespace

void fail_submit(unsigned nth, VkResult result, unsigned times) noexcept {
  of_submit.set(nth, result, times);
}

void fail_allocate_memory(unsigned nth, VkResult result, unsigned times) noexcept {
  of_allocate_memory.set(nth, result, times);
}

void clear() noexcept {
  of_submit.set(0, VK_SUCCESS, 0);
  of_allocate_memory.set(0, VK_SUCCESS, 0);
  barriers_left_out.store(false, std::memory_order_relaxed);
}

void leave_out_barriers() noexcept {
  barriers_left_out.store(true, std::memory_order_relaxed);
}

bool leaves_out_barriers() noexcept {
  return barriers_left_out.load(std::memory_order_relaxed);
}

void pass_seconds(std::uint64_t seconds) noexcept {
  seconds_passed.fetch_add(seconds, std::memory_order_relaxed);
}

std::uint64_t seconds_ahead() noexcept {
  return seconds_passed.load(std::memory_order_relaxed);
}

VkResult submit(VkQueue queue, const VkSubmitInfo2& submission) noexcept {
  const VkResult fault = of_submit.take();
  return fault != VK_SUCCESS ? fault : vkQueueSubmit2(queue, 1, &submission, VK_NULL_HANDLE);
}

VkResult allocate_memory(VkDevice device, const VkMemoryAllocateInfo& info,
                         VkDeviceMemory* memory) noexcept {
  const VkResult fault = of_allocate_memory.take();
  return fault != VK_SUCCESS ? fault : vkAllocateMemory(device, &info, nullptr, memory);
}

}  // namespace examples::vulkan::faults
