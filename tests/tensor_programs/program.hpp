// SPDX-License-Identifier: BSL-1.0
/// Program: calls of operators over numbered tensors, as data. It can be generated, run on any backend and on models,
/// printed, and shrunk.
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

/// One of the tensors that a step returned.
struct Ref {
  int step = 0;
  int part = 0;

  friend auto operator<=>(Ref, Ref) = default;
};

using StepArgument = functional::BasicArgument<Ref>;

/// Where a step is made, for programs that depend on call sites.
struct Place {
  /// The mode of a reshape: alias and copy in every run, warn and error in runs that track. Nothing: as the run.
  std::optional<shadow::ReshapeMode> mode{};
  bool is_in_scope = false;  ///< of a ScopedSuppression
  bool is_in_file = false;   ///< of suppressions
  int line = 0;              ///< 0: a line of its own, the step's number
};

/// One call. Its number names what it returns; an operator that only writes names nothing.
struct Step {
  int number = 0;
  std::string op;
  std::vector<StepArgument> arguments;
  Place place{};
};

/// A value. Every program runs, also after parts of it were dropped: a step does nothing if its operands are missing, or
/// if it is refused.
struct Program {
  std::vector<Step> setup;  ///< on the CPU, before
  std::vector<Ref> inputs;
  std::vector<Ref> captured;  ///< what the body reads that was there before, and is no input
  std::vector<Step> body;     ///< over the inputs, by the names they have above
  std::vector<Ref> outputs;
};

/// The tensors there are, by name.
using Values = std::map<Ref, AnyTensor>;

enum class StepResult : char {
  done = '.',
  skipped = '-',
  refused = 'X',
  refused_operands = 'S',  ///< ShapeError or DTypeError: of two faults either may be told
  refused_state = 'T',     ///< StateError
};
constexpr bool is_refusal(char happened) noexcept {
  return happened != static_cast<char>(StepResult::done) &&
         happened != static_cast<char>(StepResult::skipped);
}

/// Calls the operator, or not; `why` becomes what refused it.
StepResult take(const Step& step, Values& values, std::string* why = nullptr);

/// The arguments of the step for a call, with the tensors that `tensor_of` finds by name.
functional::Arguments arguments_of(const Step& step,
                                   const std::function<AnyTensor(Ref)>& tensor_of);

/// Those that there are.
Tensors present(const std::vector<Ref>& refs, const Values& values);

/// Follows a program step by step, for what the pass does not promise and programs therefore do not do: to write what
/// they captured, which it refuses, and other bytes than 0 and 1 to bools.
class Unsupported {
 public:
  explicit Unsupported(const std::vector<Ref>& captured)
      : captured_(captured.begin(), captured.end()) {}

  /// Whether the step, whose operands are among `values`, does something unsupported.
  bool is_done_by(const Step& step, const Values& values) const;
  /// The step was done.
  void follow(const Step& step, const Values& values);

  /// A captured tensor, or a view of one.
  bool is_captured(Ref ref) const { return captured_.contains(ref); }
  /// Views of bools as another dtype.
  bool is_of_bools(Ref ref) const { return of_bools_.contains(ref); }

 private:
  std::set<Ref> captured_;
  std::set<Ref> of_bools_;
};

/// The names of all registered operators that `fits` returns true for.
std::vector<std::string> operators_that(
    const std::function<bool(const functional::Operator&)>& fits);

/// What happened to each step of a body, and why.
struct Trace {
  std::string happened;
  std::vector<std::string> said;  ///< by the step; empty unless it was refused
};

/// What the body does to `inputs`, which have those names in it, beside what it captures of what
/// there was `before`. Skips what is not supported.
Tensors run(const Program& program, const std::vector<Ref>& names, const Tensors& inputs,
            const Values& before, Trace& trace);

/// A new tensor for each name of the setup.
Values set_up(const Program& program);

/// What happened, and the refusals, a line each.
std::string to_string(const Trace& trace);
/// "t3_1", the second tensor of step 3, or "t3", the first.
std::string to_string(Ref ref);
/// "t3 = slice(t1, 0, 1, none, 2)".
std::string to_string(const Step& step);
std::string to_string(const Program& program);

/// A smaller program that fails too: without any one step, input or output, or with a smaller number, it does not fail.
Program shrunk(Program program, const std::function<bool(const Program&)>& fails);
/// The failure of the smallest program that has one, and that program. `failure_of` returns nothing for others.
std::string smallest_failure(const Program& failing,
                             const std::function<std::string(const Program&)>& failure_of);

// views.cpp: by the members of Tensor, where operators make views by rules of layouts.
bool is_view(const Step& step);
/// All arguments behind the first one, with the defaults of the schema.
functional::Arguments constants_of(const Step& step);
/// The views that `step` makes of its first tensor, which is `self`. Throws what Tensor throws.
std::vector<Tensor> views_of(const Tensor& self, const Step& step);
}  // namespace byre::test
