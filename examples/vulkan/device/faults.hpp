// SPDX-License-Identifier: BSL-1.0
/// For tests: calls of the driver that fail when they are told to, barriers that are left out, and time that passes.
#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>

namespace examples::vulkan::faults {

/// From now on, the `nth` call (1: the next) answers `result`, `times` times in a row, and does nothing. Of the whole
/// process.
void fail_submit(unsigned nth, VkResult result, unsigned times = 1) noexcept;
void fail_allocate_memory(unsigned nth, VkResult result, unsigned times = 1) noexcept;
/// No call fails any more, and no barrier is left out.
void clear() noexcept;

/// From now on, the queue records no barriers where it should, so that it can be seen that validation notices.
void leave_out_barriers() noexcept;
bool leaves_out_barriers() noexcept;

/// From now on, the clock by which the memory gives back what nobody needs is ahead by so much more.
void pass_seconds(std::uint64_t seconds) noexcept;
std::uint64_t seconds_ahead() noexcept;

/// vkQueueSubmit2 of one submission, and vkAllocateMemory, as the rest calls them.
VkResult submit(VkQueue queue, const VkSubmitInfo2& submission) noexcept;
VkResult allocate_memory(VkDevice device, const VkMemoryAllocateInfo& info,
                         VkDeviceMemory* memory) noexcept;

}  // namespace examples::vulkan::faults
