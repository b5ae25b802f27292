// SPDX-License-Identifier: BSL-1.0
/// Runs the fragments of C++ in the documents, in a folder of their own: doc_examples.py writes a function for each, and a
/// table of them.
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

/// With every run of white space as one space, since documents break lines where they like, and no address.
inline std::string words_of(const std::string& text) {
  static const std::regex address("0x[0-9a-f]*");
  std::istringstream stream(std::regex_replace(text, address, "0x"));
  std::string words;
  for (std::string word; stream >> word;) {
    words += (words.empty() ? "" : " ") + word;
  }
  return words;
}

/// Whether a text is what was printed, where each "..." of the text stands for anything.
inline bool is_like(const std::string& text, const std::string& printed) {
  static const std::regex special(R"([\\^$.|?*+()\[\]{}])");
  static const std::regex gap(R"((\\\.){3})");
  const std::string escaped = std::regex_replace(text, special, R"(\$&)");
  return std::regex_match(printed, std::regex(std::regex_replace(escaped, gap, ".*")));
}

inline void expect_like(const std::string& text, const std::string& printed, const char* file,
                        int line) {
  if (!is_like(words_of(text), words_of(printed))) {
    std::fprintf(stderr, "%s:%d: the document says\n%s\nand what is printed is\n%s\n", file, line,
                 text.c_str(), printed.c_str());
    ++failures;
  }
}

/// What an action prints to standard output.
inline std::string printed_by(const std::function<void()>& action) {
  std::FILE* const file = std::tmpfile();
  std::fflush(stdout);
  const int kept = dup(STDOUT_FILENO);
  dup2(fileno(file), STDOUT_FILENO);
  action();
  std::fflush(stdout);
  dup2(kept, STDOUT_FILENO);
  close(kept);
  std::rewind(file);
  std::string text;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) {
    text += static_cast<char>(c);
  }
  std::fclose(file);
  return text;
}

/// What a child of this process that runs the action says on standard error before it is gone.
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
