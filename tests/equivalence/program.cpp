// SPDX-License-Identifier: BSL-1.0
#include "program.hpp"

namespace byre::test {
namespace {

std::string to_string(const Statement& statement) {
  const auto tensor = [](std::size_t name) { return "t" + std::to_string(name); };
  const OperationRow& row = operation_rows[static_cast<std::size_t>(statement.operation)];
  std::string text =
      statement.operation <= Operation::clone ? tensor(statement.result) + " = " : "";
  text += std::string(row.name) + "(" + tensor(statement.self) + ", " + tensor(statement.other) +
          ", " + byre::to_string(statement.dims) + ", " + std::to_string(statement.value) + ")";
  if (statement.mode) {
    text += " in mode " + std::string(shadow::name_of(*statement.mode));
  }
  if (statement.line != 0) {
    text += " at line " + std::to_string(statement.line);
  }
  return text + (statement.is_in_file ? ", suppressed" : "") +
         (statement.is_in_scope ? ", in a scope" : "");
}

}  // namespace

std::string to_string(const Program& program) {
  std::string text;
  for (std::size_t index = 0; index < program.size(); ++index) {
    text += std::to_string(index + 1) + ": " + to_string(program[index]) + "\n";
  }
  return text;
}

std::string to_string(const std::vector<Reported>& reports) {
  std::string text;
  for (const Reported& each : reports) {
    text += " at " + std::to_string(each.number) + " [" + std::to_string(each.reshape) +
            " reshaped, " + std::to_string(each.write) + " written, " +
            std::to_string(each.access) + (each.access_writes ? " then written" : " then read") +
            (each.is_error ? ", an error]" : "]");
  }
  return text.empty() ? " nothing" : text;
}

}  // namespace byre::test
