// SPDX-License-Identifier: BSL-1.0
#include "vulkan/backend/shaders.hpp"

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "matmul_0.h"
#include "matmul_0_doubles.h"
#include "matmul_1.h"
#include "matmul_1_doubles.h"
#include "matmul_2_doubles.h"
#include "matmul_3.h"
#include "matmul_3_doubles.h"
#include "pointwise_0.h"
#include "pointwise_0_doubles.h"
#include "pointwise_1.h"
#include "pointwise_1_doubles.h"
#include "pointwise_2_doubles.h"
#include "pointwise_3.h"
#include "pointwise_3_doubles.h"
#include "sum_0.h"
#include "sum_0_doubles.h"
#include "sum_1.h"
#include "sum_1_doubles.h"
#include "sum_2_doubles.h"
#include "sum_3.h"
#include "sum_3_doubles.h"
#include "vulkan/device/gpu.hpp"

namespace examples::vulkan {
namespace {

using Words = std::span<const std::uint32_t>;

/// By domain, twice: without f64, and with it.
struct Variants {
  PipelineLayout layout;
  std::array<std::array<Words, 2>, 4> words;
};

constexpr PipelineLayout with_parameters(std::uint32_t buffers) {
  return {.buffers = buffers, .push_constants_nbytes = 0, .has_parameters = true};
}

const Variants& variants_of(Shader shader) {
  static const std::array<Variants, 3> all{{
      {with_parameters(4),
       {{{pointwise_0, pointwise_0_doubles},
         {pointwise_1, pointwise_1_doubles},
         {Words(), pointwise_2_doubles},
         {pointwise_3, pointwise_3_doubles}}}},
      {with_parameters(2),
       {{{sum_0, sum_0_doubles},
         {sum_1, sum_1_doubles},
         {Words(), sum_2_doubles},
         {sum_3, sum_3_doubles}}}},
      {with_parameters(3),
       {{{matmul_0, matmul_0_doubles},
         {matmul_1, matmul_1_doubles},
         {Words(), matmul_2_doubles},
         {matmul_3, matmul_3_doubles}}}},
  }};
  return all[static_cast<std::size_t>(shader)];
}

struct Pipelines {
  std::mutex mutex;
  std::map<std::vector<std::uint32_t>, std::unique_ptr<Pipeline>> made;
};

/// As long as the device: to the end of the process.
Pipelines& pipelines() {
  static Pipelines& all = *new Pipelines;
  return all;
}

}  // namespace

const Pipeline& pipeline_of(Shader shader, Domain domain, bool doubles,
                            std::span<const std::uint32_t> constants) {
  Gpu& gpu = Gpu::get();
  doubles = doubles || domain == Domain::twofold;
  if (doubles && !gpu.features().float64) {
    throw VulkanError(byre::format_text(
        "f64 on %s: the device has not the feature shaderFloat64. Compute in f32 there, or on the "
        "host.",
        gpu.description().c_str()));
  }
  std::vector<std::uint32_t> name{static_cast<std::uint32_t>(shader),
                                  static_cast<std::uint32_t>(domain), doubles ? 1U : 0U};
  name.insert(name.end(), constants.begin(), constants.end());
  const std::lock_guard lock(pipelines().mutex);
  std::unique_ptr<Pipeline>& found = pipelines().made[std::move(name)];
  if (found == nullptr) {
    const Variants& variants = variants_of(shader);
    found = std::make_unique<Pipeline>(
        gpu, variants.words[static_cast<std::size_t>(domain)][doubles ? 1 : 0], variants.layout,
        constants);
  }
  return *found;
}

}  // namespace examples::vulkan
