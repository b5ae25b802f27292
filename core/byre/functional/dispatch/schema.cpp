// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/scanner.hpp>
#include <byre/functional/dispatch/schema.hpp>

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <string>
#include <unordered_set>

namespace byre::inline BYRE_ABI::functional {
namespace {

/// Indexed by Type. The parser searches from the end, so "Tensor[]" comes after its prefix
/// "Tensor".
constexpr std::array type_names{"Tensor", "Tensor[]", "int",  "int[]", "Axis",
                                "Axis[]", "Scalar",   "bool", "DType"};

class SchemaParser {
 public:
  explicit SchemaParser(std::string_view text) : scanner_(text, "schema") {}

  Schema parse() {
    schema_.name = scanner_.identifier("the operator's name");
    if (scanner_.accept(".")) {
      schema_.overload = scanner_.identifier("the name of an overload");
    }
    scanner_.expect("(");
    parse_list([this] { parse_parameter(); });
    scanner_.expect("->");
    if (scanner_.accept("(")) {
      parse_list([this] { parse_return(); });
    } else {
      parse_return();
    }
    if (!scanner_.is_at_end()) {
      scanner_.expected("the end");
    }
    return std::move(schema_);
  }

 private:
  void refuse_if(bool is_wrong, std::size_t position, const char* message) const {
    if (is_wrong) {
      scanner_.refuse(message, position);
    }
  }

  /// Parses the items after an opening bracket, and the closing bracket.
  template <class ParseItem>
  void parse_list(const ParseItem& parse_item) {
    if (scanner_.accept(")")) {
      return;
    }
    do {
      parse_item();
    } while (scanner_.accept(","));
    scanner_.expect(")");
  }

  void parse_parameter() {
    if (!is_by_name_ && scanner_.accept("*")) {
      is_by_name_ = true;
      scanner_.expect(",");
    }
    const std::size_t begin = scanner_.position();
    Parameter parameter;
    std::tie(parameter.type, parameter.alias) = parse_type();
    parameter.is_optional = scanner_.accept("?");
    const std::size_t name_begin = scanner_.position();
    parameter.name = scanner_.identifier("the parameter's name");
    parameter.is_by_name = is_by_name_;
    if (!names_.insert(parameter.name).second) {
      scanner_.refuse("the parameter '" + parameter.name + "' is declared already", name_begin);
    }
    refuse_if(parameter.alias && is_set_written(parameter.alias), begin,
              "two parameters share one alias set: give each its own");
    refuse_if(parameter.is_optional && parameter.is_tensor(), begin,
              "a tensor cannot be optional: register an overload without it");
    refuse_if(parameter.alias.is_written && parameter.type == Type::tensors, begin,
              "a list of tensors cannot be written: name each tensor");
    const std::vector<Parameter>& before = schema_.parameters;
    if (scanner_.accept("=")) {
      parse_default(parameter);
    } else {
      refuse_if(!before.empty() && before.back().default_value && !is_by_name_, begin,
                "a parameter without a default follows one with a default");
    }
    if (parameter.alias) {
      is_set_written(parameter.alias) = parameter.alias.is_written;
    }
    schema_.parameters.push_back(std::move(parameter));
  }

  void parse_default(Parameter& parameter) {
    const std::size_t begin = scanner_.position();
    parameter.default_value = scanner_.constant();
    Argument given(*parameter.default_value);
    if (parameter.is_tensor() || !detail::conform(given, parameter)) {
      scanner_.refuse("the default must be " + std::string(name_of(parameter.type)), begin);
    }
  }

  std::pair<Type, AliasSet> parse_type() {
    std::size_t index = type_names.size();
    while (index-- > 0) {
      if (scanner_.accept(type_names[index])) {
        const auto type = static_cast<Type>(index);
        if (type != Type::tensor || !scanner_.accept("(")) {
          return {type, {}};
        }
        const AliasSet alias = parse_alias();
        return {scanner_.accept("[]") ? Type::tensors : type, alias};
      }
    }
    scanner_.expected("a type: Tensor, Tensor[], int, int[], Axis, Axis[], Scalar, bool or DType");
  }

