// SPDX-License-Identifier: BSL-1.0
#include "training.hpp"

#include <array>
#include <cmath>

namespace examples::live_checkpoint {
namespace {

constexpr float learning_rate = 0.025F;

/// A sum in eight lanes: an order of additions that vector units can follow.
constexpr std::size_t lanes = 8;

float dot(const float* left, const float* right, std::size_t count) noexcept {
  std::array<float, lanes> sums{};
  std::size_t index = 0;
  for (; index + lanes <= count; index += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      sums[lane] += left[index + lane] * right[index + lane];
    }
  }
  for (; index < count; ++index) {
    sums[0] += left[index] * right[index];
  }
  float sum = 0;
  for (const float part : sums) {
    sum += part;
  }
  return sum;
}

}  // namespace

void initialize_row(float* row, std::uint32_t number, const Plan& plan) noexcept {
  // The row's number goes in scrambled, or neighbouring rows would begin alike.
  Random random(plan.seed ^ Random(number).next());
  const float scale = 1.0F / static_cast<float>(plan.dimensions);
  for (std::size_t index = 0; index < plan.dimensions; ++index) {
    const auto bits = static_cast<std::uint32_t>(random.next() >> 40);
    row[index] = (static_cast<float>(bits) / static_cast<float>(1U << 24) - 0.5F) * scale;
  }
}

void nudge(float* __restrict row, float* __restrict other, std::size_t dimensions,
           bool together) noexcept {
  const float score = dot(row, other, dimensions);
  const float believed = 1.0F / (1.0F + std::exp(-score));
  const float step = learning_rate * ((together ? 1.0F : 0.0F) - believed);
  for (std::size_t index = 0; index < dimensions; ++index) {
    const float before = row[index];
    row[index] += step * other[index];
    other[index] += step * before;
  }
}

}  // namespace examples::live_checkpoint
