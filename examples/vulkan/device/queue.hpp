// SPDX-License-Identifier: BSL-1.0
/// The queue of the device. Its commands take effect as if they were executed one after another, in
/// the order in which they were recorded.
///
/// Commands are recorded in an open command buffer. It is submitted when it has `Commands::most`
/// commands, when the host waits, and with each copy for a writer of shared data. Each submission
/// signals the next value of one timeline semaphore. A value has *passed* when all commands that
/// were recorded up to it have been executed.
///
/// The queue tracks which blocks were read and written since the last barrier. It records a barrier
/// before a command that depends on one of these accesses, so independent dispatches may overlap.
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

/// Bytes of device memory that a dispatch reads or writes.
struct Use {
  enum Kind : std::uint8_t { read, write };  ///< write: may also read
  /// A multiple of VkPhysicalDeviceLimits::minStorageBufferOffsetAlignment. Every block begins at
  /// such an address.
  const void* address;
  std::size_t nbytes;  ///< rounded up to a multiple of 4 when bound; at most maxStorageBufferRange
  Kind kind;
};

/// Totals since the process began, except `allocations`.
struct QueueStats {
  std::uint64_t dispatches = 0;
  std::uint64_t copies = 0;  ///< from the device to the device
  std::uint64_t bytes_copied = 0;
  std::uint64_t uploads = 0;
  std::uint64_t downloads = 0;
  std::uint64_t barriers = 0;
  std::uint64_t submissions = 0;
  /// Current number of command buffers and of pieces of memory for their arguments.
  std::uint64_t allocations = 0;
};

/// Thread-safe: a command is ordered after all commands whose recording happens before its own, on
/// any thread. Calls throw VulkanError, DeviceLost, or byre::InvalidArgument for an unsupported
/// address or size, and record nothing then. In a child of the process calls throw VulkanError.
class Queue {
 public:
  Queue(const Driver& driver, DeviceMemory& memory);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// Records a dispatch. uses[i] is binding i. The parameters, 1 to Commands::most_put bytes, are
  /// the last binding.
  void dispatch(const Shader& shader, std::span<const Use> uses,
                std::span<const std::byte> parameters, const std::array<std::uint32_t, 3>& groups);

  /// Records a copy within the device, or nothing if `nbytes` is 0. The two ranges must not
  /// overlap. If `pending` is not null (the copy is for a writer of shared data), also submits the
  /// copy, moves from *pending, and ends the pending copy when the device has made it. If the call
  /// throws, *pending is unchanged.
  void copy(void* to, const void* from, std::size_t nbytes, byre::PendingCopy* pending = nullptr);
  /// Copies from the host to the device. Returns after the host's bytes have been read.
  void upload(void* to, const void* from_host, std::size_t nbytes);
  /// Copies from the device to the host. Returns when the copy is complete.
  void download(void* to_host, const void* from, std::size_t nbytes);

  /// Submits the recorded commands, if there are any. Returns the timeline value that
  /// passes when these commands have been executed.
  std::uint64_t submit();
  /// Waits until `value`, a result of submit(), has passed. If it has not passed yet, first submits
  /// the recorded commands.
  void wait(std::uint64_t value);
  void wait_idle();
  /// Waits for the submitted commands. Call it at the end of the process, because the driver's
  /// threads end then.
  void finish() noexcept;
  /// Ends completed copies and recycles their resources, without waiting. A submission does this
  /// too.
  void poll() noexcept;
  /// The latest value that is known to have passed.
  std::uint64_t passed() const noexcept { return passed_.load(std::memory_order_acquire); }
  bool has_passed(std::uint64_t value) const noexcept { return value <= passed(); }
  bool is_lost() const noexcept { return passed() == forever; }

  /// For tests: the device executes no later submission before release() or the destruction of this
  /// object.
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
  /// Bytes that a command uses. `block` is null for host memory.
  struct Access {
    Use::Kind kind;
    VkDescriptorBufferInfo bytes;
    DeviceBlock* block = nullptr;
  };
  using Lock = std::unique_lock<std::mutex>;

  Access find(const void* address, std::size_t nbytes, Use::Kind kind);
  void record_copy(Commands& commands, const Access& from, const Access& to);

  // Defined in queue_submissions.cpp. Functions that take a non-const Lock may have released it
  // when they return or throw.
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

  /// A value that passes only when the device is lost, which ends every wait.
  static constexpr std::uint64_t forever = static_cast<std::uint64_t>(-1);

  const Driver& driver_;
  DeviceMemory& memory_;
  Pipelines pipelines_;
  const pid_t process_ = ::getpid();
  const Owned<VkSemaphore, vkDestroySemaphore> timeline_;
  const Owned<VkSemaphore, vkDestroySemaphore> held_;
  std::atomic<std::uint64_t> passed_{0};

  // Protects all members below. The memory's lock may be taken while it is held.
  mutable std::mutex mutex_;
  std::list<Commands> open_;       // at most one
  std::list<Commands> closed_;     // recorded, but the driver refused the submission
  std::list<Commands> submitted_;  // in the order of their values
  std::list<Commands> free_;
  std::list<Pending> pending_;    // in the order of their values
  std::uint64_t next_value_ = 1;  // signaled by the next submission
  std::uint64_t epoch_ = 1;       // 1 + number of barriers so far
  std::uint64_t holds_ = 0;
  QueueStats stats_;
};

}  // namespace examples::vulkan
