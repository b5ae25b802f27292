// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/scanner.hpp>
#include <byre/functional/dispatch/schema.hpp>

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <string>
#include <unordered_set>

namespace byre::inline v0::functional {
namespace {

struct TypeName {
  const char* name;
  Type type;
};
// Those that begin with another stand before it.
constexpr std::array type_names{
    TypeName{"Tensor[]", Type::tensors}, TypeName{"Tensor", Type::tensor},
    TypeName{"int[]", Type::integers},   TypeName{"int", Type::integer},
    TypeName{"Axis[]", Type::axes},      TypeName{"Axis", Type::axis},
    TypeName{"Scalar", Type::scalar},    TypeName{"bool", Type::boolean},
    TypeName{"DType", Type::dtype},
};

class SchemaParser {
 public:
  explicit SchemaParser(std::string_view text) : scanner_(text, "schema") {}

  Schema parse() {
    schema_.name = scanner_.identifier("the operator's name");
    if (scanner_.accept(".")) {
      schema_.overload = scanner_.identifier("the name of an overload");
    }
    parse_parameters();
    scanner_.expect("->");
    parse_returns();
    if (!scanner_.is_at_end()) {
      scanner_.expected("the end");
    }
    return std::move(schema_);
  }

 private:
  void parse_parameters() {
    scanner_.expect("(");
    bool by_name = false;
    if (scanner_.accept(")")) {
      return;
    }
    do {
      if (!by_name && scanner_.accept("*")) {
        by_name = true;
        scanner_.expect(",");
      }
      parse_parameter(by_name);
    } while (scanner_.accept(","));
    scanner_.expect(")");
  }

  void parse_parameter(bool by_name) {
    const std::size_t begin = scanner_.position();
    Parameter parameter;
    std::tie(parameter.type, parameter.alias) = parse_type();
    parameter.is_optional = scanner_.accept("?");
    const std::size_t name_begin = scanner_.position();
    parameter.name = scanner_.identifier("the parameter's name");
    parameter.is_by_name = by_name;
    if (!names_.insert(parameter.name).second) {
      scanner_.refuse("there is a parameter '" + parameter.name + "' already", name_begin);
    }
    if (parameter.alias && is_set_written(parameter.alias)) {
      scanner_.refuse("two parameters name one alias set: give each its own", begin);
    }
    if (parameter.is_optional && parameter.is_tensor()) {
      scanner_.refuse("a tensor is not optional here: register an overload without it", begin);
    }
    if (parameter.alias.is_written && parameter.type == Type::tensors) {
      scanner_.refuse("lists of tensors that are written are not supported: name each", begin);
    }
    if (scanner_.accept("=")) {
      parse_default(parameter);
    } else if (!schema_.parameters.empty() && schema_.parameters.back().default_value && !by_name) {
      scanner_.refuse("a parameter without a default stands behind one with a default", begin);
    }
    if (parameter.alias) {
      is_set_written(parameter.alias) = parameter.alias.is_written;
    }
    schema_.parameters.push_back(std::move(parameter));
  }

  void parse_default(Parameter& parameter) {
    const std::size_t begin = scanner_.position();
    const Constant value = scanner_.constant();
    Argument given(value);
    if (parameter.is_tensor() || !detail::conform(given, parameter)) {
      scanner_.refuse("the default is no " + std::string(name_of(parameter.type)), begin);
    }
    parameter.default_value = value;
  }

  std::pair<Type, AliasSet> parse_type() {
    for (const TypeName& candidate : type_names) {
      if (scanner_.accept(candidate.name)) {
        AliasSet alias;
        Type type = candidate.type;
        if (type == Type::tensor && scanner_.accept("(")) {
          alias = parse_alias();
          type = scanner_.accept("[]") ? Type::tensors : type;
        }
        return {type, alias};
      }
    }
    scanner_.expected("a type: Tensor, Tensor[], int, int[], Axis, Axis[], Scalar, bool or DType");
  }

  AliasSet parse_alias() {
    const std::size_t begin = scanner_.position();
    const std::string name = scanner_.identifier("the name of an alias set, one letter");
    if (name.size() != 1) {
      scanner_.refuse("the name of an alias set is one letter", begin);
    }
    const bool is_written = scanner_.accept("!");
    scanner_.expect(")");
    return {name.front(), is_written};
  }

  void parse_returns() {
    if (!scanner_.accept("(")) {
      parse_return();
    } else if (!scanner_.accept(")")) {
      do {
        parse_return();
      } while (scanner_.accept(","));
      scanner_.expect(")");
    }
  }

