// SPDX-License-Identifier: BSL-1.0
/// The queue of the device: its commands take effect as if one after the other, in the order of recording.
///
/// Commands are collected in an open command buffer, which is submitted after `Commands::most` of them, when the host
/// waits, and with each copy for a writer of shared data. Each submission signals the next value of one timeline
/// semaphore: a value has passed once all that was recorded up to it has been executed.
///
/// The queue notes which blocks were read and written since the last barrier, and puts a barrier in front of a command
/// that depends on one of those: independent dispatches may overlap.
#pragma once

#include <sys/types.h>
#include <unistd.h>
#include <vulkan/vulkan.h>

#include <array>
#include <atomic>
#include <byre/memory/allocator.hpp>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>

#include "vulkan/device/commands.hpp"
#include "vulkan/device/driver.hpp"
#include "vulkan/device/memory.hpp"

namespace examples::vulkan {

/// Bytes of the device's memory that a dispatch reads, or writes.
struct Use {
  enum Kind : std::uint8_t { read, write };  ///< written bytes may be read too
  /// A multiple of VkPhysicalDeviceLimits::minStorageBufferOffsetAlignment, as a block's is.
  const void* address;
  std::size_t nbytes;  ///< bound as the next multiple of 4, at most maxStorageBufferRange
  Kind kind;
};

/// Since the process began, but for `allocations`.
struct QueueStats {
  std::uint64_t dispatches = 0;
  std::uint64_t copies = 0;  ///< within the device
  std::uint64_t bytes_copied = 0;
  std::uint64_t uploads = 0;
  std::uint64_t downloads = 0;
  std::uint64_t barriers = 0;
  std::uint64_t submissions = 0;
  /// There are now: command buffers, and pieces of memory for their arguments.
  std::uint64_t allocations = 0;
};

/// Thread-safe: what one thread records comes after what it recorded before, and after what happened before that.
/// A call throws VulkanError, DeviceLost, or byre::InvalidArgument for an address or a size that cannot be served;
/// nothing is recorded then. A child of the process has no device: its calls throw VulkanError.
class Queue {
 public:
  Queue(const Driver& driver, DeviceMemory& memory);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// uses[i] is binding i. Parameters, from 1 to Commands::most_put bytes, follow as the last binding.
  void dispatch(const Shader& shader, std::span<const Use> uses,
                std::span<const std::byte> parameters, const std::array<std::uint32_t, 3>& groups);

  /// Within the device; the two do not overlap. No bytes are no command. For a writer of shared data, it also submits
  /// and moves from `pending` what ends the copy; if that throws, `pending` is as it was.
  void copy(void* to, const void* from, std::size_t nbytes, byre::PendingCopy* pending = nullptr);
  /// Returns once the host's bytes were read.
  void upload(void* to, const void* from_host, std::size_t nbytes);
  /// Returns once the host has the bytes.
  void download(void* to_host, const void* from, std::size_t nbytes);

  /// Submits what is recorded, if anything is. Returns the value that passes after it.
  std::uint64_t submit();
  /// Waits until `value`, of submit(), has passed; submits first what is still to be.
  void wait(std::uint64_t value);
  void wait_idle();
  /// At the end of the process, as the driver's threads end together with their work: waits for what was submitted.
  void finish() noexcept;
  /// Ends the copies that were made, and recycles, without waiting. Submitting does that too.
  void poll() noexcept;
  /// The value that has passed, as far as was polled.
  std::uint64_t passed() const noexcept { return passed_.load(std::memory_order_acquire); }
  bool has_passed(std::uint64_t value) const noexcept { return value <= passed(); }
  bool is_lost() const noexcept { return passed() == forever; }

  /// For tests: the device executes nothing that is submitted later until release(), or the end of this.
  class Hold {
   public:
    explicit Hold(Queue& queue);
    ~Hold() { release(); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    void release() noexcept;

   private:
    Queue* queue_;
    std::uint64_t value_;
  };

  QueueStats stats() const;

 private:
  struct Pending {
    std::uint64_t value;
    byre::PendingCopy copy;
  };
  /// Bytes that a command uses. Those of the host's memory have no block.
  struct Access {
    Use::Kind kind;
    VkDescriptorBufferInfo bytes;
    DeviceBlock* block = nullptr;
  };
  using Lock = std::unique_lock<std::mutex>;

  Access find(const void* address, std::size_t nbytes, Use::Kind kind);
  void record_copy(Commands& commands, const Access& from, const Access& to);

  // In queue_submissions.cpp. Those that take a lock to change may have let go of it when they return or throw.
  void expect_device() const;
  Commands& open(const Lock& lock);
  void order(Commands& commands, std::span<const Access> accesses);
  void submit_if_full(Lock& lock) noexcept;
  std::uint64_t submit_recorded(Lock& lock);
  void close(Lock& lock);
  void retire(Lock& lock) noexcept;
  void wait_for_passing(std::uint64_t value);
  void become_lost(Lock& lock) noexcept;
  void expect_success(Lock& lock, VkResult result, const char* call);

  /// A value that passes only if the device is lost: then nothing waits any more.
  static constexpr std::uint64_t forever = static_cast<std::uint64_t>(-1);

  const Driver& driver_;
  DeviceMemory& memory_;
  Pipelines pipelines_;
  const pid_t process_ = ::getpid();
  const Owned<VkSemaphore, vkDestroySemaphore> timeline_;
  const Owned<VkSemaphore, vkDestroySemaphore> held_;
  std::atomic<std::uint64_t> passed_{0};

  mutable std::mutex mutex_;       // of all below; the memory's may be locked while it is held
  std::list<Commands> open_;       // one, or none
  std::list<Commands> closed_;     // recorded, and not submitted, as the driver refused
  std::list<Commands> submitted_;  // in order of their values
  std::list<Commands> free_;
  std::list<Pending> pending_;    // in order of their values
  std::uint64_t next_value_ = 1;  // of the open command buffer
  std::uint64_t epoch_ = 1;       // barriers so far, and one
  std::uint64_t holds_ = 0;
  QueueStats stats_;
};

}  // namespace examples::vulkan
