// SPDX-License-Identifier: BSL-1.0
#include "shrink.hpp"

#include <algorithm>
#include <optional>

namespace byre::test {
namespace {

class Shrinker {
 public:
  Shrinker(Program program, const std::function<bool(const Program&)>& fails)
      : program_(std::move(program)), fails_(fails) {}

  Program smallest() {
    bool has_shrunk = true;
    while (has_shrunk) {
      has_shrunk = drop_each(&Program::body);
      has_shrunk = drop_each(&Program::setup) || has_shrunk;
      has_shrunk = drop_each(&Program::outputs) || has_shrunk;
      has_shrunk = drop_each(&Program::inputs) || has_shrunk;
      has_shrunk = drop_each(&Program::captured) || has_shrunk;
      for (const auto steps : {&Program::body, &Program::setup}) {
        has_shrunk = bypass_each(steps) || has_shrunk;
        has_shrunk = reduce_each(steps) || has_shrunk;
      }
    }
    return program_;
  }

 private:
  bool accept(Program smaller) {
    if (!fails_(smaller)) {
      return false;
    }
    program_ = std::move(smaller);
    return true;
  }

  /// Halves first, single ones last, from the end.
  template <class T>
  bool drop_each(std::vector<T> Program::*all) {
    bool has_shrunk = false;
    for (std::size_t count = (program_.*all).size(); count > 0; count /= 2) {
      for (std::size_t end = (program_.*all).size(); end >= count; --end) {
        if (end > (program_.*all).size()) {
          continue;
        }
        Program smaller = program_;
        const auto last = (smaller.*all).begin() + static_cast<std::ptrdiff_t>(end);
        (smaller.*all).erase(last - static_cast<std::ptrdiff_t>(count), last);
        has_shrunk = accept(std::move(smaller)) || has_shrunk;
      }
    }
    return has_shrunk;
  }

  /// What a step returned is what it was given.
  bool bypass_each(std::vector<Step> Program::*steps) {
    bool has_shrunk = false;
    for (std::size_t index = (program_.*steps).size(); index-- > 0;) {
      const Step& step = (program_.*steps)[index];
      const Ref* const given =
          step.arguments.empty() ? nullptr : std::get_if<Ref>(&step.arguments.front());
      if (given == nullptr) {
        continue;
      }
      Program smaller = program_;
      rename(smaller, step.number, *given);
      (smaller.*steps).erase((smaller.*steps).begin() + static_cast<std::ptrdiff_t>(index));
      has_shrunk = accept(std::move(smaller)) || has_shrunk;
    }
    return has_shrunk;
  }

  static void rename(Program& program, int from, Ref to) {
    const auto renamed = [&](Ref& ref) { ref = ref.step == from ? to : ref; };
    for (const auto steps : {&Program::body, &Program::setup}) {
      for (Step& step : program.*steps) {
        for (StepArgument& argument : step.arguments) {
          if (Ref* const one = std::get_if<Ref>(&argument)) {
            renamed(*one);
          } else if (auto* const several = std::get_if<std::vector<Ref>>(&argument)) {
            std::for_each(several->begin(), several->end(), renamed);
          }
        }
      }
    }
    std::for_each(program.inputs.begin(), program.inputs.end(), renamed);
    std::for_each(program.captured.begin(), program.captured.end(), renamed);
    std::for_each(program.outputs.begin(), program.outputs.end(), renamed);
  }

  bool reduce_each(std::vector<Step> Program::*steps) {
    bool has_shrunk = false;
    for (std::size_t index = 0; index < (program_.*steps).size(); ++index) {
      for (std::size_t at = 0; at < (program_.*steps)[index].arguments.size(); ++at) {
        for (const StepArgument& less : reductions((program_.*steps)[index].arguments[at])) {
          Program smaller = program_;
          (smaller.*steps)[index].arguments[at] = less;
          if (accept(std::move(smaller))) {
            has_shrunk = true;
            break;
          }
        }
      }
    }
    return has_shrunk;
  }

  /// What is simpler, the simplest first.
  static std::vector<StepArgument> reductions(const StepArgument& argument) {
    std::vector<StepArgument> simpler;
    if (const Scalar* const number = std::get_if<Scalar>(&argument)) {
      const std::int64_t* const whole = number->as_integer();
      const std::int64_t now = whole == nullptr ? 2 : *whole;
      for (const std::int64_t less : {std::int64_t{0}, std::int64_t{1}, now / 2, now - 1}) {
        if (less >= 0 && (less < now || now < 0)) {
          simpler.emplace_back(Scalar(less));
        }
      }
    } else if (const Dims* const dims = std::get_if<Dims>(&argument)) {
      for (std::size_t axis = 0; axis < dims->size(); ++axis) {
        Dims fewer = *dims;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(axis));
        simpler.emplace_back(fewer);
      }
      for (std::size_t axis = 0; axis < dims->size(); ++axis) {
        for (const std::int64_t less : {std::int64_t{1}, (*dims)[axis] - 1}) {
          if (less >= 0 && less < (*dims)[axis]) {
            Dims smaller = *dims;
            smaller[axis] = less;
            simpler.emplace_back(smaller);
          }
        }
      }
    } else if (const DType* const dtype = std::get_if<DType>(&argument)) {
      if (*dtype != DType::f32) {
        simpler.emplace_back(DType::f32);
      }
    }
    return simpler;
  }

  Program program_;
  const std::function<bool(const Program&)>& fails_;
};

}  // namespace

Program shrunk(Program program, const std::function<bool(const Program&)>& fails) {
  return Shrinker(std::move(program), fails).smallest();
}

}  // namespace byre::test
