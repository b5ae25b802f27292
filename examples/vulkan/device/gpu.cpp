// SPDX-License-Identifier: BSL-1.0
#include "vulkan/device/gpu.hpp"

#include <cstdlib>
#include <memory>
#include <mutex>

namespace examples::vulkan {
namespace {

std::mutex making;
Gpu* the_gpu = nullptr;

/// The driver's own threads end with what they work at.
void finish_at_exit() noexcept {
  try {
    the_gpu->queue().wait_idle();
  } catch (const byre::Error&) {
    // Nobody is left to be told.
  }
}

}  // namespace

Gpu& Gpu::get() {
  const std::lock_guard lock(making);
  if (the_gpu == nullptr) {
    std::unique_ptr<Gpu> gpu(new Gpu);
    byre::register_device(gpu->device(), *gpu);
    the_gpu = gpu.release();
    std::atexit([] { finish_at_exit(); });
  }
  return *the_gpu;
}

Gpu* Gpu::get_if_made() noexcept {
  const std::lock_guard lock(making);
  return the_gpu;
}

Gpu::Gpu() : memory_(driver_, byre::Device(kind, driver_.index())), queue_(driver_, memory_) {
  memory_.set_queue(queue_);
}

void Gpu::copy_to_host(void* destination, const void* source, std::size_t nbytes) {
  queue_.download(destination, source, nbytes);
}

void Gpu::copy_from_host(void* destination, const void* source, std::size_t nbytes) {
  queue_.upload(destination, source, nbytes);
}

}  // namespace examples::vulkan
