// SPDX-License-Identifier: BSL-1.0
/// Script: a program as it was read. README.md has its form.
#pragma once

#include <byre/functional/dispatch/argument.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace examples::functionalize {

/// Places in it are counted in characters, from 0.
struct Source {
  std::string text;
  std::string name;

  /// Throws byre::functional::SyntaxError: the message with the place, its line, and a mark below
  /// it.
  [[noreturn]] void fail(std::string_view message, std::size_t position) const;
};

struct Expression;

struct GivenArgument {
  std::string name;  ///< empty: by its place
  std::unique_ptr<Expression> value;
};

/// One item between brackets: 1, or 0:2:1, of which each part may be missing.
struct Index {
  bool is_range = false;
  std::unique_ptr<Expression> at;  ///< the start of a range
  std::unique_ptr<Expression> end;
  std::unique_ptr<Expression> step;
};

struct Expression {
  enum class Kind : unsigned char {
    constant,
    variable,   ///< `name`
    list,       ///< of `arguments`
    call,       ///< of operator `name`; a method's object is the first of `arguments`
    subscript,  ///< of the first of `arguments`, by `indices`
  };

  Kind kind = Kind::constant;
  std::size_t position = 0;  ///< that errors point at
  std::string name;
  byre::functional::Constant constant;
  std::vector<GivenArgument> arguments;
  std::vector<Index> indices;
};

struct Name {
  std::string text;
  std::size_t position = 0;
};

struct Statement {
  enum class Kind : unsigned char {
    evaluate,
    input,   ///< `names` has one
    assign,  ///< one value to each of `names`, or one to one
    write,   ///< what is at `target` becomes `value`
    update,  ///< `update` of both, such as add_
  };

  Kind kind = Kind::evaluate;
  std::size_t position = 0;
  std::vector<Name> names;
  std::optional<Expression> target;
  std::string update;
  Expression value;
};

struct Script {
  Source source;
  std::vector<Statement> statements;  ///< inputs first
};

}  // namespace examples::functionalize
