// SPDX-License-Identifier: BSL-1.0
/// The Gray-Scott model: u comes in at a rate, two v and a u become three v, and v goes. Both diffuse.
/// The step is written once, as a program over tensors of any backend.
///
/// Source: J. E. Pearson, "Complex Patterns in a Simple System", Science 261, 1993.
#pragma once

#include <byre/functional/dispatch/any_tensor.hpp>
#include <byre/tensor/tensor.hpp>
#include <cstdint>
#include <functional>

namespace examples::diffusion {

/// The factors of a step, which is one unit of time.
struct Rates {
  float diffusion_u = 0.2F;
  float diffusion_v = 0.1F;
  float feed = 0.037F;     ///< added to u
  float keeps_u = 0.963F;  ///< 1 - feed
  float keeps_v = 0.903F;  ///< 1 - feed - 0.06
};

/// f32 of sizes 2, size + 2, size + 2: u and v with a border of one cell. u is 1 and v is 0 but in a square.
byre::Tensor first_grid(std::int64_t size);

/// Takes a tensor like first_grid()'s and writes its next step to it: slices of the grid are updated in place. The
/// grid continues on its other side. Returns nothing.
byre::functional::Tensors step(const byre::functional::Tensors& grid);

/// A field (0: u, 1: v) of a grid of the host without its border: a view.
byre::Tensor field_of(const byre::Tensor& grid, std::int64_t field);

/// A simulation at some step.
struct Form {
  std::function<void()> step;  ///< on the device it records one step, which the caller submits
  /// A lazy clone of the fields as they are now, where they are: nothing is copied.
  std::function<byre::Tensor()> snapshot;
};

/// From a grid of the host, like first_grid()'s: step() on the host; step() on the device, functionalized anew in each
/// step; and one shader for all of the step, from one grid into another.
Form on_host(const byre::Tensor& grid);
Form functionalized(const byre::Tensor& grid);
Form by_hand(const byre::Tensor& grid);

}  // namespace examples::diffusion