  void parse_return() {
    const std::size_t begin = scanner_.position();
    const auto [type, alias] = parse_type();
    if (type > Type::tensors) {
      scanner_.refuse("operators return tensors", begin);
    }
    if (!schema_.returns.empty() && (type == Type::tensors || schema_.returns_list())) {
      scanner_.refuse("a list of tensors is returned alone", begin);
    }
    if (alias && !is_set_written(alias)) {
      scanner_.refuse("the result aliases a set that no parameter names", begin);
    }
    if (alias && alias.is_written != is_set_written(alias)) {
      scanner_.refuse("the result and the parameter differ in whether their set is written", begin);
    }
    schema_.returns.push_back({type, alias});
  }

  /// Of a set that a parameter names, whether that is written.
  std::optional<bool>& is_set_written(AliasSet set) {
    return sets_[static_cast<unsigned char>(set.name)];
  }

  Scanner scanner_;
  Schema schema_;
  // Of the parameters so far, not to look through all of them for each.
  std::unordered_set<std::string> names_;
  std::array<std::optional<bool>, 256> sets_;
};

std::string to_string(Type type, AliasSet alias) {
  if (!alias) {
    return name_of(type);
  }
  return std::string("Tensor(") + alias.name + (alias.is_written ? "!)" : ")") +
         (type == Type::tensors ? "[]" : "");
}

}  // namespace

const char* name_of(Type type) noexcept {
  return std::find_if(type_names.begin(), type_names.end(),
                      [type](const TypeName& candidate) { return candidate.type == type; })
      ->name;
}

std::string Schema::full_name() const try {
  return overload.empty() ? name : name + "." + overload;
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("the name of an operator");
}

Effect Schema::effect() const noexcept {
  const auto is_written = [](const auto& part) { return part.alias.is_written; };
  const auto aliases = [](const auto& part) { return static_cast<bool>(part.alias); };
  if (std::any_of(parameters.begin(), parameters.end(), is_written)) {
    return Effect::write;
  }
  return std::any_of(returns.begin(), returns.end(), aliases) ? Effect::view : Effect::none;
}

std::size_t Schema::new_count() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(returns.begin(), returns.end(),
                    [](const Return& returned) { return !returned.alias.is_written; }));
}

std::size_t Schema::index_of(std::string_view parameter) const noexcept {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [parameter](const Parameter& p) { return p.name == parameter; });
  return static_cast<std::size_t>(found - parameters.begin());
}

std::size_t Schema::index_of(AliasSet set) const noexcept {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [set](const Parameter& p) { return p.alias.name == set.name; });
  return static_cast<std::size_t>(found - parameters.begin());
}

Schema parse_schema(std::string_view text) try {
  Schema schema = SchemaParser(text).parse();
  const auto& returns = schema.returns;
  const auto is_view = [](const Return& each) { return each.alias && !each.alias.is_written; };
  const char* wrong = nullptr;
  if (schema.effect() == Effect::view) {
    const AliasSet seen = schema.parameters.empty() ? AliasSet() : schema.parameters.front().alias;
    if (!seen || returns.size() != 1 || returns.front().alias != seen) {
      wrong =
          "a view returns one tensor, or a list, that aliases the first parameter. Return pure "
          "results from an operator of their own.";
    }
  } else if (schema.effect() == Effect::write && std::ranges::any_of(returns, is_view)) {
    wrong =
        "an operator that writes returns what it wrote, or what is new, and no view. Return the "
        "view from an operator of its own.";
  } else if (schema.effect() == Effect::write && schema.returns_list()) {
    wrong =
        "an operator that writes returns single tensors. Return the list from an operator of its "
        "own.";
  }
  if (wrong != nullptr) {
    throw SchemaError(format_text("%s: %s", to_string(schema).c_str(), wrong));
  }
  return schema;
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("parse_schema");
}

std::string to_string(const Schema& schema) try {
  std::string text = schema.full_name() + "(";
  bool by_name = false;
  for (const Parameter& parameter : schema.parameters) {
    text += text.back() == '(' ? "" : ", ";
    text += parameter.is_by_name && !by_name ? "*, " : "";
    by_name = parameter.is_by_name;
    text += to_string(parameter.type, parameter.alias) + (parameter.is_optional ? "? " : " ") +
            parameter.name;
    if (parameter.default_value) {
      text.append("=").append(to_string(*parameter.default_value));
    }
  }
  text += ") -> ";
  std::string returns;
  for (const Return& returned : schema.returns) {
    returns += (returns.empty() ? "" : ", ") + to_string(returned.type, returned.alias);
  }
  return text + (schema.returns.size() == 1 ? returns : "(" + returns + ")");
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("to_string");
}

}  // namespace byre::inline v0::functional
