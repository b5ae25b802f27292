// SPDX-License-Identifier: BSL-1.0
#include "support/shrink.hpp"

#include "program.hpp"

namespace byre::test {
namespace {

using Steps = std::vector<Step> Program::*;

void rename(Program& program, int from, Ref to) {
  const auto renamed = [&](Ref ref) { return ref.step == from ? to : ref; };
  for (const auto steps : {&Program::body, &Program::setup}) {
    for (Step& step : program.*steps) {
      for (StepArgument& argument : step.arguments) {
        argument = functional::detail::with_tensors<Ref>(argument, renamed);
      }
    }
  }
  for (const auto refs : {&Program::inputs, &Program::captured, &Program::outputs}) {
    std::ranges::transform(program.*refs, (program.*refs).begin(), renamed);
  }
}

/// For each step, tries to remove the step and to replace its result by its first operand.
void bypass_each(Shrinker<Program>& shrinker, Steps steps) {
  for (std::size_t index = (shrinker.program().*steps).size(); index-- > 0;) {
    const Step& step = (shrinker.program().*steps)[index];
    const Ref* const given =
        step.arguments.empty() ? nullptr : std::get_if<Ref>(&step.arguments.front());
    if (given == nullptr) {
      continue;
    }
    Program smaller = shrinker.program();
    rename(smaller, step.number, *given);
    (smaller.*steps).erase((smaller.*steps).begin() + static_cast<std::ptrdiff_t>(index));
    shrinker.accept(std::move(smaller));
  }
}

/// Returns arguments to try as replacements of `argument`, the simplest first.
std::vector<StepArgument> simpler(const StepArgument& argument) {
  std::vector<StepArgument> all;
  if (const Scalar* const number = std::get_if<Scalar>(&argument)) {
    const std::int64_t* const whole = number->as_integer();
    const std::int64_t now = whole == nullptr ? 2 : *whole;
    for (const std::int64_t less : {std::int64_t{0}, std::int64_t{1}, now / 2, now - 1}) {
      if (less >= 0 && (less < now || now < 0)) {
        all.emplace_back(Scalar(less));
      }
    }
  } else if (const Dims* const dims = std::get_if<Dims>(&argument)) {
    for (std::size_t axis = 0; axis < dims->size(); ++axis) {
      Dims fewer = *dims;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(axis));
      all.emplace_back(fewer);
    }
    for (std::size_t axis = 0; axis < dims->size(); ++axis) {
      for (const std::int64_t less : {std::int64_t{1}, (*dims)[axis] - 1}) {
        if (less >= 0 && less < (*dims)[axis]) {
          Dims smaller = *dims;
          smaller[axis] = less;
          all.emplace_back(smaller);
        }
      }
    }
  } else if (const DType* const dtype = std::get_if<DType>(&argument)) {
    if (*dtype != DType::f32) {
      all.emplace_back(DType::f32);
    }
  }
  return all;
}

void reduce_each(Shrinker<Program>& shrinker, Steps steps) {
  for (std::size_t index = 0; index < (shrinker.program().*steps).size(); ++index) {
    for (std::size_t at = 0; at < (shrinker.program().*steps)[index].arguments.size(); ++at) {
      shrinker.simplify(
          [=](auto& program) -> auto& { return (program.*steps)[index].arguments[at]; }, simpler);
    }
  }
}

}  // namespace

Program shrunk(Program program, const std::function<bool(const Program&)>& fails) {
  return shrunk(std::move(program), fails, [](Shrinker<Program>& shrinker) {
    shrinker.drop_from(&Program::body);
    shrinker.drop_from(&Program::setup);
    for (const auto refs : {&Program::outputs, &Program::inputs, &Program::captured}) {
      shrinker.drop_from(refs);
    }
    for (const Steps steps : {&Program::body, &Program::setup}) {
      bypass_each(shrinker, steps);
      reduce_each(shrinker, steps);
    }
  });
}

std::string smallest_failure(const Program& failing,
                             const std::function<std::string(const Program&)>& failure_of) {
  const std::function<bool(const Program&)> fails = [&](const Program& each) {
    return !failure_of(each).empty();
  };
  const Program smallest = shrunk(failing, fails);
  return failure_of(smallest) + "\n" + to_string(smallest);
}

}  // namespace byre::test
