// SPDX-License-Identifier: BSL-1.0
#include "program.hpp"

#include <array>

namespace byre::test {
namespace {

constexpr std::array names{"make",   "alias",   "transpose",  "slice", "select",   "diagonal",
                           "view",   "reshape", "lazy_clone", "clone", "reshape_", "drop",
                           "resize", "reserve", "share_data", "fill_", "set_at",   "write_through",
                           "add_",   "neg_",    "add_",       "copy_", "read_at",  "read"};

std::string tensor(std::size_t name) {
  return "t" + std::to_string(name);
}

std::string to_string(const Statement& statement) {
  const Operation operation = statement.operation;
  std::string text = operation <= Operation::clone ? tensor(statement.result) + " = " : "";
  text += std::string(names.at(static_cast<std::size_t>(operation))) + "(";
  if (operation != Operation::make) {
    text += tensor(statement.self);
  }
  if (operation == Operation::add || operation == Operation::copy ||
      operation == Operation::share_data) {
    text += ", " + tensor(statement.other);
  }
  if (!statement.dims.empty() || operation == Operation::make) {
    text += (text.back() == '(' ? "" : ", ") + byre::to_string(statement.dims);
  }
  switch (operation) {
    case Operation::make:
    case Operation::fill:
    case Operation::set_at:
    case Operation::write_through:
    case Operation::add_number:
    case Operation::read:
      text += ", " + std::to_string(statement.value);
      break;
    default:
      break;
  }
  return text + ")";
}

}  // namespace

std::string to_string(const Program& program) {
  std::string text;
  for (std::size_t index = 0; index < program.size(); ++index) {
    text += std::to_string(index + 1) + ": " + to_string(program[index]) + "\n";
  }
  return text;
}

}  // namespace byre::test
