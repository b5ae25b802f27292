// SPDX-License-Identifier: BSL-1.0
/// Runs work in child processes, one or several at a time. The work may crash, hang or leak.
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

  /// Empty if a signal ended the child.
  std::optional<int> code() const noexcept;
  /// Empty if the child exited.
  std::optional<int> signal() const noexcept;
  bool is_success() const noexcept { return code() == 0; }
  /// Whether the parent killed the child, by kill() or because its time was over.
  bool was_killed() const noexcept { return was_killed_; }
  /// "exit status 3", "signal 11 (Segmentation fault)", "killed".
  std::string text() const;

 private:
  int status_;
  bool was_killed_;
};

/// The work of a child. `output` is the write end of a pipe that the parent reads. If the work
/// returns, the child exits with status 0, without destructors of statics. If the work throws, the
/// child writes the text of the error to `output` and exits with status 1.
using ChildWork = std::function<void(int output)>;

/// A child process. The destructor kills the child, and the system kills it when the parent ends.
/// The program must have only one thread.
class ChildProcess {
 public:
  /// Forks. Throws std::system_error if the system cannot create a pipe or a process.
  explicit ChildProcess(const ChildWork& work);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  enum class Heard { something, nothing, end };

  /// Waits at most `patience` for output, and appends it to text(). Returns `end` once every
  /// process has closed the write end of the pipe.
  Heard listen(std::chrono::milliseconds patience);
  /// The output so far, without the lines that take_line() has removed.
  const std::string& text() const noexcept { return text_; }
  /// Removes and returns the next complete line, without its newline, if there is one.
  std::optional<std::string> take_line();
  /// The read end of the pipe, for poll().
  int output() const noexcept { return output_; }

  void kill() noexcept;
  /// Waits until the child has ended. Call wait() at most once.
  Exit wait() noexcept;

 private:
  pid_t process_;
  int output_;
  bool was_killed_ = false;
  std::string text_;
};

/// For a child: redirects descriptor `from`, such as STDERR_FILENO, to `output`.
void redirect(int from, int output) noexcept;
/// For a child: writes the whole text, or exits with status 1 if that fails.
void write_all(int output, const std::string& text) noexcept;

struct ChildResult {
  Exit exit;
  std::string output;
};

/// Runs `work` in a child. Kills the child if it writes nothing for `patience`.
ChildResult run_in_child(const ChildWork& work, std::chrono::milliseconds patience);

/// The callbacks of run_in_children().
struct ChildPool {
  std::function<void(std::size_t number, int output)> work;  ///< called in the child
  std::function<void(std::size_t number, const std::string& line)> line;
  std::function<void(std::size_t number, Exit exit)> ended;
  /// The time after which a child is killed.
  std::function<std::chrono::seconds(std::size_t number)> patience = [](std::size_t) {
    return std::chrono::seconds(3600);
  };
};

/// Runs `pool.work` in a child for each number below `count`, at most `at_once` of them
/// concurrently.
void run_in_children(std::size_t count, unsigned at_once, const ChildPool& pool);

}  // namespace byre::test
