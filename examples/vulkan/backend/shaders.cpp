// SPDX-License-Identifier: BSL-1.0
#include "vulkan/backend/shaders.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "compiled_shaders.hpp"
#include "vulkan/device/gpu.hpp"

namespace examples::vulkan {
namespace {

struct Pipelines {
  std::mutex mutex;
  std::map<std::vector<std::uint32_t>, std::unique_ptr<Pipeline>> made;
};

/// As long as the device: to the end of the process.
Pipelines& pipelines() {
  static Pipelines& all = *new Pipelines;
  return all;
}

std::uint32_t buffers_of(Shader shader) {
  return shader == Shader::pointwise ? 4 : shader == Shader::matmul ? 3 : 2;
}

}  // namespace

const Pipeline& pipeline_of(Shader shader, Domain domain, bool doubles,
                            std::span<const std::uint32_t> constants) {
  Gpu& gpu = Gpu::get();
  doubles = doubles || domain == Domain::twofold;
  if (doubles && !gpu.driver().has_float64()) {
    throw VulkanError(
        byre::format_text("f64 on %s: the device has not the feature shaderFloat64. Compute in f32 "
                          "there, or on the host.",
                          gpu.description().c_str()));
  }
  std::vector<std::uint32_t> name{static_cast<std::uint32_t>(shader),
                                  static_cast<std::uint32_t>(domain), doubles ? 1U : 0U};
  name.insert(name.end(), constants.begin(), constants.end());
  const std::lock_guard lock(pipelines().mutex);
  std::unique_ptr<Pipeline>& found = pipelines().made[std::move(name)];
  if (found == nullptr) {
    const auto* const compiled =
        std::ranges::find_if(compiled_shaders, [&](const CompiledShader& each) {
          return each.shader == shader && each.domain == domain && each.doubles == doubles;
        });
    found = std::make_unique<Pipeline>(gpu, compiled->words, buffers_of(shader), constants);
  }
  return *found;
}

}  // namespace examples::vulkan
