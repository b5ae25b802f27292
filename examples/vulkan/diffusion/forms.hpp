// SPDX-License-Identifier: BSL-1.0
/// The forms that the step has on a device: functionalized, or written by hand.
#pragma once

#include <byre/tensor/tensor.hpp>
#include <memory>

namespace examples::diffusion {

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

inline constexpr std::size_t form_count = 3;
extern const FormKind forms[form_count];

}  // namespace examples::diffusion
