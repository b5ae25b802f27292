// SPDX-License-Identifier: BSL-1.0
/// The Gray-Scott model: u comes in at a rate, two v and a u become three v, and v goes. Both diffuse.
/// The step is written once, as a program over tensors of any backend.
///
/// Source: J. E. Pearson, "Complex Patterns in a Simple System", Science 261, 1993.
#pragma once

#include <byre/functional/dispatch/any_tensor.hpp>
#include <byre/tensor/tensor.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace examples::diffusion {

/// The factors of a step, which is one unit of time.
struct Rates {
  float diffusion_u = 0.2F;
  float diffusion_v = 0.1F;
  float feed = 0.037F;     ///< added to u
  float keeps_u = 0.963F;  ///< 1 - feed
  float keeps_v = 0.903F;  ///< 1 - feed - 0.06
};

/// f32 of sizes 2, size + 2, size + 2: u and v with a border of one cell. u is 1 and v is 0 but in scattered squares.
byre::Tensor first_grid(std::int64_t size);

/// Takes a tensor like first_grid()'s and writes its next step to it: slices of the grid are updated in place. The
/// grid continues on its other side. Returns nothing.
byre::functional::Tensors step(const byre::functional::Tensors& grid);

/// A field (0: u, 1: v) of a grid of the host without its border: a view.
byre::Tensor field_of(const byre::Tensor& grid, std::int64_t field);

/// A simulation on the device, at some step.
class Form {
 public:
  Form() = default;
  virtual ~Form() = default;
  Form(const Form&) = delete;
  Form& operator=(const Form&) = delete;

  /// Records one step, which the caller submits.
  virtual void step() = 0;
  /// A lazy clone of the fields as they are now, on the device: nothing is copied.
  virtual byre::Tensor snapshot() const = 0;
};

struct FormKind {
  const char* name;
  const char* about;
  /// `grid` is of the host, like first_grid()'s.
  std::unique_ptr<Form> (*start)(const byre::Tensor& grid);
};

/// The step functionalized, and as a shader that is written by hand.
inline constexpr std::size_t form_count = 2;
extern const FormKind forms[form_count];

}  // namespace examples::diffusion
