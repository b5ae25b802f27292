// SPDX-License-Identifier: BSL-1.0
/// The forms that the step has on a device: functionalized, or written by hand.
#pragma once

#include <byre/functional/functionalize/capture.hpp>
#include <byre/tensor/tensor.hpp>
#include <memory>

#include "options.hpp"

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

/// `grid` is of the host, as first_grid() makes it.
struct FormKind {
  const char* name;   ///< a column of the table
  const char* about;  ///< a sentence
  std::unique_ptr<Form> (*start)(const Plan& plan, const byre::Tensor& grid);
};

/// Captured once, and executed as a graph.
extern const FormKind captured_form;
/// Functionalized anew in each step.
extern const FormKind eager_form;
/// All of the step is an operator of the program's own.
/// The graph with a copy for every view and every write.
extern const FormKind naive_form;
/// A shader for each operator, which reads its neighbours and writes in place.
extern const FormKind by_operator_form;
/// One shader for all of the step, from one grid into another.
extern const FormKind fused_form;

/// The step's graph, captured for grids of these sizes.
byre::functional::CapturedProgram captured_step(const Plan& plan);

}  // namespace examples::diffusion