  AliasSet parse_alias() {
    const std::size_t begin = scanner_.position();
    const std::string_view name = scanner_.identifier("the name of an alias set, one letter");
    refuse_if(name.size() != 1, begin, "the name of an alias set is one letter");
    const bool is_written = scanner_.accept("!");
    scanner_.expect(")");
    return {name.front(), is_written};
  }

  void parse_return() {
    const std::size_t begin = scanner_.position();
    const auto [type, alias] = parse_type();
    refuse_if(type > Type::tensors, begin, "results must be tensors");
    refuse_if(!schema_.returns.empty() && (type == Type::tensors || schema_.returns_list()), begin,
              "a list must be the only result");
    refuse_if(alias && !is_set_written(alias), begin,
              "the result aliases a set that no parameter names");
    refuse_if(alias && alias.is_written != is_set_written(alias), begin,
              "the result and the parameter must agree on '!'");
    schema_.returns.push_back({type, alias});
  }

  /// Whether the alias set is written; empty if no parameter has named the set yet.
  std::optional<bool>& is_set_written(AliasSet set) {
    return sets_[static_cast<unsigned char>(set.name)];
  }

  Scanner scanner_;
  Schema schema_;
  bool is_by_name_ = false;  // after the `*`
  // State of the parameters parsed so far, so that a schema of n parameters is parsed in O(n).
  std::unordered_set<std::string> names_;
  std::array<std::optional<bool>, 256> sets_;
};

/// Returns a text for the contradiction between the results and the operator's effect, or null.
const char* contradiction_in(const Schema& schema) {
  const auto& returns = schema.returns;
  const auto is_view = [](const Return& each) { return each.alias && !each.alias.is_written; };
  if (schema.effect() == Effect::view) {
    const AliasSet viewed =
        schema.parameters.empty() ? AliasSet() : schema.parameters.front().alias;
    return viewed && returns.size() == 1 && returns.front().alias == viewed
               ? nullptr
               : "a view must return one tensor or one list, aliasing the first parameter. Return "
                 "pure results from another operator.";
  }
  if (schema.effect() == Effect::none) {
    return nullptr;
  }
  return std::ranges::any_of(returns, is_view) ? "an operator that writes cannot return a view. "
                                                 "Return the view from another operator."
         : schema.returns_list() ? "an operator that writes cannot return a list. Return the list "
                                   "from another operator."
                                 : nullptr;
}

std::string to_string(Type type, AliasSet alias) {
  if (!alias) {
    return name_of(type);
  }
  return std::string("Tensor(") + alias.name + (alias.is_written ? "!)" : ")") +
         (type == Type::tensors ? "[]" : "");
}

template <class Items, class IsSought>
std::size_t index_where(const Items& items, const IsSought& is_sought) {
  return static_cast<std::size_t>(std::ranges::find_if(items, is_sought) - items.begin());
}

}  // namespace

const char* name_of(Type type) noexcept {
  return type_names[static_cast<std::size_t>(type)];
}

std::string Schema::full_name() const try {
  return overload.empty() ? name : name + "." + overload;
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("the name of an operator");
}

Effect Schema::effect() const noexcept {
  const auto is_written = [](const Parameter& each) { return each.alias.is_written; };
  const auto aliases = [](const Return& each) { return bool(each.alias); };
  return std::ranges::any_of(parameters, is_written) ? Effect::write
         : std::ranges::any_of(returns, aliases)     ? Effect::view
                                                     : Effect::none;
}

std::size_t Schema::new_count() const noexcept {
  const auto is_new = [](const Return& each) { return !each.alias.is_written; };
  return static_cast<std::size_t>(std::ranges::count_if(returns, is_new));
}

std::size_t Schema::index_of(std::string_view parameter) const noexcept {
  return index_where(parameters, [&](const Parameter& each) { return each.name == parameter; });
}

std::size_t Schema::index_of(AliasSet set) const noexcept {
  return index_where(parameters,
                     [&](const Parameter& each) { return each.alias.name == set.name; });
}

Schema parse_schema(std::string_view text) try {
  Schema schema = SchemaParser(text).parse();
  if (const char* const wrong = contradiction_in(schema)) {
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

}  // namespace byre::inline BYRE_ABI::functional
