// SPDX-License-Identifier: BSL-1.0
#include "console.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <system_error>

#include "report.hpp"

namespace byre::stress {
namespace {

/// For restore_terminal(), which has no console.
constinit termios terminal_of_user{};
constinit std::atomic_bool is_terminal_changed{false};

constexpr int wait_milliseconds = 100;
constexpr std::chrono::seconds before_first_line{1};
constexpr std::chrono::seconds between_lines{10};

/// The signals that end the program, except those that its parent had ignored, as nohup does.
sigset_t ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) {
      sigaddset(&signals, signal);
    }
  }
  return signals;
}

int checked(int descriptor) {
  if (descriptor < 0) {
    throw std::system_error(errno, std::generic_category(), "cannot watch the console");
  }
  return descriptor;
}

/// Whether this process may read from the terminal without being stopped for it.
bool has_the_keyboard() {
  return isatty(STDIN_FILENO) != 0 && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

std::size_t usable_columns() {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return known ? static_cast<std::size_t>(size.ws_col) - 1 : 79;
}

std::string line_of(const Progress& progress) {
  const double rate = static_cast<double>(progress.operations) / std::max(progress.seconds, 1e-9);
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.0f s", progress.seconds);
  return std::string(progress.workload) + "  " + seconds + "  " + with_commas(progress.operations) +
         " operations, " + with_commas(static_cast<std::uint64_t>(rate)) + "/s, " +
         with_commas(static_cast<std::uint64_t>(progress.counters.copies)) + " copies, " +
         with_commas(static_cast<std::uint64_t>(progress.counters.steals)) + " steals, " +
         text_of_memory(static_cast<double>(progress.counters.live_bytes)) + " live";
}

}  // namespace

Console::Console()
    : on_terminal_(isatty(STDERR_FILENO) != 0),
      reads_keys_(has_the_keyboard()),
      next_line_(Clock::now() + before_first_line) {
  const sigset_t signals = ending_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signals_ = checked(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  wakes_ = checked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  termios terminal{};
  if (reads_keys_ && tcgetattr(STDIN_FILENO, &terminal) == 0) {
    terminal_of_user = terminal;
    is_terminal_changed = true;
    // Keys come at once and unseen; Ctrl-C is still a signal.
    terminal.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &terminal);
  }
}

Console::~Console() {
  clear();
  restore_terminal();
  close(signals_);
  close(wakes_);
}

void Console::restore_terminal() noexcept {
  if (is_terminal_changed.exchange(false)) {
    tcsetattr(STDIN_FILENO, TCSANOW, &terminal_of_user);
  }
}

void Console::wait() {
  pollfd inputs[] = {
      {signals_, POLLIN, 0}, {wakes_, POLLIN, 0}, {reads_keys_ ? STDIN_FILENO : -1, POLLIN, 0}};
  poll(inputs, std::size(inputs), wait_milliseconds);
  stop_requested_ = stop_requested_ || inputs[0].revents != 0;
  std::uint64_t count;
  [[maybe_unused]] const auto taken = read(wakes_, &count, sizeof count);
  if (inputs[2].revents != 0) {
    read_keys();
  }
}

void Console::wake() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(wakes_, &one, sizeof one);
}

void Console::show(const Progress& progress) {
  if (!on_terminal_ && Clock::now() < next_line_) {
    return;
  }
  next_line_ = Clock::now() + between_lines;
  std::string line = line_of(progress);
  if (on_terminal_) {
    line.resize(std::min(line.size(), usable_columns()));
    std::fprintf(stderr, "\r%s\033[K", line.c_str());
  } else {
    std::fprintf(stderr, "%s\n", line.c_str());
  }
  std::fflush(stderr);
}

void Console::clear() {
  if (on_terminal_) {
    std::fprintf(stderr, "\r\033[K");
    std::fflush(stderr);
  }
}

void Console::read_keys() {
  char keys[16];
  const auto size = read(STDIN_FILENO, keys, sizeof keys);
  if (size <= 0) {
    reads_keys_ = false;  // the terminal is gone
    return;
  }
  stop_requested_ = stop_requested_ || std::find(keys, keys + size, 'q') != keys + size;
}

}  // namespace byre::stress
