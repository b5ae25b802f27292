// SPDX-License-Identifier: BSL-1.0
/// CrashHandler: reports a run that does not live to its end. The report has what each thread did last, and
/// the command that repeats the run.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

namespace byre::stress {

/// While it lives, it handles the signals that end the program (a failed assertion, a wrong address) that
/// no sanitizer handles: it writes the report, and the program ends by the signal. One at a time.
class CrashHandler {
 public:
  using Lines = std::function<std::vector<std::string>()>;

  /// `lines` is called for the report only.
  CrashHandler(std::string command, Lines lines);
  ~CrashHandler();
  CrashHandler(const CrashHandler&) = delete;
  CrashHandler& operator=(const CrashHandler&) = delete;

  /// Writes the report to stderr, and restores the terminal. By any thread.
  void report(const char* why) const;

 private:
  /// Bytes from a signal handler to a thread, or back.
  class Pipe {
   public:
    Pipe();
    ~Pipe();
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    void send(char byte) const noexcept;
    char receive() const noexcept;

   private:
    int ends_[2];
  };

  static void on_fatal_signal(int signal);
  void await_signal() const;

  const std::string command_;
  const Lines lines_;
  const pid_t process_;
  Pipe signals_;
  Pipe reported_;
  std::thread reporter_;  ///< last: it uses all of the above
};

}  // namespace byre::stress
