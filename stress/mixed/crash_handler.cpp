// SPDX-License-Identifier: BSL-1.0
#include "last_words.hpp"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>
#include <utility>

#include "../report/console.hpp"

namespace byre::stress {
namespace {

constexpr int fatal_signals[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};
constexpr char no_signal = 0;

constinit const LastWords* of_this_run = nullptr;

void replace_handler(int signal, void (*from)(int), void (*to)(int)) {
  struct sigaction action {};
  if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == from) {
    std::signal(signal, to);
  }
}

}  // namespace

LastWords::Pipe::Pipe() {
  if (::pipe(ends_) != 0) {
    throw std::system_error(errno, std::generic_category(), "no pipe to say last words through");
  }
}

LastWords::Pipe::~Pipe() {
  ::close(ends_[0]);
  ::close(ends_[1]);
}

void LastWords::Pipe::send(char byte) const noexcept {
  while (::write(ends_[1], &byte, 1) < 0 && errno == EINTR) {
  }
}

char LastWords::Pipe::receive() const noexcept {
  char byte = no_signal;
  while (::read(ends_[0], &byte, 1) < 0 && errno == EINTR) {
  }
  return byte;
}

/// A handler may not even allocate, so a thread of its own does the talking. If that hangs, on a
/// lock of the thread that is here, the alarm ends the program.
void LastWords::on_fatal_signal(int signal) {
  if (::getpid() == of_this_run->process_) {  // a forked child has no such thread
    ::alarm(10);
    of_this_run->signals_.send(static_cast<char>(signal));
    of_this_run->said_.receive();
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

LastWords::LastWords(std::string command, Lines lines)
    : command_(std::move(command)),
      lines_(std::move(lines)),
      process_(::getpid()),
      speaker_([this] { await_signal(); }) {
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
  signals_.send(no_signal);
  speaker_.join();
}

void LastWords::await_signal() const {
  if (const char signal = signals_.receive(); signal != no_signal) {
    char why[64];
    std::snprintf(why, sizeof why, "ended by signal %d", signal);
    say(why);
    said_.send(signal);
  }
}

void LastWords::say(const char* why) const {
  // What needs no memory comes first.
  Console::restore_terminal();
  std::fprintf(stderr, "\nbyre-stress: %s\nagain: %s\n", why, command_.c_str());
  for (const std::string& line : lines_()) {
    std::fprintf(stderr, "  %s\n", line.c_str());
  }
}

}  // namespace byre::stress
