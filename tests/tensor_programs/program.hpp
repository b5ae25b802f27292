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

/// A step's argument that is a number.
inline Scalar number(std::int64_t value) {
  return Scalar(value);
}

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

enum class Happened : char {
  done = '.',
  skipped = '-',
  refused = 'X',
  refused_operands = 'S',  ///< ShapeError or DTypeError: of two faults either may be told
  refused_state = 'T',     ///< StateError
};
constexpr bool is_refusal(char happened) noexcept {
  return happened != static_cast<char>(Happened::done) &&
         happened != static_cast<char>(Happened::skipped);
}

/// Calls the operator, or not; adds to `why` what refused it.
Happened take(const Step& step, Values& values, std::string* why = nullptr);

/// Those that there are.
Tensors present(const std::vector<Ref>& refs, const Values& values);

/// What happened to each step of a body, and why.
struct Trace {
  std::string happened;
  std::string said;
};

/// What the body does to `inputs`, which have those names in it, beside what it captures of what
/// there was `before`. Skips what is not supported.
Tensors run(const Program& program, const std::vector<Ref>& names, const Tensors& inputs,
            const Values& before, Trace& trace);

/// A new tensor for each name of the setup.
Values set_up(const Program& program);

/// "t3_1", the second tensor of step 3, or "t3", the first.
std::string to_string(Ref ref);
/// "t3 = slice(t1, 0, 1, none, 2)".
std::string to_string(const Step& step);
std::string to_string(const Program& program);
}  // namespace byre::test
