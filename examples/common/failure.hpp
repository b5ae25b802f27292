// SPDX-License-Identifier: BSL-1.0
/// How the program says that it cannot go on: one exception type per exit code. Texts are complete
/// sentences for the user.
#pragma once

#include <stdexcept>
#include <string>

namespace examples {

enum ExitCode : int { exit_success = 0, exit_failure = 1, exit_usage = 2 };

/// Something did not work: exit code 1.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The command line asks for what cannot be: exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws Failure: "`what`: " and the system's text for `error`.
[[noreturn]] void fail_with_error(const std::string& what, int error);

/// The user pressed Ctrl-C, or the system asked the program to end.
class Interrupted : public std::exception {
 public:
  explicit Interrupted(int signal) noexcept : signal_(signal) {}
  const char* what() const noexcept override { return "interrupted"; }
  int exit_code() const noexcept { return 128 + signal_; }

 private:
  int signal_;
};

/// From here on SIGINT, SIGTERM and SIGHUP are only recorded, so that temporary files are removed; and
/// a file beyond a limit or a reader that left is an error of the write, not the process's end.
void record_signals() noexcept;

/// Throws Interrupted if such a signal came.
void throw_if_interrupted();

}  // namespace examples
