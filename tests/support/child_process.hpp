// SPDX-License-Identifier: BSL-1.0
/// Work in processes of its own, which may crash, hang or leak: one at a time, or several.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace byre::test {

/// How a child process ended.
class Exit {
 public:
  explicit Exit(int wait_status, bool was_killed = false) noexcept
      : status_(wait_status), was_killed_(was_killed) {}

  /// None if a signal ended it.
  std::optional<int> code() const noexcept;
  /// None if it came to its own end.
  std::optional<int> signal() const noexcept;
  bool is_success() const noexcept { return code() == 0; }
  /// The parent killed it, as it was told to or because the time was over.
  bool was_killed() const noexcept { return was_killed_; }
  /// "exit status 3", "signal 11 (Segmentation fault)", "killed".
  std::string text() const;

 private:
  int status_;
  bool was_killed_;
};

/// What a child does: `output` is a file descriptor whose other end the parent reads. A child whose work
/// returns ends with status 0, without destructors of statics; one whose work throws, with status 1 and
/// the error's text on `output`.
using ChildWork = std::function<void(int output)>;

/// A child process. It is killed when this is destroyed, and when the parent ends. By a program that has
/// one thread.
class ChildProcess {
 public:
  /// Forks. Throws std::system_error.
  explicit ChildProcess(const ChildWork& work);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  enum class Heard { something, nothing, end };

  /// Waits for output for so long, and adds it to text(). The end is that of all that hold `output`.
  Heard listen(std::chrono::milliseconds patience);
  /// What was heard, less what take_line() took.
  const std::string& text() const noexcept { return text_; }
  /// The next whole line, without its end, if there is one.
  std::optional<std::string> take_line();
  /// To be polled.
  int output() const noexcept { return output_; }

  void kill() noexcept;
  /// Waits for its end. Once.
  Exit wait() noexcept;

 private:
  pid_t process_;
  int output_;
  bool was_killed_ = false;
  std::string text_;
};

/// In a child: what it writes to `from`, such as STDERR_FILENO, goes to `output`.
void redirect(int from, int output) noexcept;
/// In a child: writes all of it, or ends the process.
void write_all(int output, const std::string& text) noexcept;

struct ChildResult {
  Exit exit;
  std::string output;
};

/// Runs `work` in a child, which is killed once it has written nothing for `patience`.
ChildResult run_in_child(const ChildWork& work, std::chrono::milliseconds patience);

/// Several pieces of work, each in a child of its own.
struct ChildPool {
  std::function<void(std::size_t number, int output)> work;  ///< in the child
  std::function<void(std::size_t number, const std::string& line)> line;
  std::function<void(std::size_t number, Exit exit)> ended;
  /// Of the whole of one of them, after which it is killed.
  std::function<std::chrono::seconds(std::size_t number)> patience = [](std::size_t) {
    return std::chrono::seconds(3600);
  };
};

/// For each number below `count`, `at_once` at a time.
void run_in_children(std::size_t count, unsigned at_once, const ChildPool& pool);

}  // namespace byre::test
