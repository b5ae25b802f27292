// SPDX-License-Identifier: BSL-1.0
/// What is said of a run that does not live to report: what each thread did last, and the command
/// that repeats it.
#pragma once

#include <boost/thread/thread.hpp>
#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace byre::stress {

/// While it lives, a signal that ends the program (an assertion of the core's, a wrong address) has
/// them said first, unless a sanitizer reports it. One at a time.
class LastWords {
 public:
  using Lines = std::function<std::vector<std::string>()>;

  /// `lines` are asked for when it comes to that.
  LastWords(std::string command, Lines lines);
  ~LastWords();
  LastWords(const LastWords&) = delete;
  LastWords& operator=(const LastWords&) = delete;

  /// To stderr, by any thread; the terminal is as it was then.
  void say(const char* why) const;

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
  Pipe said_;
  boost::thread speaker_;  ///< last: it uses all of the above
};

}  // namespace byre::stress
