// SPDX-License-Identifier: BSL-1.0
/// The Gray-Scott model: u comes in at a rate, two v and a u become three v, and v goes. Both
/// diffuse. The step is written once, as a program over tensors of any backend.
///
/// Source: J. E. Pearson, "Complex Patterns in a Simple System", Science 261, 1993.
#pragma once

#include <byre/functional/dispatch/any_tensor.hpp>
#include <byre/tensor/tensor.hpp>

#include "options.hpp"

namespace examples::diffusion {

/// The numbers that a step multiplies by, as f32 has them. A step is one unit of time.
struct Rates {
  explicit Rates(const Plan& plan) noexcept;

  float diffusion_u;
  float diffusion_v;
  float feed;     ///< added to u
  float keeps_u;  ///< what a step leaves of u, and of v
  float keeps_v;
};

/// f32 of sizes 2, size + 2, size + 2: u and v with a border of one cell. u is 1 and v is 0 but in
/// squares that the seed places.
byre::Tensor first_grid(const Plan& plan);

/// Takes one tensor like first_grid()'s, and writes what it is one step later. Returns nothing.
byre::functional::Program step_program(const Plan& plan);

/// A field (0: u, 1: v) of a grid of the host without its border: a view.
byre::Tensor field_of(const byre::Tensor& grid, std::int64_t field);

/// Whether two grids of the host are the same, bit by bit.
bool is_same(const byre::Tensor& a, const byre::Tensor& b);

/// The largest difference of two elements; infinite if one is not a number.
double largest_difference(const byre::Tensor& a, const byre::Tensor& b);

}  // namespace examples::diffusion
