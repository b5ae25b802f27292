// SPDX-License-Identifier: BSL-1.0
/// The queue of the device: what is recorded in it is executed as if one after the other, in the order of recording.
///
/// Commands are collected in an open command buffer, which is submitted after `commands_per_submission` of them, when
/// the host waits, and with each copy for a writer of shared data. Each submission signals the next value of one
/// timeline semaphore: a value has passed once all that was recorded up to it has been executed.
///
/// The queue notes which blocks were read and written since the last barrier, and puts one in front of a command
/// that depends on one of those: independent dispatches may overlap.
#pragma once

#include <sys/types.h>
#include <unistd.h>
#include <vulkan/vulkan.h>

#include <atomic>
#include <byre/memory/allocator.hpp>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "vulkan/device/blocks.hpp"
#include "vulkan/device/commands.hpp"
#include "vulkan/device/driver.hpp"
#include "vulkan/device/pipeline.hpp"

namespace examples::vulkan {

class DeviceMemory;

/// What a dispatch does with some bytes of the device's memory.
struct Use {
  enum Kind : std::uint8_t { read, write };  ///< what is written may be read too
  const void*
      address;  ///< a multiple of VkPhysicalDeviceLimits::minStorageBufferOffsetAlignment; a block's is
  std::size_t nbytes;  ///< bound as the next multiple of 4, at most maxStorageBufferRange
  Kind kind;
};

/// Since the process began, but for what there is now.
struct QueueStats {
  std::uint64_t dispatches = 0;
  std::uint64_t copies = 0;  ///< within the device
  std::uint64_t bytes_copied = 0;
  std::uint64_t fills = 0;
  std::uint64_t uploads = 0;
  std::uint64_t bytes_uploaded = 0;
  std::uint64_t downloads = 0;
  std::uint64_t bytes_downloaded = 0;
  std::uint64_t barriers = 0;
  std::uint64_t submissions = 0;
  std::uint64_t staging_allocations = 0;    ///< that were made to copy from the host or to it
  std::uint64_t recording_allocations = 0;  ///< there are now, for commands and their arguments
};

/// Thread-safe: what one thread records comes after what it recorded before, and after what happened before that.
/// A call throws VulkanError, DeviceLost, or byre::InvalidArgument for an address or a size that cannot be served;
/// nothing is recorded then. A child of the process has no device: its calls throw VulkanError.
class Queue {
 public:
  static constexpr unsigned commands_per_submission = 64;

  Queue(Driver& driver, DeviceMemory& memory);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// One dispatch of `pipeline`; uses[i] is binding i. Parameters follow as the last binding, if it takes any.
  void dispatch(const Pipeline& pipeline, std::span<const Use> uses,
                std::span<const std::byte> push_constants, std::uint32_t groups_x,
                std::uint32_t groups_y = 1, std::uint32_t groups_z = 1) {
    dispatch(pipeline, uses, push_constants, {}, groups_x, groups_y, groups_z);
  }
  void dispatch(const Pipeline& pipeline, std::span<const Use> uses,
                std::span<const std::byte> push_constants, std::span<const std::byte> parameters,
                std::uint32_t groups_x, std::uint32_t groups_y, std::uint32_t groups_z);

  /// Within the device; the two do not overlap. No bytes are no command.
  void copy(void* to, const void* from, std::size_t nbytes);
  /// Sets words of 32 bits: `to` and `nbytes` are multiples of 4.
  void fill(void* to, std::uint32_t word, std::size_t nbytes);
  /// Returns once the host's bytes were read.
  void upload(void* to, const void* from_host, std::size_t nbytes);
  /// Returns once the host has the bytes. Waits for the submission that wrote them, and where the host cannot map the
  /// device's memory for a copy of its own.
  void download(void* to_host, const void* from, std::size_t nbytes);

