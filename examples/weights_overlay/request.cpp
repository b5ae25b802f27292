// SPDX-License-Identifier: BSL-1.0
#include "request.hpp"

#include "failure.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>
#include <random>

namespace examples::weights_overlay {
namespace {

/// Adds to every weight, too much to be rounded away.
void add_rank_one(byre::Tensor& weights, std::mt19937_64& choose) {
  const auto width = static_cast<std::size_t>(weights.size(0));
  std::vector<float> left(width);
  std::vector<float> right(width);
  for (std::vector<float>* factor : {&left, &right}) {
    std::ranges::generate(*factor,
                          [&] { return static_cast<float>(128 + choose() % 128) * 0x1p-12F; });
  }
  float* values = weights.mutable_data<float>();  // copies the layer if it is shared
  for (std::size_t row = 0; row < width; ++row, values += width) {
    for (std::size_t column = 0; column < width; ++column) {
      values[column] += left[row] * right[column];
    }
  }
}

}  // namespace

const char* to_string(Cloning cloning) noexcept {
  return cloning == Cloning::deep ? "deep copies" : "lazy clones";
}

void Request::set_up(const Model& base, Cloning cloning) {
  model_.reserve(base.size());
  for (const byre::Tensor& layer : base) {
    model_.push_back(cloning == Cloning::deep ? layer.clone() : layer.lazy_clone());
  }
}

void Request::change(std::size_t count) {
  std::mt19937_64 choose(seed_);
  std::vector<std::size_t> layers(model_.size());
  std::iota(layers.begin(), layers.end(), std::size_t{0});
  std::ranges::shuffle(layers, choose);
  for (std::size_t number = 0; number < count; ++number) {
    add_rank_one(model_[layers[number]], choose);
  }
}

std::size_t Request::nbytes_shared_with(const Model& base) const {
  std::size_t nbytes = 0;
  for (std::size_t layer = 0; layer < base.size(); ++layer) {
    const bool is_shared = model_[layer].storage().shares_data_with(base[layer].storage());
    nbytes += is_shared ? model_[layer].nbytes() : 0;
  }
  return nbytes;
}

std::size_t Request::layers_that_differ_from(const Model& base) const {
  std::size_t count = 0;
  for (std::size_t layer = 0; layer < base.size(); ++layer) {
    throw_if_interrupted();
    const byre::Tensor& own = model_[layer];
    const bool is_same =
        std::memcmp(own.data<float>(), base[layer].data<float>(), own.nbytes()) == 0;
    count += is_same ? 0 : 1;
  }
  return count;
}

}  // namespace examples::weights_overlay
