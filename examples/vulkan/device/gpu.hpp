// SPDX-License-Identifier: BSL-1.0
/// The Vulkan device as a device of byre. Tensors on Gpu::get().device() have their memory on the
/// device, and its queue copies them.
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

/// The only device of the process. It is created and registered with byre at its first use, and
/// lives until the process ends. A child of the process cannot use it. Thread-safe.
class Gpu final : public byre::DeviceSupport {
 public:
  /// The kind of its byre::Device ("VK"). The index is the number of the Vulkan device.
  static constexpr std::uint16_t kind = 0x564b;

  /// Throws what the constructor of Driver throws; the next call then tries again.
  static Gpu& get();
  /// Returns null until get() has succeeded.
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
