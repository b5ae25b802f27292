// SPDX-License-Identifier: BSL-1.0
/// Reads expressions by recursive descent, and computes each part as soon as it is read.
#pragma once

#include "interpreter.hpp"
#include "overloads.hpp"

#include <byre/functional/dispatch/call.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace examples::functionalize {

class ExpressionReader {
 protected:
  using AnyTensor = byre::functional::AnyTensor;
  using Argument = byre::functional::Argument;
  using Scanner = byre::functional::Scanner;
  using Tensors = byre::functional::Tensors;
  using Variable = std::pair<std::string, Argument>;

  explicit ExpressionReader(const Scanner& at) : at_(at) {}

  void assign(const std::string& name, Argument value) {
    if (Variable* const known = find(name)) {
      known->second = std::move(value);
    } else {
      variables_.emplace_back(name, std::move(value));
    }
  }

  Argument expression() {
    Argument left = product();
    while ((at_.is_at("+") || at_.is_at("-")) && !at_.is_at("+=") && !at_.is_at("-=")) {
      const std::size_t position = at_.position();
      const char* const name = at_.accept("+") ? "add" : (at_.accept("-"), "sub");
      left = call(name, position, {left, product()});
    }
    return left;
  }

  Argument product() {
    Argument left = factor();
    while ((at_.is_at("*") || at_.is_at("/")) && !at_.is_at("*=") && !at_.is_at("/=")) {
      const std::size_t position = at_.position();
      const char* const name = at_.accept("*") ? "mul" : (at_.accept("/"), "div");
      left = call(name, position, {left, factor()});
    }
    return left;
  }

  Argument factor() {
    constexpr std::size_t deepest = 50;  // each with a stack frame for each part of the grammar
    if (++depth_ > deepest) {
      at_.refuse("too many parts stand within one another. Give some of them names");
    }
    Argument value = at_.is_at("-") && !at_.is_at_number() ? negated() : postfix();
    --depth_;
    return value;
  }

  Argument negated() {
    const std::size_t position = at_.position();
    at_.expect("-");
    return call("neg", position, {factor()});
  }

  Argument postfix() {
    Argument value = primary();
    ended_with_brackets_ = false;
    for (;;) {
      const std::size_t begin = at_.position();
      if (at_.accept(".")) {
        const std::size_t name_begin = at_.position();
        const std::string name = at_.identifier("the name of an operator");
        at_.expect("(");
        value = call(name, name_begin, arguments({{"", value}}));
      } else if (at_.accept("[")) {
        value = part_of(value, begin);
        ended_with_brackets_ = true;
      } else {
        return value;
      }
    }
  }

  Argument primary() {
    const std::size_t position = at_.position();
    if (at_.accept("(")) {
      at_.skip_lines();
      Argument inner = expression();
      at_.skip_lines();
      at_.expect(")");
      return inner;
    }
    if (at_.accept("[")) {
      return list();
    }
    if (!at_.is_at_identifier()) {
      if (!at_.is_at_number()) {
        at_.expected("a tensor, a number or a list");
      }
      return Argument(at_.constant());
    }
    const Scanner before = at_;
    const std::string name = at_.identifier("a name");
    if (is_constant(name) && (name == "complex" || !at_.is_at("("))) {
      at_ = before;
      return Argument(at_.constant());
    }
    if (at_.accept("(")) {
      return call(name, position, arguments({}));
    }
    if (const Variable* const variable = find(name)) {
      return variable->second;
    }
    at_.refuse("nothing is called '" + name + "' yet", position);
  }

  /// Items with commas, also over several lines, up to `close`.
  template <class Item>
  void until(const char* close, const Item& item) {
    at_.skip_lines();
    while (!at_.accept(close)) {
      item();
      at_.skip_lines();
      if (!at_.is_at(close)) {
        if (!at_.accept(",")) {
          at_.expected(std::string("',' or '") + close + "'");
        }
        at_.skip_lines();
      }
    }
  }

