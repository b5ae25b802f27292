// SPDX-License-Identifier: BSL-1.0
#include "supervisor.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "support/json.hpp"

namespace byre::stress {
namespace {

constexpr int fatal_signals[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};
constexpr int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};

constinit const Supervisor* current = nullptr;
constinit std::atomic<bool> is_stop_requested{false};
constinit std::atomic<bool> is_reported{false};
constinit thread_local bool this_thread_reports = false;

void request_stop(int) {
  is_stop_requested.store(true, std::memory_order_relaxed);
}

void replace_handler(int signal, void (*from)(int), void (*to)(int)) {
  struct sigaction action {};
  if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == from) {
    std::signal(signal, to);
  }
}

}  // namespace

bool stop_requested() noexcept {
  return is_stop_requested.load(std::memory_order_relaxed);
}

Supervisor::Supervisor(std::string workload, const Settings& settings,
                       std::function<std::uint64_t()> done, Lines last_steps,
                       std::chrono::seconds hang_timeout)
    : workload_(std::move(workload)),
      settings_(settings),
      command_(command_of(workload_, settings)),
      done_(std::move(done)),
      last_steps_(std::move(last_steps)),
      hang_timeout_(hang_timeout) {
  current = this;
  for (const int signal : ending_signals) {  // a signal that nohup ignores stays ignored
    replace_handler(signal, SIG_DFL, &request_stop);
  }
  for (const int signal : fatal_signals) {  // a sanitizer's handler remains in place
    replace_handler(signal, SIG_DFL, &on_fatal_signal);
  }
}

Supervisor::~Supervisor() {
  for (const int signal : fatal_signals) {
    replace_handler(signal, &on_fatal_signal, SIG_DFL);
  }
  current = nullptr;
}

/// The report allocates memory. If this thread already holds the lock of the heap, the allocation
/// hangs until the alarm ends the program. Other threads that fail wait here, so that they do not
/// end the program before the report is complete.
void Supervisor::on_fatal_signal(int signal) {
  while (is_reported.exchange(true, std::memory_order_relaxed) && !this_thread_reports) {
    ::pause();
  }
  if (const Supervisor* const supervisor = current; supervisor && !this_thread_reports) {
    this_thread_reports = true;
    ::alarm(10);
    char why[64];
    std::snprintf(why, sizeof why, "ended by signal %d", signal);
    supervisor->report(why);
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void Supervisor::report(const char* why) const {
  std::fprintf(stderr, "\nbyre-stress: %s\nrepeat: %s\n", why, command_.c_str());
  for (const std::string& line : last_steps_()) {
    std::fprintf(stderr, "  %s\n", line.c_str());
  }
}

bool Supervisor::wait() {
  {
    std::unique_lock lock(mutex_);
    woken_.wait_for(lock, std::chrono::milliseconds(100), [this] { return is_woken_; });
    is_woken_ = false;
  }
  show();
  const auto now = Clock::now();
  if (const std::uint64_t done = done_(); done != last_done_) {
    last_done_ = done;
    last_progress_ = now;
  } else if (now - last_progress_ > hang_timeout_) {
    report(("no operation has ended for " + std::to_string(hang_timeout_.count()) +
            " seconds: a thread hangs")
               .c_str());
    std::_Exit(EXIT_FAILURE);
  }
  return stop_requested() || (!settings_.operations && now - begun_ >= settings_.duration);
}

void Supervisor::wake() noexcept {
  const std::lock_guard lock(mutex_);
  is_woken_ = true;
  woken_.notify_all();
}

void Supervisor::show() {
  if (Clock::now() < next_line_) {
    return;
  }
  next_line_ = Clock::now() + std::chrono::seconds(10);
  std::fprintf(stderr, "%s  %.0f s  %llu operations\n", workload_.c_str(), seconds(),
               static_cast<unsigned long long>(done_()));
}

Outcome Supervisor::outcome() const {
  return {.workload = workload_,
          .settings = settings_,
          .seconds = seconds(),
          .operations = done_(),
          .counters = counters(),
          .figures = {},
          .failures = {}};
}

std::string text_of(const Outcome& outcome) {
  std::ostringstream text;
  text.precision(1);
  text << std::fixed << outcome.workload << ": seed " << outcome.settings.seed << ", "
       << outcome.settings.threads << " threads"
       << (outcome.settings.perturbation == no_perturbation ? "" : ", perturbed") << "\n  "
       << outcome.operations << " operations in " << outcome.seconds << " s, "
       << outcome.counters.lazy_clones << " lazy clones, " << outcome.counters.copies << " copies, "
       << outcome.counters.overlays << " overlays, " << outcome.counters.steals << " steals, "
       << outcome.counters.waits << " waits, " << outcome.faults << " faults, " << outcome.delays
       << " delays\n";
  for (const auto& [name, figure] : outcome.figures) {
    text << "  " << name << ' ' << figure << '\n';
  }
  if (outcome.failures.empty()) {
    text << "  passed at " << outcome.rounds << " checkpoints or rounds\n";
    return text.str();
  }
  text << "  FAILED:\n";
  for (const std::string& failure : outcome.failures) {
    text << "    " << failure << '\n';
  }
  text << "  repeat: " << command_of(outcome.workload, outcome.settings) << '\n';
  return text.str();
}

std::string json_of(const Outcome& outcome) {
  test::Json json{{"workload", outcome.workload},
                  {"seed", outcome.settings.seed},
                  {"threads", outcome.settings.threads},
                  {"is_perturbed", outcome.settings.perturbation != no_perturbation},
                  {"seconds", outcome.seconds},
                  {"operations", outcome.operations},
                  {"rounds", outcome.rounds},
                  {"faults", outcome.faults},
                  {"delays", outcome.delays},
                  {"failures", outcome.failures},
                  {"command", command_of(outcome.workload, outcome.settings)}};
  for (const auto& [name, figure] : outcome.figures) {
    json[std::string(name)] = figure;
  }
  return json.dump() + '\n';
}

}  // namespace byre::stress
