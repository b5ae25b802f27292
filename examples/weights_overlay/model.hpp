// SPDX-License-Identifier: BSL-1.0
/// The model: a sequence of square matrices, each in a .npy file.
#pragma once

#include "failure.hpp"

#include <byre/interop/npy.hpp>
#include <byre/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace examples::weights_overlay {

/// One tensor for each layer.
using Model = std::vector<byre::Tensor>;

inline std::filesystem::path file_of(const std::filesystem::path& folder, std::size_t layer) {
  return folder / ("layer-" + std::to_string(layer) + ".npy");
}

/// Random weights with a scale that preserves the magnitude of a vector through many layers.
inline byre::Tensor generated_layer(std::int64_t width, std::size_t layer) {
  byre::Tensor weights = byre::Tensor::empty({width, width}, byre::DType::f32);
  std::mt19937_64 choose(1'000'003 + layer);
  const float scale = std::sqrt(6.0F / static_cast<float>(width)) / 0x1p31F;
  float* const values = weights.mutable_data<float>();
  for (std::int64_t at = 0; at < weights.numel(); ++at) {
    values[at] = scale * static_cast<float>(static_cast<std::int32_t>(choose() >> 32));
  }
  return weights;
}

/// Writes a model of random weights. Throws byre::Error, and what throw_if_interrupted() throws.
inline void save_random_model(const std::filesystem::path& folder, std::size_t layers,
                              std::int64_t width) {
  for (std::size_t layer = 0; layer < layers; ++layer) {
    throw_if_interrupted();
    byre::save_npy(file_of(folder, layer), generated_layer(width, layer));
  }
}

/// Opens a model. Maps every layer without reading it if `maps`, else reads every layer to ordinary
/// memory.
inline Model open_model(const std::filesystem::path& folder, std::size_t layers, bool maps) {
  Model model;
  for (std::size_t layer = 0; layer < layers; ++layer) {
    const std::filesystem::path file = file_of(folder, layer);
    model.push_back(maps ? byre::map_npy(file) : byre::load_npy(file));
  }
  return model;
}

/// The model's output: passes a vector of ones through all layers. Equal weights produce equal
/// bits.
inline std::vector<float> output_of(const Model& model) {
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
