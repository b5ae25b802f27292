// SPDX-License-Identifier: BSL-1.0
#include "last_words.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <utility>

namespace byre::stress {
namespace {

constexpr int fatal_signals[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};

constinit const LastWords* of_this_run = nullptr;

/// What it calls is not meant for a signal handler, but the program is at its end, and more often
/// than not it works. If it does not, the alarm ends it.
void on_fatal_signal(int signal) {
  alarm(10);
  char why[64];
  std::snprintf(why, sizeof why, "ended by signal %d", signal);
  of_this_run->say(why);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void replace_handler(int signal, void (*from)(int), void (*to)(int)) {
  struct sigaction action {};
  if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == from) {
    std::signal(signal, to);
  }
}

}  // namespace

LastWords::LastWords(std::string command, Lines lines)
    : command_(std::move(command)), lines_(std::move(lines)) {
  of_this_run = this;
  for (const int signal : fatal_signals) {
    replace_handler(signal, SIG_DFL, &on_fatal_signal);
  }
}

LastWords::~LastWords() {
  for (const int signal : fatal_signals) {
    replace_handler(signal, &on_fatal_signal, SIG_DFL);
  }
  of_this_run = nullptr;
}

void LastWords::say(const char* why) const {
  // What needs no memory comes first.
  std::fprintf(stderr, "\nbyre-stress: %s\nagain: %s\n", why, command_.c_str());
  for (const std::string& line : lines_()) {
    std::fprintf(stderr, "  %s\n", line.c_str());
  }
}

}  // namespace byre::stress
