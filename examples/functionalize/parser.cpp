// SPDX-License-Identifier: BSL-1.0
#include "parser.hpp"
#include "expression_parser.hpp"

#include <array>
#include <utility>

namespace examples::functionalize {
namespace {

using byre::functional::Scanner;
using Kind = Expression::Kind;

class Parser {
 public:
  explicit Parser(const Source& source) : source_(source), at_(source.text, source.name, true) {}

  std::vector<Statement> statements() {
    std::vector<Statement> all;
    for (at_.skip_lines(); !at_.is_at_end(); at_.skip_lines()) {
      expressions_.begin_statement();
      all.push_back(statement());
      if (!at_.is_at_end() && at_.peek() != '\n') {
        at_.expected("an operator or the end of the line");
      }
      expect_inputs_first(all);
    }
    return all;
  }

 private:
  Statement statement() {
    if (auto input = input_if_any()) {
      return std::move(*input);
    }
    Statement read;
    read.position = at_.position();
    Expression first = expressions_.expression();
    if (auto update = update_if_any()) {
      expect_place(first);
      read.kind = Statement::Kind::update;
      read.update = std::move(*update);
      read.target = std::move(first);
      read.value = expressions_.expression();
    } else if (first.kind == Kind::subscript && at_.accept("=")) {
      read.kind = Statement::Kind::write;
      read.target = std::move(first);
      read.value = expressions_.expression();
    } else if (at_.is_at("=") || at_.is_at(",")) {
      read.kind = Statement::Kind::assign;
      read.names = names(std::move(first));
      read.value = expressions_.expression();
    } else {
      read.value = std::move(first);
    }
    return read;
  }

  /// "input x = ...". A variable may be called input as well.
  std::optional<Statement> input_if_any() {
    const Scanner before = at_;
    Statement read;
    read.position = at_.position();
    if (!at_.accept("input") || !at_.is_at_identifier()) {
      at_ = before;
      return std::nullopt;
    }
    read.kind = Statement::Kind::input;
    read.names = names(expressions_.expression());
    if (read.names.size() != 1) {
      source_.fail("an input has one name", read.names[1].position);
    }
    read.value = expressions_.expression();
    return read;
  }

  std::vector<Name> names(Expression first) {
    std::vector<Name> all;
    Expression next = std::move(first);
    for (;;) {
      if (next.kind != Kind::variable) {
        source_.fail("what stands left of = is a name, names with commas, or a place such as x[0]",
                     next.position);
      }
      all.push_back({std::move(next.name), next.position});
      if (!at_.accept(",")) {
        at_.expect("=");
        return all;
      }
      next = expressions_.expression();
    }
  }

  std::optional<std::string> update_if_any() {
    constexpr std::array<std::pair<const char*, const char*>, 4> updates{
        {{"+=", "add_"}, {"-=", "sub_"}, {"*=", "mul_"}, {"/=", "div_"}}};
    for (const auto& [sign, name] : updates) {
      if (at_.accept(sign)) {
        return name;
      }
    }
    return std::nullopt;
  }

  void expect_place(const Expression& target) const {
    if (target.kind != Kind::variable && target.kind != Kind::subscript) {
      source_.fail("what is written is a name or a place such as x[0]", target.position);
    }
  }

  void expect_inputs_first(const std::vector<Statement>& all) const {
    if (all.size() > 1 && all.back().kind == Statement::Kind::input &&
        all[all.size() - 2].kind != Statement::Kind::input) {
      source_.fail("inputs stand before all else", all.back().position);
    }
  }

  const Source& source_;
  Scanner at_;
  ExpressionParser expressions_{source_, at_};
};

}  // namespace

void Source::fail(std::string_view message, std::size_t position) const {
  Scanner(text, name, true).refuse(message, position);
}

Script parse(Source source) {
  Script script{std::move(source), {}};
  script.statements = Parser(script.source).statements();
  return script;
}

}  // namespace examples::functionalize
