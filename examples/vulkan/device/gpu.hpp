// SPDX-License-Identifier: BSL-1.0
/// The device as byre knows it: tensors on Gpu::get().device() have their memory there, and are copied by its queue.
#pragma once

#include <atomic>
#include <byre/tensor/devices.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "vulkan/device/driver.hpp"
#include "vulkan/device/memory.hpp"
#include "vulkan/device/queue.hpp"

namespace examples::vulkan {

/// One per process, made at first use and registered with byre; it lives until the process ends. Thread-safe. Not in
/// a child of the process that made it.
class Gpu final : public byre::DeviceSupport {
 public:
  /// Kind of its byre::Device ("VK"); the index is the number of the Vulkan device.
  static constexpr std::uint16_t kind = 0x564b;

  /// Throws VulkanError, as Driver does; the next call tries again.
  static Gpu& get();
  /// Null before that has succeeded.
  static Gpu* get_if_made() noexcept { return made_.load(); }

  byre::Device device() const noexcept { return memory_.device(); }
  const Driver& driver() const noexcept { return driver_; }
  DeviceMemory& memory() noexcept { return memory_; }
  Queue& queue() noexcept { return queue_; }

  byre::Allocator& allocator() noexcept override { return memory_; }
  void copy_to_host(void* destination, const void* source, std::size_t nbytes) override {
    queue_.download(destination, source, nbytes);
  }
  void copy_from_host(void* destination, const void* source, std::size_t nbytes) override {
    queue_.upload(destination, source, nbytes);
  }
  const char* name() const noexcept override { return "vulkan"; }

 private:
  Gpu() : memory_(driver_, byre::Device(kind, driver_.index)), queue_(driver_, memory_) {
    memory_.set_queue(queue_);
  }

  static inline std::atomic<Gpu*> made_ = nullptr;

  Driver driver_;
  DeviceMemory memory_;
  Queue queue_;
};

inline Gpu& Gpu::get() {
  static Gpu& made = []() -> Gpu& {
    std::unique_ptr<Gpu> gpu(new Gpu);
    byre::register_device(gpu->device(), *gpu);
    std::atexit([] { get_if_made()->queue_.finish(); });
    made_ = gpu.get();
    return *gpu.release();
  }();
  return made;
}

}  // namespace examples::vulkan
