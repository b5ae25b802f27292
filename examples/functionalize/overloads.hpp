// SPDX-License-Identifier: BSL-1.0
/// Finds the operator that a program means by a name and arguments, by the operators' schemas.
#pragma once

#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/operator.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace examples::functionalize {

namespace functional = byre::functional;

struct Given {
  std::string name;  ///< empty: by its place
  functional::Argument value;
};

struct OverloadCall {
  const functional::Operator* op;
  functional::Arguments arguments;  ///< all that the schema names, checked
};

inline bool is_integer(const functional::Argument& argument) {
  const auto* const number = argument.get<byre::Scalar>();
  return number != nullptr && number->as_integer() != nullptr;
}

[[noreturn]] inline void refuse(const functional::Schema& schema, const std::string& why) {
  throw functional::ArgumentError(byre::format_text(
      "%s %s: %s", schema.full_name().c_str(), why.c_str(), functional::to_string(schema).c_str()));
}

/// The arguments in the schema's order. Throws ArgumentError.
inline functional::Arguments bound(const functional::Schema& schema,
                                   const std::vector<Given>& given) {
  std::vector<std::optional<functional::Argument>> places(schema.parameters.size());
  std::size_t place = 0;
  for (std::size_t next = 0; next < given.size();) {
    const auto& [name, value] = given[next];
    const std::size_t index = name.empty() ? place++ : schema.index_of(name);
    if (index == places.size() || (name.empty() && schema.parameters[index].is_by_name)) {
      refuse(schema, name.empty() ? "takes no further arguments" : "takes no '" + name + "'");
    }
    if (places[index]) {
      refuse(schema, "was given '" + schema.parameters[index].name + "' twice");
    }
    const functional::Type type = schema.parameters[index].type;
    const bool takes_several = type == functional::Type::integers || type == functional::Type::axes;
    if (takes_several && name.empty() && is_integer(value)) {
      byre::Dims dims;
      for (; next < given.size() && given[next].name.empty() && is_integer(given[next].value);
           ++next) {
        dims.push_back(given[next].value.integer());
      }
      places[index] = functional::Argument(std::move(dims));
    } else {
      places[index] = value;
      ++next;
    }
  }
  functional::Arguments arguments;
  for (std::size_t index = 0; index < places.size(); ++index) {
    const functional::Parameter& parameter = schema.parameters[index];
    if (!places[index] && !parameter.default_value) {
      refuse(schema, "was not given '" + parameter.name + "'");
    }
    arguments.push_back(places[index] ? *places[index]
                                      : functional::Argument(*parameter.default_value));
  }
  return functional::checked_arguments(schema, std::move(arguments));
}

inline std::string described(const std::vector<Given>& given) {
  std::string text;
  for (const Given& each : given) {
    text += (text.empty() ? "" : ", ") + (each.name.empty() ? "" : each.name + "=") +
            functional::describe(each.value);
  }
  return "(" + text + ")";
}

/// The first overload of `name`, by names, that takes what is given. Integers in a row are taken for an int[]:
/// view(x, 1, 2); add and mul may be given the number first: 2 * x. Throws byre::Error, with all overloads if none
/// takes the arguments.
inline OverloadCall overload_for(const std::string& name, std::vector<Given> given) {
  // 2 * x is x * 2: operators take a number second.
  if ((name == "add" || name == "mul") && given.size() == 2 &&
      given[0].value.get<byre::Scalar>() != nullptr) {
    std::swap(given[0], given[1]);
  }
  std::vector<const functional::Operator*> overloads;
  for (const functional::Operator* const op : functional::operators()) {
    if (op->schema().name == name) {
      overloads.push_back(op);
    }
  }
  if (overloads.empty()) {
    return {&functional::find(name), {}};  // which throws, with names that are similar
  }
  std::string all;
  for (const functional::Operator* const op : overloads) {
    try {
      return {op, bound(op->schema(), given)};
    } catch (const functional::ArgumentError&) {
      if (overloads.size() == 1) {
        throw;
      }
      all += "\n    " + functional::to_string(op->schema());
    }
  }
  throw functional::ArgumentError(byre::format_text("no %s takes %s. There are%s", name.c_str(),
                                                    described(given).c_str(), all.c_str()));
}

}  // namespace examples::functionalize