  /// Submits what is recorded, if anything is. Returns the value that passes after it.
  std::uint64_t submit();
  /// Waits until `value`, of submit(), has passed; submits first what is still to be.
  void wait(std::uint64_t value);
  void wait_idle();
  /// Ends the copies that were made, and recycles, without waiting. Submitting does that too.
  void poll() noexcept;
  /// Whether the value has passed, as far as was polled.
  bool has_passed(std::uint64_t value) const noexcept {
    return value <= passed_.load(std::memory_order_acquire);
  }
  std::uint64_t passed() const noexcept { return passed_.load(std::memory_order_acquire); }
  bool is_lost() const noexcept { return lost_.load(std::memory_order_acquire); }

  /// By the memory: copies, submits, and moves from `pending` what ends the copy. If that throws, `pending` is as it
  /// was.
  void copy_for_writer(void* to, const void* from, std::size_t nbytes, byre::PendingCopy& pending);

  /// While one lives, what any thread records is in one command buffer, unless somebody waits meanwhile, memory runs
  /// out, or submit() is called. What was recorded is submitted at its end, also after an exception.
  class OneSubmission {
   public:
    explicit OneSubmission(Queue& queue) noexcept;
    /// Submits, unless submit() has. What fails then, the next call that needs the device reports.
    ~OneSubmission();
    OneSubmission(const OneSubmission&) = delete;
    OneSubmission& operator=(const OneSubmission&) = delete;
    /// Submits and ends it. Throws as Queue::submit().
    std::uint64_t submit();

   private:
    Queue* queue_;
  };

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
  struct Place {
    DeviceBlock* block;
    std::size_t offset;  ///< in the chunk's buffer
  };
  struct Access {
    DeviceBlock* block;
    Use::Kind kind;
  };
  using Lock = std::unique_lock<std::mutex>;

  Place find(const void* address, std::size_t nbytes);
  std::shared_ptr<Chunk> take_staging(std::size_t nbytes);
  void put_staging(const Lock& lock, std::shared_ptr<Chunk> staging) noexcept;
  bool write_mapped(const Place& to, const void* from_host, std::size_t nbytes);
  void record_copy(const Lock& lock, Commands& commands, const Place& to, const Place& from,
                   std::size_t nbytes);
  void download_piece(std::byte* to_host, const Place& from, std::size_t nbytes);
  void upload_piece(const Place& to, const std::byte* from_host, std::size_t nbytes);

  // In queue_submissions.cpp. Those that take a lock to change have let go of it when they return or throw.
  void expect_device() const;
  Commands& open(const Lock& lock);
  void order(const Lock& lock, Commands& commands, std::span<const Access> accesses);
  void count_command(Lock& lock) noexcept;
  std::uint64_t submit_recorded(Lock& lock);
  void close(Lock& lock);
  void retire(Lock& lock) noexcept;
  void wait_for_passing(std::uint64_t value);
  void become_lost(Lock& lock) noexcept;
  [[noreturn]] void fail(Lock& lock, VkResult result, const char* call);

  Driver& driver_;
  DeviceMemory& memory_;
  const pid_t process_ = ::getpid();
  VkSemaphore timeline_ = VK_NULL_HANDLE;
  VkSemaphore held_ = VK_NULL_HANDLE;
  std::atomic<std::uint64_t> passed_{0};
  std::atomic<bool> lost_{false};

  mutable std::mutex mutex_;       // of all below; the memory's may be locked while it is held
  std::list<Commands> open_;       // one, or none
  std::list<Commands> closed_;     // recorded, and not submitted, as the driver refused
  std::list<Commands> submitted_;  // in order of their values
  std::list<Commands> free_;
  std::list<Pending> pending_;  // in order of their values
  std::vector<std::shared_ptr<Chunk>> free_staging_;
  std::uint64_t next_value_ = 1;  // of the open command buffer
  std::uint64_t epoch_ = 1;       // barriers so far, and one
  unsigned one_submissions_ = 0;
  std::uint64_t holds_ = 0;
  QueueStats stats_;
};

}  // namespace examples::vulkan
