// SPDX-License-Identifier: BSL-1.0
#include "vulkan/device/gpu.hpp"

#include <cstdlib>
#include <memory>
#include <mutex>

namespace examples::vulkan {
namespace {

std::mutex making;
Gpu* the_gpu = nullptr;

/// The driver's own threads end together with their work.
void finish_at_exit() noexcept {
  try {
    the_gpu->queue().wait_idle();
  } catch (const byre::Error&) {
    // The process ends: there is no caller to tell.
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

}  // namespace examples::vulkan
