// SPDX-License-Identifier: BSL-1.0
#include "expression_parser.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace examples::functionalize {
namespace {

using Kind = Expression::Kind;

bool is_constant(std::string_view name) {
  constexpr std::array words{"true", "True", "false", "False", "none", "None", "inf", "nan"};
  const auto& dtypes = byre::detail::dtype_names;
  return std::find(words.begin(), words.end(), name) != words.end() ||
         std::find(dtypes.begin(), dtypes.end(), name) != dtypes.end();
}

std::unique_ptr<Expression> boxed(Expression one) {
  return std::make_unique<Expression>(std::move(one));
}

}  // namespace

Expression ExpressionParser::sum() {
  Expression left = product();
  while ((at_.is_at("+") || at_.is_at("-")) && !at_.is_at("+=") && !at_.is_at("-=")) {
    const std::size_t position = at_.position();
    const char* const name = at_.accept("+") ? "add" : (at_.accept("-"), "sub");
    left = call(name, position, std::move(left), product());
  }
  return left;
}

Expression ExpressionParser::product() {
  Expression left = factor();
  while ((at_.is_at("*") || at_.is_at("/")) && !at_.is_at("*=") && !at_.is_at("/=")) {
    const std::size_t position = at_.position();
    const char* const name = at_.accept("*") ? "mul" : (at_.accept("/"), "div");
    left = call(name, position, std::move(left), factor());
  }
  return left;
}

Expression ExpressionParser::factor() {
  count_part();
  const std::size_t position = at_.position();
  if (at_.peek() != '-') {
    return postfix();
  }
  const std::string_view next = at_.between(position + 1, position + 2);
  if (next >= "0" && next <= "9") {
    return constant();
  }
  at_.expect("-");
  return call("neg", position, nested(&ExpressionParser::factor));
}

Expression ExpressionParser::postfix() {
  Expression value = primary();
  for (;;) {
    count_part();
    const std::size_t position = at_.position();
    if (at_.accept(".")) {
      const std::size_t begin = at_.position();
      const std::string name = at_.identifier("the name of an operator");
      at_.expect("(");
      value = call(name, begin, std::move(value));
      more_arguments(value);
    } else if (at_.accept("[")) {
      Expression part{Kind::subscript, position, {}, {}, {}, {}};
      part.arguments.push_back({{}, std::make_unique<Expression>(std::move(value))});
      until("]", [&] { part.indices.push_back(index()); });
      if (part.indices.empty()) {
        source_.fail("nothing stands between the brackets", position);
      }
      value = std::move(part);
    } else {
      return value;
    }
  }
}

Expression ExpressionParser::primary() {
  const std::size_t position = at_.position();
  if (at_.accept("(")) {
    at_.skip_lines();
    Expression inner = expression();
    at_.skip_lines();
    at_.expect(")");
    return inner;
  }
  if (at_.accept("[")) {
    Expression list{Kind::list, position, {}, {}, {}, {}};
    until("]", [&] { list.arguments.push_back({{}, boxed(expression())}); });
    return list;
  }
  if (!at_.is_at_identifier()) {
    if (!at_.is_at_number()) {
      at_.expected("a tensor, a number or a list");
    }
    return constant();
  }
  const Scanner before = at_;
  std::string name = at_.identifier("a name");
  if (name == "complex" || (is_constant(name) && !at_.is_at("("))) {
    at_ = before;
    return constant();
  }
  if (!at_.accept("(")) {
    return {Kind::variable, position, std::move(name), {}, {}, {}};
  }
  Expression made{Kind::call, position, std::move(name), {}, {}, {}};
  more_arguments(made);
  return made;
}

void ExpressionParser::more_arguments(Expression& of) {
  until(")", [&] {
    const Scanner before = at_;
    std::string name;
    if (at_.is_at_identifier()) {
      name = at_.identifier("a name");
      if (!at_.accept("=")) {
        name.clear();
        at_ = before;
      }
    }
    of.arguments.push_back({std::move(name), boxed(expression())});
  });
}

Index ExpressionParser::index() {
  Index item;
  const auto part_if_any = [this]() -> std::unique_ptr<Expression> {
    const bool is_none = at_.is_at(":") || at_.is_at(",") || at_.is_at("]");
    return is_none ? nullptr : boxed(expression());
  };
  item.at = at_.is_at(":") ? nullptr : boxed(expression());
  if (at_.accept(":")) {
    item.is_range = true;
    item.end = part_if_any();
    item.step = at_.accept(":") ? part_if_any() : nullptr;
  }
  return item;
}

Expression ExpressionParser::constant() {
  const std::size_t position = at_.position();
  return {Kind::constant, position, {}, at_.constant(), {}, {}};
}

void ExpressionParser::count_part() {
  constexpr std::size_t most_parts = 2000;
  if (++parts_ > most_parts) {
    at_.refuse("this statement has too many parts. Make several of it");
  }
}

Expression ExpressionParser::nested(Expression (ExpressionParser::*part)()) {
  constexpr std::size_t deepest = 100;  // a stack frame of each part of the grammar for each
  if (++depth_ > deepest) {
    at_.refuse("too many parts stand within one another. Give some of them names");
  }
  Expression read = (this->*part)();
  --depth_;
  return read;
}

}  // namespace examples::functionalize
