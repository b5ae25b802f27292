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

/// Names are those of the setup, or of the body, where inputs have names of their own.
struct ToCode {
  const Program* program = nullptr;
  bool is_in_body = false;

  std::string operator()(NoValue) const { return "NoValue()"; }
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  std::string operator()(const Scalar& number) const { return functional::to_string(number); }
  std::string operator()(DType dtype) const {
    return std::string("DType::") + (dtype == DType::boolean ? "boolean" : byre::name_of(dtype));
  }
  std::string operator()(const Dims& dims) const {
    std::string text = byre::to_string(dims);
    text.front() = '{';
    text.back() = '}';
    return dims.size() < 2 ? "Dims" + text : text;
  }
  std::string operator()(Ref ref) const {
    if (is_in_body && is_input(ref)) {
      return "t" + std::to_string(ref.step) + (ref.part == 0 ? "" : "_" + std::to_string(ref.part));
    }
    const Step* const maker = maker_of(ref);
    return maker == nullptr || !has_parts(functional::find(maker->op))
               ? "t" + std::to_string(ref.step)
               : "all" + std::to_string(ref.step) + "[" + std::to_string(ref.part) + "]";
  }
  std::string operator()(const std::vector<Ref>& refs) const {
    std::string text;
    for (const Ref ref : refs) {
      text += (text.empty() ? "" : ", ") + (*this)(ref);
    }
    return "Tensors{" + text + "}";
  }
  std::string operator()(const Step& step) const {
    const functional::Operator& op = functional::find(step.op);
    std::string text = "call(\"";
    if (has_names(op)) {
      text = (has_parts(op) ? "const Tensors all" : "const AnyTensor t") +
             std::to_string(step.number) + " = " + (has_parts(op) ? text : "call_for_one(\"");
    }
    text += step.op + "\", {";
    for (const StepArgument& argument : step.arguments) {
      text += (&argument == step.arguments.data() ? "" : ", ") + std::visit(*this, argument);
    }
    return text + "});\n";
  }

 private:
  bool is_input(Ref ref) const {
    return std::find(program->inputs.begin(), program->inputs.end(), ref) != program->inputs.end();
  }
  const Step* maker_of(Ref ref) const {
    for (const std::vector<Step>* steps : {&program->setup, &program->body}) {
      for (const Step& step : *steps) {
        if (step.number == ref.step) {
          return &step;
        }
      }
    }
    return nullptr;
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
    return Happened::refused;
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

std::string to_string(const Program& program) {
  const ToCode outside{&program};
  const ToCode inside{&program, true};
  std::string text;
  for (const Step& step : program.setup) {
    text += outside(step);
  }
  text += program.captured.empty() ? "const auto f = [](const Tensors& in) {\n"
                                   : "const auto f = [=](const Tensors& in) {\n";
  for (std::size_t input = 0; input < program.inputs.size(); ++input) {
    text += "  const AnyTensor " + inside(program.inputs[input]) + " = in[" +
            std::to_string(input) + "];\n";
  }
  for (const Step& step : program.body) {
    text += "  " + inside(step);
  }
  return text + "  return " + inside(program.outputs) + ";\n};\nf(" + outside(program.inputs) +
         ");\n";
}

}  // namespace byre::test
