// SPDX-License-Identifier: BSL-1.0
#include "journal.hpp"

#include <byre/functional/dispatch/cpu_tensor.hpp>

#include <algorithm>
#include <utility>

namespace examples::functionalize {
namespace {

namespace functional = byre::functional;

using functional::AnyTensor;
using functional::Argument;
using functional::Arguments;
using functional::Effect;
using functional::Operator;
using functional::Tensors;

std::string numbered(std::size_t number) {
  return "%" + std::to_string(number);
}

}  // namespace

std::size_t Journal::number_of(const AnyTensor& tensor) {
  const auto [found, is_new] = numbers_.emplace(&tensor.impl(), known_.size());
  if (is_new) {
    known_.push_back({tensor, {}, found->second, functional::describe(tensor)});
  }
  return found->second;
}

void Journal::named(const AnyTensor& tensor, const std::string& name) {
  Known& known = known_[number_of(tensor)];
  known.name = known.name.empty() ? name : known.name;
}

void Journal::input(const AnyTensor& tensor, const std::string& name) {
  const byre::Tensor& memory = functional::to_cpu(tensor);
  const std::size_t number = number_of(tensor);
  named(tensor, name);
  Line line{{number}, "input", {}};
  for (std::size_t earlier = 0; earlier < number; ++earlier) {
    if (functional::to_cpu(known_[earlier].tensor).aliases(memory)) {
      known_[number].base = known_[earlier].base;
      line.effect = "shares memory with " + numbered(earlier);
      break;
    }
  }
  lines_.push_back(std::move(line));
}

std::string Journal::text_of(const Argument& argument) {
  if (argument.get<AnyTensor>() != nullptr) {
    return numbered(number_of(argument.tensor()));
  }
  if (const Tensors* const several = argument.get<Tensors>()) {
    std::string text;
    for (const AnyTensor& each : *several) {
      text += (text.empty() ? "" : ", ") + numbered(number_of(each));
    }
    return "[" + text + "]";
  }
  return std::visit(
      []<class Held>(const Held& held) -> std::string {
        if constexpr (std::is_constructible_v<functional::Constant, Held>) {
          return functional::to_string(functional::Constant(held));
        } else {
          return {};
        }
      },
      argument.held());
}

std::string Journal::effect_of(const Operator& op, const Arguments& arguments) {
  switch (op.schema().effect()) {
    case Effect::none:
      return {};
    case Effect::view:
      ++views_;
      return "view of " + text_of(arguments.front());
    case Effect::write:
      break;
  }
  ++writes_;
  std::string text;
  for (const std::size_t index : op.written()) {
    const std::size_t number = number_of(arguments[index].tensor());
    const std::size_t base = known_[number].base;
    text += (text.empty() ? "" : ", ") +
            std::string(op.view_variant() == nullptr ? "writes " : "moves ") + numbered(number) +
            (base == number ? "" : ", a view of " + numbered(base));
  }
  return text;
}

void Journal::called(const Operator& op, const Arguments& arguments, const Tensors& results) {
  Line line;
  for (const Argument& argument : arguments) {
    line.operation += (line.operation.empty() ? "" : ", ") + text_of(argument);
  }
  line.operation = op.name() + "(" + line.operation + ")";
  line.effect = effect_of(op, arguments);
  for (const AnyTensor& result : results) {
    const std::size_t known = known_.size();
    const std::size_t number = number_of(result);
    if (number == known) {
      line.made.push_back(number);
      if (op.schema().effect() == Effect::view) {
        known_[number].base = known_[number_of(arguments.front().tensor())].base;
      }
    }
  }
  lines_.push_back(std::move(line));
  ++calls_;
}

std::string Journal::results_of(const Line& line) const {
  std::string text;
  for (const std::size_t number : line.made) {
    const Known& known = known_[number];
    text += (text.empty() ? "" : ", ") + numbered(number) +
            (known.name.empty() ? "" : " " + known.name) + ": " + known.meta;
  }
  return text.empty() ? text : text + " = ";
}

std::string Journal::text() const {
  constexpr std::size_t widest = 72;
  std::vector<std::string> lines;
  std::size_t width = 0;
  for (const Line& line : lines_) {
    lines.push_back(results_of(line) + line.operation);
    if (!line.effect.empty() && lines.back().size() <= widest) {
      width = std::max(width, lines.back().size());
    }
  }
  std::string text;
  for (std::size_t index = 0; index < lines.size(); ++index) {
    std::string& line = lines[index];
    if (!lines_[index].effect.empty()) {
      line.resize(std::max(line.size(), width), ' ');
      line += "   " + lines_[index].effect;
    }
    text += "  " + line + "\n";
  }
  return text;
}

}  // namespace examples::functionalize
