// SPDX-License-Identifier: BSL-1.0
/// A request with its own changes to the model. This file and map_npy() in model.hpp contain all
/// uses of byre that a server needs.
#pragma once

#include "model.hpp"
#include "same_bits.hpp"

#include <byre/tensor/elements.hpp>

#include <cstdint>
#include <random>
#include <set>
#include <utility>

namespace examples::weights_overlay {

enum class Cloning { deep, lazy };

/// The members may be called on different threads. Each call requires that no other thread uses the
/// request, or writes the source of set_up(), at the same time.
class Request {
 public:
  /// Clones all layers of the model.
  void set_up(const Model& base, Cloning cloning) {
    model_.clear();
    for (const byre::Tensor& layer : base) {
      model_.push_back(cloning == Cloning::deep ? layer.clone() : layer.lazy_clone());
    }
  }
  /// Makes this request a branch of another request.
  void set_up(const Request& parent, Cloning cloning) {
    set_up(parent.model_, cloning);
    changed_ = parent.changed_;
  }
  /// Adds a number to `rows` rows in each of the first `layers` layers. The seed selects the rows.
  void change(std::size_t layers, std::size_t rows, std::uint64_t seed) {
    std::mt19937_64 choose(seed);
    for (std::size_t layer = 0; layer < layers; ++layer) {
      for (std::size_t count = 0; count < rows; ++count) {
        const auto number = static_cast<std::int64_t>(choose() % 0x10000) % model_[layer].size(0);
        byre::Tensor row = model_[layer].select(0, number);
        // The first write to a shared layer copies the layer or, if it is mapped, maps an overlay.
        // The number is large enough to change every weight despite rounding.
        byre::add_(row, static_cast<double>(128 + choose() % 128) * 0x1p-12);
        changed_.emplace(layer, number);
      }
    }
  }

  const Model& model() const noexcept { return model_; }
  /// True if the rows that differ from `base` are exactly the rows that this request and its parent
  /// changed.
  bool has_expected_rows(const Model& base) const {
    for (std::size_t layer = 0; layer < base.size(); ++layer) {
      for (std::int64_t row = 0; row < base[layer].size(0); ++row) {
        const bool differs =
            !are_same_bits(model_[layer].select(0, row), base[layer].select(0, row));
        if (differs != changed_.contains({layer, row})) {
          return false;
        }
      }
    }
    return true;
  }

 private:
  Model model_;
  std::set<std::pair<std::size_t, std::int64_t>> changed_;  // layers and rows
};

}  // namespace examples::weights_overlay
