// SPDX-License-Identifier: BSL-1.0
#include "program.hpp"

#include "unsupported.hpp"

namespace byre::test {
namespace {

struct Missing {};

Argument argument_of(const StepArgument& argument, const Values& values) {
  const auto value_of = [&values](Ref ref) {
    const auto found = values.find(ref);
    if (found == values.end()) {
      throw Missing();
    }
    return found->second;
  };
  return std::visit([](const auto& held) { return Argument(held); },
                    functional::detail::with_tensors<AnyTensor>(argument, value_of));
}

bool has_parts(const functional::Operator& op) {
  return op.schema().returns_list() || op.schema().returns.size() > 1;
}

/// Of an operator that returns what it writes, nothing is named.
bool has_names(const functional::Operator& op) {
  return op.schema().effect() != Effect::write || has_parts(op);
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

/// What shares memory with an input cannot be captured beside it.
bool is_apart_from(const std::vector<Ref>& inputs, const AnyTensor& captured,
                   const Values& before) {
  return std::none_of(inputs.begin(), inputs.end(), [&](Ref input) {
    return before.contains(input) && to_cpu(before.at(input)).aliases(to_cpu(captured));
  });
}

}  // namespace

Happened take(const Step& step, Values& values, std::string* why) {
  try {
    functional::Arguments arguments;
    for (const StepArgument& argument : step.arguments) {
      arguments.push_back(argument_of(argument, values));
    }
    const functional::Operator& op = functional::find(step.op);
    const Tensors results = functional::call(op, std::move(arguments));
    if (has_names(op)) {
      for (const AnyTensor& result : results) {
        values[{step.number, static_cast<int>(&result - results.data())}] = result;
      }
    }
    return Happened::done;
  } catch (const Missing&) {
    return Happened::skipped;
  } catch (const Error& error) {
    if (why != nullptr) {
      *why += "  " + step.op + " is refused: " + error.what() + "\n";
    }
    const bool is_of_operands = dynamic_cast<const ShapeError*>(&error) != nullptr ||
                                dynamic_cast<const DTypeError*>(&error) != nullptr;
    return is_of_operands                                       ? Happened::refused_operands
           : dynamic_cast<const StateError*>(&error) != nullptr ? Happened::refused_state
                                                                : Happened::refused;
  }
}

Tensors present(const std::vector<Ref>& refs, const Values& values) {
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
    if (before.contains(ref) && is_apart_from(program.inputs, before.at(ref), before)) {
      values[ref] = before.at(ref);
    }
  }
  for (std::size_t input = 0; input < inputs.size(); ++input) {
    values[names[input]] = inputs[input];
  }
  Unsupported unsupported(program.captured);
  for (const Step& step : program.body) {
    const Happened happened =
        unsupported.is_done_by(step, values) ? Happened::skipped : take(step, values, &trace.said);
    trace.happened.push_back(static_cast<char>(happened));
    if (happened == Happened::done) {
      unsupported.follow(step, values);
    }
  }
  std::vector<Ref> outputs = program.outputs;
  std::erase_if(outputs, [&](Ref ref) { return unsupported.is_captured(ref); });
  return present(outputs, values);
}

Values set_up(const Program& program) {
  Values values;
  for (const Step& step : program.setup) {
    take(step, values);
  }
  return values;
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
