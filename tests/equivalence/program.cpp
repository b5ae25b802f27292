// SPDX-License-Identifier: BSL-1.0
#include "program.hpp"

#include <array>

namespace byre::test {
namespace {

constexpr std::array<const char*, operations> names_of_operations{
    "make",    "alias",         "transpose",  "slice",       "select",     "diagonal",   "view",
    "as_i32",  "as_i64",        "over",       "reshape",     "lazy_clone", "cat",        "where",
    "equal",   "mask",          "matmul",     "moved",       "clone",      "reshape_",   "drop",
    "resize",  "shrink",        "realize",    "reserve",     "extend",     "share_data", "fill_",
    "set_at",  "write_through", "write_kept", "add_number_", "neg_",       "add_",       "copy_",
    "read_at", "read"};

std::string tensor(std::size_t name) {
  return "t" + std::to_string(name);
}

std::string arguments(const Statement& statement) {
  const Operation operation = statement.operation;
  std::string text = operation == Operation::make ? "" : tensor(statement.self) + ", ";
  if (operation == Operation::add || operation == Operation::copy || operation == Operation::cat ||
      operation == Operation::where || operation == Operation::equal ||
      operation == Operation::mask || operation == Operation::matmul ||
      operation == Operation::share_data) {
    text += tensor(statement.other) + ", ";
  }
  if (!statement.dims.empty() || operation == Operation::make) {
    text += byre::to_string(statement.dims) + ", ";
  }
  switch (operation) {
    case Operation::make:
    case Operation::realize:
    case Operation::extend:
    case Operation::fill:
    case Operation::set_at:
    case Operation::write_through:
    case Operation::write_kept:
    case Operation::add_number:
    case Operation::read:
      return text + std::to_string(statement.value);
    default:
      return text.substr(0, text.size() - 2);
  }
}

std::string to_string(const Statement& statement) {
  std::string text =
      statement.operation <= Operation::clone ? tensor(statement.result) + " = " : "";
  text += std::string(name_of(statement.operation)) + "(" + arguments(statement) + ")";
  if (statement.mode) {
    text += " in mode " + std::string(shadow::name_of(*statement.mode));
  }
  if (statement.is_listed) {
    text += ", listed";
  }
  if (statement.line != 0) {
    text += " at line " + std::to_string(statement.line);
  }
  return text + (statement.is_silent ? " in silence" : "");
}

}  // namespace

const char* name_of(Operation operation) noexcept {
  return names_of_operations[static_cast<std::size_t>(operation)];
}

std::string to_string(const Program& program) {
  std::string text;
  for (std::size_t index = 0; index < program.size(); ++index) {
    text += std::to_string(index + 1) + ": " + to_string(program[index]) + "\n";
  }
  return text;
}

}  // namespace byre::test
