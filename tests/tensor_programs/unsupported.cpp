// SPDX-License-Identifier: BSL-1.0
#include "unsupported.hpp"

namespace byre::test {
namespace {

const Ref* ref_at(const Step& step, std::size_t index) {
  return index < step.arguments.size() ? std::get_if<Ref>(&step.arguments[index]) : nullptr;
}

/// Of what is written to bytes of bools: numbers that are bools, as an integer of any size.
bool keeps_bools(const Step& step, const Values& values) {
  static const std::set<std::string> moves{"zero_",      "resize_",    "permute_", "transpose_",
                                           "t_",         "movedim_",   "squeeze_", "squeeze_.axis",
                                           "unsqueeze_", "as_strided_"};
  if (moves.contains(step.op)) {
    return true;
  }
  const Ref* const self = ref_at(step, 0);  // of cat.out a list is the first
  if (self == nullptr || !is_integral(values.at(*self).dtype())) {
    return false;
  }
  if (step.op == "fill_") {
    const auto* const number = std::get_if<Scalar>(&step.arguments[1]);
    const std::int64_t* const whole = number == nullptr ? nullptr : number->as_integer();
    return whole != nullptr && (*whole == 0 || *whole == 1);
  }
  const Ref* const source = step.op == "copy_" ? ref_at(step, 1) : nullptr;
  return source != nullptr && values.at(*source).dtype() == DType::boolean;
}

}  // namespace

bool Unsupported::is_done_by(const Step& step, const Values& values) const {
  const functional::Operator& op = functional::find(step.op);
  for (const StepArgument& argument : step.arguments) {
    if (const Ref* const ref = std::get_if<Ref>(&argument);
        ref != nullptr && !values.contains(*ref)) {
      return false;  // nothing is done
    }
  }
  for (const std::size_t index : op.written()) {
    const Ref* const written = ref_at(step, index);
    if (written != nullptr &&
        (is_captured(*written) || (is_of_bools(*written) && !keeps_bools(step, values)))) {
      return true;
    }
  }
  const Ref* const source = step.op == "set_" ? ref_at(step, 1) : nullptr;
  return source != nullptr && (is_captured(*source) || is_of_bools(*source));
}

void Unsupported::follow(const Step& step, const Values& values) {
  const Ref* const of = ref_at(step, 0);
  if (of == nullptr || functional::find(step.op).effect() != Effect::view) {
    return;
  }
  const bool is_view_of_bools = values.at(*of).dtype() == DType::boolean;
  for (auto made = values.lower_bound({step.number, 0});
       made != values.end() && made->first.step == step.number; ++made) {
    if (is_captured(*of)) {
      captured_.insert(made->first);
    }
    if (is_of_bools(*of) || (is_view_of_bools && made->second.dtype() != DType::boolean)) {
      of_bools_.insert(made->first);
    }
  }
}

}  // namespace byre::test
