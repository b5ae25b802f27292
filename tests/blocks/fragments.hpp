// SPDX-License-Identifier: BSL-1.0
/// Runs the fragments of C++ in the documents, in a folder of their own: blocks.py writes a function for each, and a
/// table of them.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <string_view>

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
inline std::string words_of(std::string_view text) {
  std::string words;
  for (const char c : text) {
    if (const std::size_t at = words.rfind("0x"); at != words.npos && at + 2 == words.size()) {
      if (std::isxdigit(static_cast<unsigned char>(c)) != 0) {
        continue;
      }
    }
    const bool is_space = c == ' ' || c == '\n' || c == '\t';
    if (!is_space) {
      words += c;
    } else if (!words.empty() && words.back() != ' ') {
      words += ' ';
    }
  }
  while (!words.empty() && words.back() == ' ') {
    words.pop_back();
  }
  return words;
}

/// Whether a text is what was printed, where each "..." of the text stands for anything.
inline bool is_like(std::string_view text, std::string_view printed) {
  const std::size_t gap = text.find("...");
  if (gap == std::string_view::npos) {
    return text == printed;
  }
  if (printed.substr(0, gap) != text.substr(0, gap)) {
    return false;
  }
  text.remove_prefix(gap + 3);
  for (printed.remove_prefix(gap);; printed.remove_prefix(1)) {
    if (is_like(text, printed)) {
      return true;
    }
    if (printed.empty()) {
      return false;
    }
  }
}

inline void expect_like(std::string_view text, std::string_view printed, const char* file,
                        int line) {
  if (!is_like(words_of(text), words_of(printed))) {
    std::fprintf(stderr, "%s:%d: the document says\n%s\nand what is printed is\n%s\n", file, line,
                 std::string(text).c_str(), std::string(printed).c_str());
    ++failures;
  }
}

/// What an action prints to one of the standard streams.
inline std::string printed_by(const std::function<void()>& action, std::FILE* stream = stdout) {
  std::FILE* const file = std::tmpfile();
  std::fflush(stream);
  const int kept = dup(fileno(stream));
  dup2(fileno(file), fileno(stream));
  action();
  std::fflush(stream);
  dup2(kept, fileno(stream));
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
  return printed_by(
      [&] {
        if (const pid_t child = fork(); child == 0) {
          action();
          std::_Exit(EXIT_SUCCESS);
        } else {
          waitpid(child, nullptr, 0);
        }
      },
      stderr);
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
