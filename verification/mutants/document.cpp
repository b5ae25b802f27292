// SPDX-License-Identifier: BSL-1.0
#include "document.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace byre::verification {
namespace {

std::string contents_of(const std::string& file) {
  std::ifstream in(file);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

/// "12: its line" of the first line that differs.
std::string first_difference(const std::string& document, const std::string& text) {
  std::istringstream left(document);
  std::istringstream right(text);
  std::string expected;
  std::string found;
  for (unsigned number = 1;; ++number) {
    const bool more = static_cast<bool>(std::getline(left, expected));
    const bool more_found = static_cast<bool>(std::getline(right, found));
    if (!more && !more_found) {
      return "";
    }
    if (more != more_found || expected != found) {
      return std::to_string(number) + ":\n  is      " + (more_found ? found : "(its end)") +
             "\n  ought   " + (more ? expected : "(its end)");
    }
  }
}

}  // namespace

std::string Table::text() const {
  std::vector<std::size_t> widths(rows_.front().size(), 3);
  for (const auto& row : rows_) {
    for (std::size_t column = 0; column + 1 < row.size(); ++column) {
      widths[column] = std::max(widths[column], row[column].size());
    }
  }
  std::string text;
  for (std::size_t number = 0; number < rows_.size(); ++number) {
    for (std::size_t column = 0; column < widths.size(); ++column) {
      std::string cell = rows_[number][column];
      if (column + 1 < widths.size()) {
        cell.resize(widths[column], ' ');
      }
      text += "| " + cell + ' ';
    }
    text += "|\n";
    if (number == 0) {
      for (const std::size_t width : widths) {
        text += '|' + std::string(width + 2, '-');
      }
      text += "|\n";
    }
  }
  return text;
}

std::string code(std::string_view name) {
  return '`' + std::string(name) + '`';
}

bool print_or_check(const std::string& document, const std::string& file, const char* command) {
  if (file.empty()) {
    std::printf("%s", document.c_str());
    return true;
  }
  const std::string difference = first_difference(document, contents_of(file));
  if (!difference.empty()) {
    std::fprintf(stderr, "%s is not what byre-verify %s prints, from line %s\n", file.c_str(),
                 command, difference.c_str());
  }
  return difference.empty();
}

}  // namespace byre::verification
