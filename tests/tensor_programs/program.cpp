// SPDX-License-Identifier: BSL-1.0
#include "program.hpp"

namespace byre::test {
namespace {

/// Whether the results of an operator get names. False for an operator that writes a tensor and
/// returns only this tensor: the tensor already has a name.
bool has_names(const functional::Operator& op) {
  return op.schema().effect() != Effect::write || op.schema().returns_list() ||
         op.schema().returns.size() > 1;
}

struct ToText {
  std::string operator()(Ref ref) const { return to_string(ref); }
  std::string operator()(const std::vector<Ref>& refs) const {
    std::string text;
    for (const Ref ref : refs) {
      text += (text.empty() ? "" : ", ") + to_string(ref);
    }
    return "[" + text + "]";
  }
  std::string operator()(const auto& constant) const {
    return functional::to_string(functional::Constant(constant));
  }
};

bool has_operands(const Step& step, const Values& values) {
  bool has_all = true;
  for (const StepArgument& argument : step.arguments) {
    functional::detail::with_tensors<Ref>(argument, [&](Ref ref) {
      has_all &= values.contains(ref);
      return ref;
    });
  }
  return has_all;
}

const Ref* ref_at(const Step& step, std::size_t index) {
  return index < step.arguments.size() ? std::get_if<Ref>(&step.arguments[index]) : nullptr;
}

/// Whether a step that writes to a view of bools as another dtype writes only the bytes 0 and 1.
/// The integers 0 and 1 of any size consist of such bytes.
bool keeps_bools(const Step& step, const Values& values) {
  static const std::set<std::string> moves{"zero_",      "resize_",    "permute_", "transpose_",
                                           "t_",         "movedim_",   "squeeze_", "squeeze_.axis",
                                           "unsqueeze_", "as_strided_"};
  if (moves.contains(step.op)) {
    return true;
  }
  const Ref* const self = ref_at(step, 0);  // null for cat.out, whose first argument is a list
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

bool Unsupported::applies_to(const Step& step, const Values& values) const {
  const functional::Operator& op = functional::find(step.op);
  if (!has_operands(step, values)) {
    return false;  // run_step() skips the step
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

void Unsupported::record(const Step& step, const Values& values) {
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

StepResult run_step(const Step& step, Values& values, std::string* why) {
  try {
    if (!has_operands(step, values)) {
      return StepResult::skipped;
    }
    const functional::Operator& op = functional::find(step.op);
    const Tensors results =
        functional::call(op, arguments_of(step, [&](Ref ref) { return values.at(ref); }));
    if (has_names(op)) {
      for (const AnyTensor& result : results) {
        values[{step.number, static_cast<int>(&result - results.data())}] = result;
      }
    }
    return StepResult::done;
  } catch (const Error& error) {
    if (why != nullptr) {
      *why = error.what();
    }
    const bool is_of_operands = dynamic_cast<const ShapeError*>(&error) != nullptr ||
                                dynamic_cast<const DTypeError*>(&error) != nullptr;
    return is_of_operands                                       ? StepResult::refused_operands
           : dynamic_cast<const StateError*>(&error) != nullptr ? StepResult::refused_state
                                                                : StepResult::refused;
  }
}

functional::Arguments arguments_of(const Step& step,
                                   const std::function<AnyTensor(Ref)>& tensor_of) {
  functional::Arguments arguments;
  for (const StepArgument& argument : step.arguments) {
    std::visit([&](const auto& held) { arguments.emplace_back(held); },
               functional::detail::with_tensors<AnyTensor>(argument, tensor_of));
  }
  return arguments;
}

Tensors existing(const std::vector<Ref>& refs, const Values& values) {
  Tensors tensors;
  for (const Ref ref : refs) {
    if (const auto found = values.find(ref); found != values.end()) {
      tensors.push_back(found->second);
    }
  }
  return tensors;
}

Tensors run(const Program& program, const std::vector<Ref>& names, const Tensors& inputs,
            const Values& before, Trace& trace) {
  trace = {};
  Values values;
  for (const Ref ref : program.captured) {
    // Drops captured tensors that share memory with an input: the pass rejects them.
    const auto is_apart = [&](const AnyTensor& input) {
      return !to_cpu(input).aliases(to_cpu(before.at(ref)));
    };
    if (before.contains(ref) && std::ranges::all_of(existing(program.inputs, before), is_apart)) {
      values[ref] = before.at(ref);
    }
  }
  for (std::size_t input = 0; input < inputs.size(); ++input) {
    values[names[input]] = inputs[input];
  }
  Unsupported unsupported(program.captured);
  for (const Step& step : program.body) {
    std::string* const why = &trace.messages.emplace_back();
    const StepResult result =
        unsupported.applies_to(step, values) ? StepResult::skipped : run_step(step, values, why);
    trace.results.push_back(static_cast<char>(result));
    if (result == StepResult::done) {
      unsupported.record(step, values);
    }
  }
  std::vector<Ref> outputs = program.outputs;
  std::erase_if(outputs, [&](Ref ref) { return unsupported.is_captured(ref); });
  return existing(outputs, values);
}

Values set_up(const Program& program) {
  Values values;
  for (const Step& step : program.setup) {
    run_step(step, values);
  }
  return values;
}

std::string to_string(const Trace& trace) {
  std::string text = trace.results + "\n";
  for (const std::string& refusal : trace.messages) {
    text += refusal.empty() ? "" : "  " + refusal + "\n";
  }
  return text;
}

std::string to_string(Ref ref) {
  return "t" + std::to_string(ref.step) + (ref.part == 0 ? "" : "_" + std::to_string(ref.part));
}

std::string to_string(const Step& step) {
  std::string text;
  for (const StepArgument& argument : step.arguments) {
    text += (text.empty() ? "" : ", ") + std::visit(ToText(), argument);
  }
  text = to_string(Ref{step.number, 0}) + " = " + step.op + "(" + text + ")";
  if (step.place.mode) {
    text += " in mode " + std::string(shadow::name_of(*step.place.mode));
  }
  if (step.place.line != 0) {
    text += " at line " + std::to_string(step.place.line);
  }
  return text + (step.place.is_in_file ? ", suppressed" : "") +
         (step.place.is_in_scope ? ", in a scope" : "");
}

std::string to_string(const Program& program) {
  const ToText list;
  std::string text;
  for (const Step& step : program.setup) {
    text += to_string(step) + "\n";
  }
  if (!program.inputs.empty()) {
    text += "inputs " + list(program.inputs) + ", captured " + list(program.captured) + "\n";
  }
  for (const Step& step : program.body) {
    text += "  " + to_string(step) + "\n";
  }
  return text + (program.outputs.empty() ? "" : "outputs " + list(program.outputs) + "\n");
}

}  // namespace byre::test
