// SPDX-License-Identifier: BSL-1.0
/// Documents that are printed by the program, and have to be what is checked in.
#pragma once

#include <string>
#include <vector>

namespace byre::verification {

/// A table in Markdown that is readable as it is.
class Table {
 public:
  explicit Table(std::vector<std::string> head) : rows_{std::move(head)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// "`name`".
std::string code(std::string_view name);

/// Prints the document; or, if `file` is named, only says whether and where the file differs. False
/// if it does.
bool print_or_check(const std::string& document, const std::string& file, const char* command);

}  // namespace byre::verification
