// SPDX-License-Identifier: BSL-1.0
/// One request: its own view of the model, of which it changes some layers. This file is the whole
/// of what a server would do with byre.
#pragma once

#include "model.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace examples::weights_overlay {

enum class Cloning {
  deep,  ///< every layer copied when the request begins
  lazy,  ///< a layer copied when the request writes to it
};

/// "deep copies", "lazy clones"
const char* to_string(Cloning cloning) noexcept;

/// Each step may be on another thread.
class Request {
 public:
  explicit Request(std::uint64_t seed) : seed_(seed) {}

  /// Clones all layers.
  void set_up(const Model& base, Cloning cloning);
  /// Adds a matrix of rank one to `count` layers, chosen by the seed.
  void change(std::size_t count);
  void answer() { output_ = output_of(model_); }

  const std::vector<float>& output() const noexcept { return output_; }
  /// Bytes of layers that are still those of `base`.
  std::size_t nbytes_shared_with(const Model& base) const;
  /// Layers of other weights than those of `base`. Throws Interrupted.
  std::size_t layers_that_differ_from(const Model& base) const;

 private:
  std::uint64_t seed_;
  Model model_;
  std::vector<float> output_;
};

}  // namespace examples::weights_overlay
