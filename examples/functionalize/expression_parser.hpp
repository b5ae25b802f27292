// SPDX-License-Identifier: BSL-1.0
/// Reads expressions, by recursive descent.
#pragma once

#include "script.hpp"

#include <byre/functional/dispatch/scanner.hpp>

#include <string>
#include <utility>

namespace examples::functionalize {

class ExpressionParser {
 public:
  using Scanner = byre::functional::Scanner;

  /// Both outlive it.
  ExpressionParser(const Source& source, Scanner& at) : source_(source), at_(at) {}

  void begin_statement() noexcept { parts_ = depth_ = 0; }

  /// The next one. Throws byre::functional::SyntaxError, which points at the place.
  Expression expression() { return nested(&ExpressionParser::sum); }

 private:
  Expression sum();
  Expression product();
  Expression factor();
  Expression postfix();
  Expression primary();
  Expression constant();
  Index index();
  void more_arguments(Expression& of);

  template <class... Operands>
  Expression call(std::string name, std::size_t position, Operands... operands) {
    Expression made{Expression::Kind::call, position, std::move(name), {}, {}, {}};
    (made.arguments.push_back({{}, std::make_unique<Expression>(std::move(operands))}), ...);
    return made;
  }

  /// Items with commas, also over several lines, up to `close`, behind its opening.
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

  /// Expressions are read, computed and dropped by recursion: both throw for one that goes too
  /// deep.
  void count_part();
  Expression nested(Expression (ExpressionParser::*part)());

  const Source& source_;
  Scanner& at_;
  std::size_t parts_ = 0;  // of the statement so far
  std::size_t depth_ = 0;  // of the expression that is being read within others
};

}  // namespace examples::functionalize
