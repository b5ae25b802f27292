// SPDX-License-Identifier: BSL-1.0
// Prints the table that states_test checks as the table that docs/tensor-states.md has.
#include <cstdio>
#include <string>

#include "states.hpp"

namespace byre::test {
namespace {

/// What the document says for a word of the table.
std::string cell_of(const std::string& word) {
  for (const char* refused : {"no dtype", "no memory", "shared"}) {
    if (word == refused) {
      return "`StateError`: " + word;
    }
  }
  if (word == "dtype") {
    return "`DTypeError`";
  }
  if (word == "strided") {
    return "`ShapeError`: not contiguous";
  }
  if (word == "no element") {
    return "`ShapeError`";
  }
  for (const Properties& state : properties_of_states) {
    if (word == state.name) {
      return "→ " + word;
    }
  }
  return word == "anew" ? "→ full, anew" : word;
}

std::string title_of(const Row& row) {
  if (row.operations.size() < 5) {
    return row.title;
  }
  std::string title = std::string(row.title) + ":";
  std::string last;
  for (const Operation& operation : row.operations) {
    const std::string name = operation.name;
    if (last.empty() || !name.starts_with(last + "_")) {
      title += (last.empty() ? " `" : ", `") + name + "`";
      last = name;
    }
  }
  return title;
}

void print() {
  std::printf("| operation |");
  for (const Properties& state : properties_of_states) {
    std::printf(" %s |", state.name);
  }
  std::printf("\n|---|---|---|---|---|---|---|---|\n");
  for (const Row& row : rows()) {
    std::printf("| %s |", title_of(row).c_str());
    for (const char* word : row.cells) {
      std::printf(" %s |", cell_of(word).c_str());
    }
    std::printf("\n");
  }
}

}  // namespace
}  // namespace byre::test

int main() {
  byre::test::print();
}
