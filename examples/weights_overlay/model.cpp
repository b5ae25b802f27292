// SPDX-License-Identifier: BSL-1.0
#include "model.hpp"

#include "failure.hpp"

#include <algorithm>
#include <byre/interop/npy.hpp>
#include <cmath>
#include <cstring>
#include <random>

namespace examples::weights_overlay {
namespace {

namespace fs = std::filesystem;

/// Of a size at which a vector that goes through many layers neither fades nor grows.
byre::Tensor generated_layer(const Plan& plan, std::size_t layer) {
  const auto width = static_cast<std::int64_t>(plan.width);
  byre::Tensor weights = byre::Tensor::empty({width, width}, byre::DType::f32);
  std::mt19937_64 choose(plan.seed * 1'000'003 + layer);
  const float scale = std::sqrt(6.0F / static_cast<float>(plan.width)) / 0x1p31F;
  float* const values = weights.mutable_data<float>();
  for (std::size_t at = 0; at < plan.width * plan.width; ++at) {
    values[at] = scale * static_cast<float>(static_cast<std::int32_t>(choose() >> 32));
  }
  return weights;
}

}  // namespace

ModelFiles::ModelFiles(const Plan& plan)
    : plan_(plan), directory_("weights_overlay", "Set TMPDIR to one.") {
  for (std::size_t layer = 0; layer < plan_.layers; ++layer) {
    throw_if_interrupted();
    byre::save_npy(file_of(layer), generated_layer(plan_, layer));
  }
}

fs::path ModelFiles::file_of(std::size_t layer) const {
  return directory_.path() / ("layer-" + std::to_string(layer) + ".npy");
}

Model ModelFiles::map() const {
  Model model;
  for (std::size_t layer = 0; layer < plan_.layers; ++layer) {
    model.push_back(byre::map_npy(file_of(layer)));
  }
  return model;
}

Model ModelFiles::load() const {
  Model model;
  for (std::size_t layer = 0; layer < plan_.layers; ++layer) {
    model.push_back(byre::load_npy(file_of(layer)));
  }
  return model;
}

bool ModelFiles::are_as_written() const {
  for (std::size_t layer = 0; layer < plan_.layers; ++layer) {
    throw_if_interrupted();
    const byre::Tensor found = byre::load_npy(file_of(layer));
    const byre::Tensor written = generated_layer(plan_, layer);
    if (found.sizes() != written.sizes() ||
        std::memcmp(found.data<float>(), written.data<float>(), written.nbytes()) != 0) {
      return false;
    }
  }
  return true;
}

std::vector<float> output_of(const Model& model) {
  const auto width = static_cast<std::size_t>(model.front().size(0));
  std::vector<float> input(width, 1.0F);
  std::vector<float> output(width);
  for (const byre::Tensor& layer : model) {
    throw_if_interrupted();
    const float* weights = layer.data<float>();
    for (std::size_t row = 0; row < width; ++row, weights += width) {
      float sum = 0;
      for (std::size_t column = 0; column < width; ++column) {
        sum += weights[column] * input[column];
      }
      output[row] = std::max(sum, 0.0F);
    }
    input.swap(output);
  }
  return input;
}

}  // namespace examples::weights_overlay
