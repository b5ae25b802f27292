// SPDX-License-Identifier: BSL-1.0
#include "overloads.hpp"

#include <byre/functional/dispatch/call.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace examples::functionalize {
namespace {

namespace functional = byre::functional;

using functional::Argument;
using functional::ArgumentError;
using functional::Arguments;
using functional::Operator;
using functional::Parameter;
using functional::Schema;
using Listed = std::vector<Given>;

std::vector<const Operator*> overloads_of(const std::string& name) {
  std::vector<const Operator*> found;
  for (const Operator* const op : functional::operators()) {
    if (op->schema().name == name) {
      found.push_back(op);
    }
  }
  return found;
}

const std::int64_t* as_integer(const Argument& argument) {
  const byre::Scalar* const number = argument.get<byre::Scalar>();
  return number == nullptr ? nullptr : number->as_integer();
}

/// The integers from `next` on, which it passes.
byre::Dims gathered(const Listed& given, std::size_t& next) {
  byre::Dims dims;
  for (; next < given.size() && given[next].name.empty(); ++next) {
    const std::int64_t* const number = as_integer(given[next].value);
    if (number == nullptr) {
      break;
    }
    dims.push_back(*number);
  }
  return dims;
}

/// What is given in the schema's order. Throws ArgumentError.
Arguments bound(const Schema& schema, const Listed& given) {
  std::vector<std::optional<Argument>> places(schema.parameters.size());
  std::size_t place = 0;
  for (std::size_t next = 0; next < given.size();) {
    const std::string& name = given[next].name;
    const std::size_t index = name.empty() ? place : schema.index_of(name);
    if (index == places.size() || (name.empty() && schema.parameters[index].is_by_name)) {
      throw ArgumentError(
          byre::format_text("%s takes no %s: %s", schema.full_name().c_str(),
                            name.empty() ? "further arguments" : ("'" + name + "'").c_str(),
                            functional::to_string(schema).c_str()));
    }
    if (places[index]) {
      throw ArgumentError(byre::format_text("%s was given '%s' twice", schema.full_name().c_str(),
                                            schema.parameters[index].name.c_str()));
    }
    const functional::Type type = schema.parameters[index].type;
    const bool takes_several = type == functional::Type::integers || type == functional::Type::axes;
    if (takes_several && name.empty() && as_integer(given[next].value) != nullptr) {
      places[index] = Argument(gathered(given, next));
    } else {
      places[index] = given[next++].value;
    }
    if (name.empty()) {
      ++place;
    }
  }
  Arguments arguments;
  for (std::size_t index = 0; index < places.size(); ++index) {
    const Parameter& parameter = schema.parameters[index];
    if (!places[index] && !parameter.default_value) {
      throw ArgumentError(byre::format_text("%s was not given '%s': %s", schema.full_name().c_str(),
                                            parameter.name.c_str(),
                                            functional::to_string(schema).c_str()));
    }
    arguments.push_back(places[index] ? *places[index] : Argument(*parameter.default_value));
  }
  return functional::checked_arguments(schema, std::move(arguments));
}

/// 2 * x is x * 2: operators take a number second.
void put_tensor_first(const std::string& name, Listed& given) {
  const bool is_number_first = given.size() == 2 && given[0].value.get<byre::Scalar>() != nullptr &&
                               given[1].value.get<functional::AnyTensor>() != nullptr;
  if (is_number_first && (name == "add" || name == "mul")) {
    std::swap(given[0], given[1]);
  }
}

std::string described(const Listed& given) {
  std::string text;
  for (const Given& each : given) {
    text += (text.empty() ? "" : ", ") + (each.name.empty() ? "" : each.name + "=") +
            functional::describe(each.value);
  }
  return "(" + text + ")";
}

/// Of a name that no overload has.
void expect_names(const Source& source, const std::vector<const Operator*>& overloads,
                  const Listed& given) {
  for (const Given& each : given) {
    const bool is_known =
        each.name.empty() ||
        std::any_of(overloads.begin(), overloads.end(), [&each](const Operator* op) {
          return op->schema().index_of(each.name) != op->schema().parameters.size();
        });
    if (!is_known) {
      source.fail("nothing is called '" + each.name +
                      "' here: " + functional::to_string(overloads.front()->schema()),
                  each.position);
    }
  }
}

}  // namespace

OverloadCall overload_for(const Source& source, const std::string& name, std::size_t position,
                          Listed given) {
  const auto overloads = overloads_of(name);
  if (overloads.empty()) {
    try {
      return {&functional::find(name), {}};  // which throws
    } catch (const functional::DispatchError& error) {
      source.fail(error.what(), position);
    }
  }
  expect_names(source, overloads, given);
  put_tensor_first(name, given);
  std::string refusal;
  for (const Operator* const op : overloads) {
    try {
      return {op, bound(op->schema(), given)};
    } catch (const ArgumentError& error) {
      refusal = error.what();
    }
  }
  if (overloads.size() > 1) {
    refusal = "no " + name + " takes " + described(given) + ". There are";
    for (const Operator* const op : overloads) {
      refusal += "\n    " + functional::to_string(op->schema());
    }
  }
  source.fail(refusal, position);
}

}  // namespace examples::functionalize