  std::vector<Given> arguments(std::vector<Given> given) {
    until(")", [&] {
      const Scanner before = at_;
      std::string name = at_.is_at_identifier() ? at_.identifier("a name") : "";
      if (name.empty() || !at_.accept("=")) {
        name.clear();
        at_ = before;
      }
      given.push_back({std::move(name), expression()});
    });
    return given;
  }

  Argument list() {
    byre::Dims dims;
    Tensors tensors;
    until("]", [&] {
      const std::size_t position = at_.position();
      const Argument value = expression();
      const byre::Scalar* const number = value.get<byre::Scalar>();
      if (number != nullptr && number->as_integer() != nullptr && tensors.empty()) {
        dims.push_back(value.integer());
      } else if (value.get<AnyTensor>() != nullptr && dims.empty()) {
        tensors.push_back(value.tensor());
      } else {
        at_.refuse("a list is of integers or of tensors", position);
      }
    });
    return tensors.empty() ? Argument(std::move(dims)) : Argument(std::move(tensors));
  }

  /// What x[...] sees, behind the bracket: select for an integer, slice for a range, of one dimension after the other.
  Argument part_of(const Argument& whole, std::size_t position) {
    Argument part = whole;
    std::int64_t axis = 0;
    bool is_new = false;
    until("]", [&] {
      const auto bound_or = [&](Argument other) {
        const bool is_none = at_.is_at(":") || at_.is_at(",") || at_.is_at("]");
        return is_none ? other : expression();
      };
      const Argument begin = bound_or(0);
      if (whole.get<Tensors>() != nullptr) {
        part = item_of(*whole.get<Tensors>(), begin, position);
      } else if (at_.accept(":")) {
        const Argument end = bound_or(byre::functional::NoValue());
        const Argument step = at_.accept(":") ? bound_or(1) : Argument(1);
        part = call("slice", position, {part, axis++, begin, end, step});
      } else {
        part = call("select", position, {part, axis, begin});
      }
      is_new = true;
    });
    if (!is_new) {
      at_.refuse("nothing stands between the brackets", position);
    }
    return part;
  }

  Argument item_of(const Tensors& several, const Argument& index, std::size_t position) {
    const byre::Scalar* const number = index.get<byre::Scalar>();
    const std::int64_t* const at = number == nullptr ? nullptr : number->as_integer();
    if (at == nullptr || *at < -std::ssize(several) || *at >= std::ssize(several)) {
      at_.refuse("the list has " + std::to_string(several.size()) + " tensors, and was asked for " +
                     byre::functional::describe(index),
                 position);
    }
    return several[static_cast<std::size_t>(*at < 0 ? *at + std::ssize(several) : *at)];
  }

  Argument call(const std::string& name, std::size_t position,
                std::initializer_list<Argument> arguments) {
    std::vector<Given> given;
    for (const Argument& argument : arguments) {
      given.push_back({"", argument});
    }
    return call(name, position, std::move(given));
  }

  Argument call(const std::string& name, std::size_t position, std::vector<Given> given) {
    try {
      const OverloadCall found = overload_for(name, std::move(given));
      Tensors results = byre::functional::call(*found.op, found.arguments);
      ended_with_brackets_ = false;
      const bool is_one = results.size() == 1 && !found.op->schema().returns_list();
      return is_one ? Argument(results.front()) : Argument(std::move(results));
    } catch (const byre::Error& error) {
      at_.refuse(error.what(), position);
    }
  }

  Scanner at_;
  std::vector<Variable> variables_;   // in the order in which they came up
  bool ended_with_brackets_ = false;  // the expression that was read last is a place such as x[0]

 private:
  Variable* find(const std::string& name) {
    const auto found = std::ranges::find(variables_, name, &Variable::first);
    return found == variables_.end() ? nullptr : &*found;
  }

  static bool is_constant(std::string_view name) {
    constexpr std::array words{"true", "True", "false", "False",  "none",
                               "None", "inf",  "nan",   "complex"};
    const auto& dtypes = byre::detail::dtype_names;
    return std::find(words.begin(), words.end(), name) != words.end() ||
           std::find(dtypes.begin(), dtypes.end(), name) != dtypes.end();
  }

  std::size_t depth_ = 0;
};

}  // namespace examples::functionalize
