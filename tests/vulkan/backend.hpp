// SPDX-License-Identifier: BSL-1.0
/// What tests of the Vulkan backend have in common.
#pragma once

#include "../unit/functional/random_calls.hpp"
#include "vulkan/backend/vulkan_tensor.hpp"
#include "vulkan/device/gpu.hpp"

namespace examples::vulkan::test {

using namespace byre::functional;
using namespace byre;
using byre::functional::call;
using byre::functional::call_for_one;
using byre::test::are_same;

/// Commands since this was made.
class Counted {
 public:
  std::uint64_t dispatches() const { return now().dispatches - before_.dispatches; }
  std::uint64_t copies() const { return now().copies - before_.copies; }
  std::uint64_t host_copies() const {
    return now().uploads + now().downloads - before_.uploads - before_.downloads;
  }

 private:
  static QueueStats now() { return Gpu::get().queue().stats(); }
  const QueueStats before_ = now();
};

}  // namespace examples::vulkan::test
