// SPDX-License-Identifier: BSL-1.0
#include "interpreter.hpp"

#include "failure.hpp"
#include "overloads.hpp"

#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/scanner.hpp>

#include <string>
#include <unordered_map>
#include <utility>

namespace examples::functionalize {
namespace {

namespace functional = byre::functional;

using byre::Scalar;
using functional::AnyTensor;
using functional::Argument;
using functional::NoValue;
using functional::Tensors;

struct Variable {
  std::string name;
  Argument value;
};

/// The tensors that a variable has: those of a list are parts[0] and so on.
std::vector<NamedTensor> named(const std::string& name, const Argument& value) {
  if (value.get<AnyTensor>() != nullptr) {
    return {{name, value.tensor()}};
  }
  std::vector<NamedTensor> all;
  if (const Tensors* const several = value.get<Tensors>()) {
    for (const AnyTensor& each : *several) {
      all.push_back({name + "[" + std::to_string(all.size()) + "]", each});
    }
  }
  return all;
}

class Interpreter {
 public:
  Interpreter(const Source& source, Observer* observer) : source_(source), observer_(observer) {}

  void assign(const std::string& name, Argument value) {
    if (observer_ != nullptr) {
      for (const NamedTensor& each : named(name, value)) {
        observer_->named(each.tensor, each.name);
      }
    }
    if (Variable* const known = find(name)) {
      known->value = std::move(value);
    } else {
      numbers_.emplace(name, variables_.size());
      variables_.push_back({name, std::move(value)});
    }
  }

  Argument value_of(const Statement& statement) { return value_of(statement.value); }

  void execute(const Statement& statement) {
    Argument value = value_of(statement.value);
    switch (statement.kind) {
      case Statement::Kind::evaluate:
        return;
      case Statement::Kind::input:  // was made before
        return;
      case Statement::Kind::assign:
        return assign_all(statement, std::move(value));
      case Statement::Kind::write: {
        const char* const name = value.get<AnyTensor>() == nullptr ? "fill_" : "copy_";
        call(name, statement.position,
             {{{}, value_of(*statement.target), 0}, {{}, std::move(value), 0}});
        return;
      }
      case Statement::Kind::update:
        call(statement.update, statement.position,
             {{{}, value_of(*statement.target), 0}, {{}, std::move(value), 0}});
        return;
    }
  }

  bool has(const std::string& name) { return find(name) != nullptr; }

  std::vector<NamedTensor> tensors() const {
    std::vector<NamedTensor> all;
    for (const auto& [name, value] : variables_) {
      for (NamedTensor& each : named(name, value)) {
        all.push_back(std::move(each));
      }
    }
    return all;
  }

 private:
  void assign_all(const Statement& statement, Argument value) {
    const auto& names = statement.names;
    if (names.size() == 1) {
      return assign(names.front().text, std::move(value));
    }
    const Tensors* const several = value.get<Tensors>();
    if (several == nullptr || several->size() != names.size()) {
      source_.fail(std::to_string(names.size()) + " names are given " + functional::describe(value),
                   names.front().position);
    }
    for (std::size_t index = 0; index < names.size(); ++index) {
      assign(names[index].text, (*several)[index]);
    }
  }

  Variable* find(const std::string& name) {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? nullptr : &variables_[found->second];
  }

  Argument value_of(const Expression& expression) {
    switch (expression.kind) {
      case Expression::Kind::constant:
        return Argument(expression.constant);
      case Expression::Kind::variable:
        if (const Variable* const variable = find(expression.name)) {
          return variable->value;
        }
        source_.fail("nothing is called '" + expression.name + "' yet", expression.position);
      case Expression::Kind::list:
        return list(expression);
      case Expression::Kind::call:
        return call(expression.name, expression.position, given(expression));
      case Expression::Kind::subscript:
        break;
    }
    return part_of(expression);
  }

  std::vector<Given> given(const Expression& expression) {
    std::vector<Given> all;
    for (const GivenArgument& each : expression.arguments) {
      all.push_back({each.name, value_of(*each.value), each.value->position});
    }
    return all;
  }

  Argument list(const Expression& expression) {
    byre::Dims dims;
    Tensors tensors;
    for (const GivenArgument& each : expression.arguments) {
      const Argument value = value_of(*each.value);
      const Scalar* const number = value.get<Scalar>();
      if (number != nullptr && number->as_integer() != nullptr && tensors.empty()) {
        dims.push_back(value.integer());
      } else if (value.get<AnyTensor>() != nullptr && dims.empty()) {
        tensors.push_back(value.tensor());
      } else {
        source_.fail("a list is of integers or of tensors", each.value->position);
      }
    }
    return tensors.empty() ? Argument(std::move(dims)) : Argument(std::move(tensors));
  }

