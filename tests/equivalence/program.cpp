// SPDX-License-Identifier: BSL-1.0
#include "program.hpp"

#include <array>

namespace byre::test {
namespace {

constexpr std::array<const char*, operations> names{
    "make",    "alias",         "transpose",  "slice",       "select",  "diagonal",
    "view",    "as_i32",        "as_i64",     "over",        "reshape", "lazy_clone",
    "moved",   "clone",         "reshape_",   "share_data",  "drop",    "fill_",
    "set_at",  "write_through", "write_kept", "add_number_", "add_",    "copy_",
    "read_at", "read"};

std::string to_string(const Statement& statement) {
  const auto tensor = [](std::size_t name) { return "t" + std::to_string(name); };
  std::string text =
      statement.operation <= Operation::clone ? tensor(statement.result) + " = " : "";
  text += std::string(name_of(statement.operation)) + "(" + tensor(statement.self) + ", " +
          tensor(statement.other) + ", " + byre::to_string(statement.dims) + ", " +
          std::to_string(statement.value) + ")";
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

const char* name_of(Operation operation) noexcept {
  return names[static_cast<std::size_t>(operation)];
}

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
