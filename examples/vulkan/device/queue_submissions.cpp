// SPDX-License-Identifier: BSL-1.0
/// The part of Queue that orders and submits commands, and finds out that they have been executed.
#include <algorithm>
#include <byre/error/error.hpp>

#include "vulkan/device/faults.hpp"
#include "vulkan/device/memory.hpp"
#include "vulkan/device/queue.hpp"

namespace examples::vulkan {
namespace {

constexpr VkPipelineStageFlags2 stages =
    VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
constexpr VkAccessFlags2 writes =
    VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT;
constexpr VkAccessFlags2 reads =
    VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_TRANSFER_READ_BIT;

void put_barrier(VkCommandBuffer buffer, VkPipelineStageFlags2 later_stages,
                 VkAccessFlags2 later_accesses) {
  const VkMemoryBarrier2 barrier{.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                                 .srcStageMask = stages,
                                 .srcAccessMask = writes,
                                 .dstStageMask = later_stages,
                                 .dstAccessMask = later_accesses};
  const VkDependencyInfo dependency{.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                    .memoryBarrierCount = 1,
                                    .pMemoryBarriers = &barrier};
  vkCmdPipelineBarrier2(buffer, &dependency);
}

Owned<VkSemaphore, vkDestroySemaphore> make_timeline(VkDevice device) {
  const VkSemaphoreTypeCreateInfo type{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                       .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
  const VkSemaphoreCreateInfo info{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                   .pNext = &type};
  return {device, vkCreateSemaphore, info, "vkCreateSemaphore"};
}

VkSemaphoreSubmitInfo at_value(VkSemaphore semaphore, std::uint64_t value) noexcept {
  return {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
          .semaphore = semaphore,
          .value = value,
          .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
}

/// Lets the device continue after a Hold.
void signal(VkDevice device, VkSemaphore semaphore, std::uint64_t value) noexcept {
  const VkSemaphoreSignalInfo info{
      .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = semaphore, .value = value};
  vkSignalSemaphore(device, &info);
}

}  // namespace

Queue::Queue(const Driver& driver, DeviceMemory& memory)
    : driver_(driver),
      memory_(memory),
      pipelines_(driver),
      timeline_(make_timeline(driver.device)),
      held_(make_timeline(driver.device)) {}

Queue::~Queue() {
  vkDeviceWaitIdle(driver_.device);
}

void Queue::expect_device() const {
  if (::getpid() != process_) {
    throw VulkanError(byre::format_text(
        "cannot use the Vulkan device of process %d in a child of it: the driver's threads do not "
        "exist in the child. Move tensors to the host before fork(), or call exec() after it.",
        static_cast<int>(process_)));
  }
  if (is_lost()) {
    check(VK_ERROR_DEVICE_LOST, "a call after that");
  }
}

Commands& Queue::open(const Lock&) {
  expect_device();
  if (open_.empty()) {
    if (free_.empty()) {
      free_.emplace_back(driver_);
    }
    free_.front().begin();
    open_.splice(open_.end(), free_, free_.begin());
  }
  return open_.front();
}

/// Called before a command with these accesses is recorded. If one of them depends on an access
/// since the last barrier, records a barrier for all memory.
void Queue::order(Commands& commands, std::span<const Access> accesses) {
  const bool depends = std::any_of(accesses.begin(), accesses.end(), [this](const Access& access) {
    const DeviceBlock* const block = access.block;
    return block != nullptr &&
           (block->written_in == epoch_ || (access.kind != Use::read && block->read_in == epoch_));
  });
  if (depends && !faults::leave_out_barriers.load(std::memory_order_relaxed)) {
    put_barrier(commands.buffer(), stages, reads | writes);
    ++epoch_;
    ++stats_.barriers;
  }
  for (const auto& [kind, bytes, block] : accesses) {
    if (block != nullptr) {
      block->last_use = next_value_;
      (kind == Use::read ? block->read_in : block->written_in) = epoch_;
    }
  }
  ++commands.recorded;
}

void Queue::submit_if_full(Lock& lock) noexcept {
  if (open_.front().recorded < Commands::most) {
    return;
  }
  try {
    submit_recorded(lock);
    retire(lock);
  } catch (const VulkanError&) {
    // The next submission submits the refused commands too. If the device is lost, the next call
    // throws.
  }
}

void Queue::close(Lock& lock) {
  Commands& commands = open_.front();
  put_barrier(commands.buffer(), VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
  if (const VkResult result = vkEndCommandBuffer(commands.buffer()); result != VK_SUCCESS) {
    become_lost(lock);  // the recorded commands can never be executed
    check(VK_ERROR_DEVICE_LOST, "vkEndCommandBuffer");
  }
  commands.value = next_value_++;
  closed_.splice(closed_.end(), open_);
}

std::uint64_t Queue::submit_recorded(Lock& lock) {
  if (!open_.empty() && open_.front().recorded != 0) {
    close(lock);
  }
  while (!closed_.empty()) {
    Commands& commands = closed_.front();
    const VkSemaphoreSubmitInfo signal = at_value(timeline_, commands.value);
    const VkCommandBufferSubmitInfo buffer{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                           .commandBuffer = commands.buffer()};
    const VkSubmitInfo2 info{.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                             .commandBufferInfoCount = 1,
                             .pCommandBufferInfos = &buffer,
                             .signalSemaphoreInfoCount = 1,
                             .pSignalSemaphoreInfos = &signal};
    const VkFence none = VK_NULL_HANDLE;
    expect_success(lock, faults::submit.call(vkQueueSubmit2, driver_.queue, 1U, &info, none),
                   "vkQueueSubmit2");
    ++stats_.submissions;
    submitted_.splice(submitted_.end(), closed_, closed_.begin());
  }
  return next_value_ - 1;
}

std::uint64_t Queue::submit() {
  Lock lock(mutex_);
  expect_device();
  const std::uint64_t value = submit_recorded(lock);
  retire(lock);
  return value;
}

void Queue::wait(std::uint64_t value) {
  Lock lock(mutex_);
  expect_device();
  if (!has_passed(value)) {
    value = std::min(value, submit_recorded(lock));
  }
  lock.unlock();
  wait_for_passing(value);
}

void Queue::wait_idle() {
  wait(forever);
}

/// Does not submit: at this time the validation layer may have destroyed the state that it needs
/// for a submission.
void Queue::finish() noexcept {
  if (::getpid() == process_) {
    vkDeviceWaitIdle(driver_.device);
  }
}

void Queue::wait_for_passing(std::uint64_t value) {
  if (!has_passed(value)) {
    const VkSemaphore timeline = timeline_;
    const VkSemaphoreWaitInfo info{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                   .semaphoreCount = 1,
                                   .pSemaphores = &timeline,
                                   .pValues = &value};
    const VkResult result = vkWaitSemaphores(driver_.device, &info, forever);
    Lock lock(mutex_);
    expect_success(lock, result, "vkWaitSemaphores");
    retire(lock);
  }
  expect_device();
}

void Queue::poll() noexcept {
  Lock lock(mutex_);
  retire(lock);
}

void Queue::retire(Lock& lock) noexcept {
  std::uint64_t value = 0;
  if (!is_lost() &&
      vkGetSemaphoreCounterValue(driver_.device, timeline_, &value) == VK_ERROR_DEVICE_LOST) {
    become_lost(lock);
    return;
  }
  value = std::max(value, passed());
  passed_.store(value, std::memory_order_release);
  while (!submitted_.empty() && submitted_.front().value <= value) {
    submitted_.front().reset();
    free_.splice(free_.begin(), submitted_, submitted_.begin());
  }
  std::list<Pending> made;
  const auto first_pending = std::find_if(pending_.begin(), pending_.end(),
                                          [&](const Pending& copy) { return copy.value > value; });
  made.splice(made.end(), pending_, pending_.begin(), first_pending);
  lock.unlock();
  made.clear();  // may release blocks, which takes the lock
  memory_.free_passed(value);
}

/// Ends every wait and all copies, and drops the recorded commands. The contents of the device are
/// lost.
void Queue::become_lost(Lock& lock) noexcept {
  if (holds_ != 0) {
    signal(driver_.device, held_, holds_);
  }
  vkDeviceWaitIdle(driver_.device);
  passed_.store(forever, std::memory_order_release);
  open_.clear();
  closed_.clear();
  retire(lock);
}

void Queue::expect_success(Lock& lock, VkResult result, const char* call) {
  if (result == VK_ERROR_DEVICE_LOST && !is_lost()) {
    become_lost(lock);
  }
  check(result, call);
}

Queue::Hold::Hold(Queue& queue) : queue_(&queue) {
  Lock lock(queue.mutex_);
  queue.expect_device();
  queue.submit_recorded(lock);
  value_ = ++queue.holds_;
  const VkSemaphoreSubmitInfo wait = at_value(queue.held_, value_);
  const VkSubmitInfo2 info{.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                           .waitSemaphoreInfoCount = 1,
                           .pWaitSemaphoreInfos = &wait};
  check(vkQueueSubmit2(queue.driver_.queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit2");
}

void Queue::Hold::release() noexcept {
  if (queue_ != nullptr) {
    signal(queue_->driver_.device, queue_->held_, value_);
    queue_ = nullptr;
  }
}

}  // namespace examples::vulkan
