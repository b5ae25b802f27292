// SPDX-License-Identifier: BSL-1.0
/// One request: its own view of the model, of which it changes some rows. This file is the whole
/// of what a server would do with byre.
#pragma once

#include "model.hpp"

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace examples::weights_overlay {

enum class Cloning { deep, lazy };

/// Each step may be on another thread; nobody else uses the request meanwhile, nor changes what it
/// is set up from.
class Request {
 public:
  explicit Request(std::uint64_t seed) : seed_(seed) {}

  /// Clones all layers of the model.
  void set_up(const Model& base, Cloning cloning);
  /// Clones all layers of another request. This is a branch of it then, and changes the same layers.
  void set_up(const Request& parent, Cloning cloning);
  /// Adds to so many rows, chosen by the seed; of so many layers, chosen by it too unless this is a
  /// branch.
  void change(std::size_t layers, std::size_t rows);
  void answer() { output_ = output_of(model_); }

  const Model& model() const noexcept { return model_; }
  /// Rows of that layer that this or its parent changed.
  const std::set<std::size_t>& changed_rows(std::size_t layer) const { return changed_[layer]; }
  const std::vector<float>& output() const noexcept { return output_; }

 private:
  std::uint64_t seed_;
  Model model_;
  std::vector<std::size_t> layers_;  // to change
  std::vector<std::set<std::size_t>> changed_;
  std::vector<float> output_;
};

}  // namespace examples::weights_overlay
