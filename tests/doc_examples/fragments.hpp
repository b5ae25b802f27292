// SPDX-License-Identifier: BSL-1.0
/// Runs the C++ fragments of the documents in a temporary folder. doc_examples.py generates a
/// function for each fragment, and a table of these functions.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <regex>
#include <span>
#include <sstream>
#include <string>

#include "support/child_process.hpp"
#include "support/temporary_folder.hpp"

namespace documents {

struct Fragment {
  const char* place;
  void (*run)();
};

inline int failures = 0;

inline void expect(bool holds, const char* what, const char* file, int line) {
  if (!holds) {
    std::fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
    ++failures;
  }
}

/// `text` without addresses, and with each run of white space as one space, because documents wrap
/// lines.
inline std::string words_of(const std::string& text) {
  static const std::regex address("0x[0-9a-f]*");
  std::istringstream stream(std::regex_replace(text, address, "0x"));
  std::string words;
  for (std::string word; stream >> word;) {
    words += (words.empty() ? "" : " ") + word;
  }
  return words;
}

/// Whether `text` equals `printed`, if each "..." in `text` matches anything.
inline bool is_like(const std::string& text, const std::string& printed) {
  static const std::regex special(R"([\\^$.|?*+()\[\]{}])");
  static const std::regex gap(R"((\\\.){3})");
  const std::string escaped = std::regex_replace(text, special, R"(\$&)");
  return std::regex_match(printed, std::regex(std::regex_replace(escaped, gap, ".*")));
}

inline void expect_like(const std::string& text, const std::string& printed, const char* file,
                        int line) {
  if (!is_like(words_of(text), words_of(printed))) {
    std::fprintf(stderr, "%s:%d: wrong output: the document has\n%s\nthe program printed\n%s\n",
                 file, line, text.c_str(), printed.c_str());
    ++failures;
  }
}

/// The text that `action` prints to standard output.
inline std::string printed_by(const std::function<void()>& action) {
  std::FILE* const file = std::tmpfile();
  std::fflush(stdout);
  const int saved = dup(STDOUT_FILENO);
  dup2(fileno(file), STDOUT_FILENO);
  action();
  std::fflush(stdout);
  dup2(saved, STDOUT_FILENO);
  close(saved);
  std::rewind(file);
  std::string text;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) {
    text += static_cast<char>(c);
  }
  std::fclose(file);
  return text;
}

/// Runs `action` in a child process, and returns the text that it writes to standard error before
/// the process ends.
inline std::string last_words(const std::function<void()>& action) {
  const auto act = [&](int output) {
    byre::test::redirect(STDERR_FILENO, output);
    action();
  };
  return byre::test::run_in_child(act, std::chrono::seconds(60)).output;
}

inline int run_all(std::span<const Fragment> fragments) {
  const byre::test::TemporaryFolder folder;
  std::filesystem::current_path(folder.path());
  for (const Fragment& fragment : fragments) {
    try {
      fragment.run();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s: throws: %s\n", fragment.place, error.what());
      ++failures;
    }
  }
  std::filesystem::current_path("/");
  std::printf("%zu fragments ran, %d failures\n", fragments.size(), failures);
  return failures == 0 && !fragments.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace documents

#define EXPECT(...) documents::expect((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
#define EXPECT_LIKE(text, ...) documents::expect_like(text, __VA_ARGS__, __FILE__, __LINE__)
