// SPDX-License-Identifier: BSL-1.0
/// Fused kernels on the device.
#pragma once

#include <byre/functional/dispatch/any_tensor.hpp>

#include "vulkan/fusion/kernel.hpp"

namespace examples::vulkan {

/// One dispatch. `inputs` are the kernel's, tensors of the device; one whose last handle this is given may be written
/// in place. Returns the outputs. Throws VulkanError, OutOfMemory.
byre::functional::Tensors run(const FusedKernel& kernel, byre::functional::Tensors inputs);

}  // namespace examples::vulkan