  Argument call(const std::string& name, std::size_t position, std::vector<Given> given) {
    const OverloadCall found = overload_for(source_, name, position, std::move(given));
    Tensors results;
    try {
      results = functional::call(*found.op, found.arguments);
    } catch (const byre::Error& error) {
      source_.fail(error.what(), position);
    }
    if (observer_ != nullptr) {
      observer_->called(*found.op, found.arguments, results);
    }
    if (found.op->schema().returns_list()) {
      return results;
    }
    return results.size() == 1 ? Argument(results.front()) : Argument(results);
  }

  Argument part_of(const Expression& expression) {
    const Argument whole = value_of(*expression.arguments.front().value);
    if (const Tensors* const several = whole.get<Tensors>()) {
      return item_of(*several, expression);
    }
    Argument part = whole;
    std::int64_t axis = 0;
    for (const Index& index : expression.indices) {
      const auto bound_or = [&](const std::unique_ptr<Expression>& bound, Argument other) {
        return bound == nullptr ? std::move(other) : value_of(*bound);
      };
      if (!index.is_range) {
        part = call("select", expression.position,
                    {{{}, part, 0}, {{}, axis, 0}, {{}, value_of(*index.at), 0}});
      } else if (index.at != nullptr || index.end != nullptr || index.step != nullptr) {
        part = call("slice", expression.position,
                    {{{}, part, 0},
                     {{}, axis++, 0},
                     {{}, bound_or(index.at, 0), 0},
                     {{}, bound_or(index.end, NoValue()), 0},
                     {{}, bound_or(index.step, 1), 0}});
      } else {
        ++axis;
      }
    }
    const bool is_new = part.get<AnyTensor>() == nullptr || whole.get<AnyTensor>() == nullptr ||
                        part.tensor() != whole.tensor();
    return is_new ? part : call("alias", expression.position, {{{}, part, 0}});
  }

  Argument item_of(const Tensors& several, const Expression& expression) {
    const Index& index = expression.indices.front();
    if (expression.indices.size() != 1 || index.is_range) {
      source_.fail("a list of tensors takes one integer", expression.position);
    }
    const Argument value = value_of(*index.at);
    const Scalar* const number = value.get<Scalar>();
    const std::int64_t* const at = number == nullptr ? nullptr : number->as_integer();
    if (at == nullptr || *at < -std::ssize(several) || *at >= std::ssize(several)) {
      source_.fail("the list has " + std::to_string(several.size()) +
                       " tensors, and was asked for " + functional::describe(value),
                   expression.position);
    }
    return several[static_cast<std::size_t>(*at < 0 ? *at + std::ssize(several) : *at)];
  }

  const Source& source_;
  Observer* observer_;
  std::vector<Variable> variables_;                       // in the order in which they came up
  std::unordered_map<std::string, std::size_t> numbers_;  // of the variables, by their names
};

}  // namespace

std::vector<NamedTensor> make_inputs(const Script& script) {
  Interpreter interpreter(script.source, nullptr);
  std::vector<NamedTensor> inputs;
  for (const Statement& statement : script.statements) {
    if (statement.kind != Statement::Kind::input) {
      break;
    }
    const auto& [name, position] = statement.names.front();
    const Argument value = interpreter.value_of(statement);
    if (value.get<AnyTensor>() == nullptr) {
      script.source.fail("an input is a tensor, not " + functional::describe(value), position);
    }
    if (interpreter.has(name)) {
      script.source.fail("there is an input '" + name + "' already", position);
    }
    interpreter.assign(name, value);
    inputs.push_back({name, value.tensor()});
  }
  return inputs;
}

std::vector<NamedTensor> run(const Script& script, const Tensors& inputs, Observer* observer) {
  Interpreter interpreter(script.source, observer);
  auto next = inputs.begin();
  for (const Statement& statement : script.statements) {
    throw_if_interrupted();
    if (statement.kind == Statement::Kind::input) {
      interpreter.assign(statement.names.front().text, *next++);
    } else {
      interpreter.execute(statement);
    }
  }
  return interpreter.tensors();
}

}  // namespace examples::functionalize
