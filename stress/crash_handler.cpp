// SPDX-License-Identifier: BSL-1.0
#include "crash_handler.hpp"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>
#include <utility>

#include "report/console.hpp"

namespace byre::stress {
namespace {

constexpr int fatal_signals[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};
constexpr char no_signal = 0;

constinit const CrashHandler* current_handler = nullptr;

void replace_handler(int signal, void (*from)(int), void (*to)(int)) {
  struct sigaction action {};
  if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == from) {
    std::signal(signal, to);
  }
}

}  // namespace

CrashHandler::Pipe::Pipe() {
  if (::pipe(ends_) != 0) {
    throw std::system_error(errno, std::generic_category(), "no pipe for a crash report");
  }
}

CrashHandler::Pipe::~Pipe() {
  ::close(ends_[0]);
  ::close(ends_[1]);
}

void CrashHandler::Pipe::send(char byte) const noexcept {
  while (::write(ends_[1], &byte, 1) < 0 && errno == EINTR) {
  }
}

char CrashHandler::Pipe::receive() const noexcept {
  char byte = no_signal;
  while (::read(ends_[0], &byte, 1) < 0 && errno == EINTR) {
  }
  return byte;
}

/// A handler must not even allocate, so that another thread writes the report. If that thread hangs, on a
/// lock that this one holds, the alarm ends the program.
void CrashHandler::on_fatal_signal(int signal) {
  if (::getpid() == current_handler->process_) {  // a forked child has no such thread
    ::alarm(10);
    current_handler->signals_.send(static_cast<char>(signal));
    current_handler->reported_.receive();
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

CrashHandler::CrashHandler(std::string command, Lines lines)
    : command_(std::move(command)),
      lines_(std::move(lines)),
      process_(::getpid()),
      reporter_([this] { await_signal(); }) {
  current_handler = this;
  for (const int signal : fatal_signals) {
    replace_handler(signal, SIG_DFL, &on_fatal_signal);
  }
}

CrashHandler::~CrashHandler() {
  for (const int signal : fatal_signals) {
    replace_handler(signal, &on_fatal_signal, SIG_DFL);
  }
  current_handler = nullptr;
  signals_.send(no_signal);
  reporter_.join();
}

void CrashHandler::await_signal() const {
  if (const char signal = signals_.receive(); signal != no_signal) {
    char why[64];
    std::snprintf(why, sizeof why, "ended by signal %d", signal);
    report(why);
    reported_.send(signal);
  }
}

void CrashHandler::report(const char* why) const {
  // First what needs no memory.
  Console::restore_terminal();
  std::fprintf(stderr, "\nbyre-stress: %s\nagain: %s\n", why, command_.c_str());
  for (const std::string& line : lines_()) {
    std::fprintf(stderr, "  %s\n", line.c_str());
  }
}

}  // namespace byre::stress
