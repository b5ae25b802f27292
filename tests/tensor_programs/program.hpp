// SPDX-License-Identifier: BSL-1.0
/// Program: calls of operators on numbered tensors, as data. Programs are generated, run on
/// backends and on models, printed, and shrunk to the smallest program that fails.
#pragma once

#include <byre/functional.hpp>
#include <byre/shadow/mode.hpp>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace byre::test {

using functional::AnyTensor;
using functional::Argument;
using functional::BatchAxes;
using functional::Effect;
using functional::from_cpu;
using functional::FunctionalizeOptions;
using functional::Graph;
using functional::NoValue;
using functional::Tensors;
using functional::to_cpu;
using functional::ViewPaths;

/// The name of a tensor: the step that returned it, and its index among the results.
struct Ref {
  int step = 0;
  int part = 0;

  friend auto operator<=>(Ref, Ref) = default;
};

using StepArgument = functional::BasicArgument<Ref>;

/// The call site of a step, for programs that depend on call sites.
struct Place {
  /// The mode of a reshape. The modes alias and copy apply in every run; the modes warn and error
  /// apply only in runs that track view families. If empty, the mode of the run applies.
  std::optional<shadow::ReshapeMode> mode{};
  bool is_in_scope = false;  ///< the step runs in a ScopedSuppression
  bool is_in_file = false;   ///< a file of suppressions lists the call site
  int line = 0;              ///< if 0, the number of the step: each step has its own line
};

/// One call. The names of its results contain its number. If the operator only writes, its results
/// have no names.
struct Step {
  int number = 0;
  std::string op;
  std::vector<StepArgument> arguments;
  Place place{};
};

/// A program is a plain value. It can still run if steps are removed, because a step does nothing
/// if an operand is missing or the operator rejects the operands.
struct Program {
  std::vector<Step> setup;  ///< runs on the CPU before the body
  std::vector<Ref> inputs;
  std::vector<Ref> captured;  ///< tensors of the setup that the body reads, other than inputs
  std::vector<Step> body;     ///< refers to the inputs by their names in `inputs`
  std::vector<Ref> outputs;
};

/// The existing tensors, by name.
using Values = std::map<Ref, AnyTensor>;

enum class StepResult : char {
  done = '.',
  skipped = '-',
  refused = 'X',
  refused_operands = 'S',  ///< ShapeError or DTypeError: a call with both faults may throw either
  refused_state = 'T',     ///< StateError
};
constexpr bool is_refusal(char result) noexcept {
  return result != static_cast<char>(StepResult::done) &&
         result != static_cast<char>(StepResult::skipped);
}

/// Calls the operator of the step, unless operands are missing. Adds the results to `values`. If
/// the call throws, sets `why` to the message of the error.
StepResult run_step(const Step& step, Values& values, std::string* why = nullptr);

/// The arguments of the step, with each name of a tensor replaced by the tensor that `tensor_of`
/// returns for the name.
functional::Arguments arguments_of(const Step& step,
                                   const std::function<AnyTensor(Ref)>& tensor_of);

/// The tensors of `refs` that exist in `values`.
Tensors existing(const std::vector<Ref>& refs, const Values& values);

/// Finds steps that the functionalization pass does not support, so that programs skip them: writes
/// to captured tensors, which the pass rejects, and writes of bytes other than 0 and 1 to bools.
/// Must be informed of each step by record().
class Unsupported {
 public:
  explicit Unsupported(const std::vector<Ref>& captured)
      : captured_(captured.begin(), captured.end()) {}

  /// Whether the step, with its operands in `values`, is unsupported.
  bool applies_to(const Step& step, const Values& values) const;
  /// Records a step. Must be called after each step with the result StepResult::done.
  void record(const Step& step, const Values& values);

  /// Whether `ref` is a captured tensor or a view of a captured tensor.
  bool is_captured(Ref ref) const { return captured_.contains(ref); }
  /// Whether `ref` is a view of bools as another dtype.
  bool is_of_bools(Ref ref) const { return of_bools_.contains(ref); }

 private:
  std::set<Ref> captured_;
  std::set<Ref> of_bools_;
};

/// The names of all registered operators for which `fits` returns true.
std::vector<std::string> operators_that(
    const std::function<bool(const functional::Operator&)>& fits);

/// The result of each step of a body, and the messages of rejected steps.
struct Trace {
  std::string results;
  std::vector<std::string> messages;  ///< the error message of each step; empty without an error
};

/// Runs the body on `inputs`, which the body refers to by `names`, with the captured tensors from
/// `before`. Returns the outputs, and records the results of the steps in `trace`. Skips
/// unsupported steps.
Tensors run(const Program& program, const std::vector<Ref>& names, const Tensors& inputs,
            const Values& before, Trace& trace);

/// Runs the setup. Returns its tensors.
Values set_up(const Program& program);

/// The results of all steps on one line, then each error message on a line of its own.
std::string to_string(const Trace& trace);
/// Returns "t3" for the first tensor of step 3, "t3_1" for the second.
std::string to_string(Ref ref);
/// Returns, for example, "t3 = slice(t1, 0, 1, none, 2)".
std::string to_string(const Step& step);
std::string to_string(const Program& program);

/// Shrinks a failing program to a minimal program that fails: if one more step, input or output
/// were removed or one more number were reduced, the program would no longer fail.
Program shrunk(Program program, const std::function<bool(const Program&)>& fails);
/// Shrinks `failing`. Returns the failure of the shrunk program, and the program. `failure_of`
/// returns an empty string for programs that do not fail.
std::string smallest_failure(const Program& failing,
                             const std::function<std::string(const Program&)>& failure_of);

// In views.cpp: views made by members of Tensor. Operators do not call these members: they
// compute layouts by rules.

/// True if the operator of the step is a view that a member of Tensor also makes.
bool is_view(const Step& step);
/// All arguments after the first, with the defaults of the schema.
functional::Arguments constants_of(const Step& step);
/// The views that `step` makes of `self`, its first tensor. Throws the errors of the members of
/// Tensor.
std::vector<Tensor> views_of(const Tensor& self, const Step& step);
}  // namespace byre::test
