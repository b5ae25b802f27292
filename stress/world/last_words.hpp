// SPDX-License-Identifier: BSL-1.0
/// What is said of a run that does not live to report: what each thread did last, and the command
/// that repeats it.
#pragma once

#include <functional>
#include <string>
#include <vector>

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

  /// To stderr.
  void say(const char* why) const;

 private:
  const std::string command_;
  const Lines lines_;
};

}  // namespace byre::stress
