// SPDX-License-Identifier: BSL-1.0
#include "request.hpp"

#include <algorithm>
#include <byre/tensor/elements.hpp>
#include <numeric>
#include <random>

namespace examples::weights_overlay {
namespace {

Model cloned(const Model& model, Cloning cloning) {
  Model clones;
  clones.reserve(model.size());
  for (const byre::Tensor& layer : model) {
    clones.push_back(cloning == Cloning::deep ? layer.clone() : layer.lazy_clone());
  }
  return clones;
}

std::vector<std::size_t> chosen(std::size_t count, std::size_t below, std::mt19937_64& choose) {
  std::vector<std::size_t> numbers(below);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  std::ranges::shuffle(numbers, choose);
  numbers.resize(count);
  return numbers;
}

}  // namespace

void Request::set_up(const Model& base, Cloning cloning) {
  model_ = cloned(base, cloning);
  changed_.resize(base.size());
}

void Request::set_up(const Request& parent, Cloning cloning) {
  model_ = cloned(parent.model_, cloning);
  layers_ = parent.layers_;
  changed_ = parent.changed_;
}

void Request::change(std::size_t layers, std::size_t rows) {
  std::mt19937_64 choose(seed_);
  if (layers_.empty()) {
    layers_ = chosen(layers, model_.size(), choose);
  }
  for (const std::size_t layer : layers_) {
    byre::Tensor& weights = model_[layer];
    for (const std::size_t number :
         chosen(rows, static_cast<std::size_t>(weights.size(0)), choose)) {
      byre::Tensor row = weights.select(0, static_cast<std::int64_t>(number));
      // The first write to a layer that is shared copies it or, if it is mapped, maps an overlay of it.
      // What is added is too much to be rounded away.
      byre::add_(row, static_cast<double>(128 + choose() % 128) * 0x1p-12);
      changed_[layer].insert(number);
    }
  }
}

}  // namespace examples::weights_overlay
