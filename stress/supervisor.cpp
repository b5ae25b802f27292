// SPDX-License-Identifier: BSL-1.0
#include "supervisor.hpp"

#include <utility>

namespace byre::stress {

Supervisor::Supervisor(std::string workload, const Settings& settings, Monitor& monitor,
                       std::function<std::uint64_t()> done, CrashHandler::Lines last_operations,
                       std::chrono::seconds hang_timeout)
    : workload_(std::move(workload)),
      settings_(settings),
      monitor_(monitor),
      done_(std::move(done)),
      crash_handler_(command_of(workload_, settings_), std::move(last_operations)),
      watchdog_(crash_handler_, hang_timeout) {}

bool Supervisor::wait_and_show() {
  wait();
  monitor_.show({workload_, seconds(), done_(), counters()});
  const bool is_over = !settings_.operations && Clock::now() - begun_ >= settings_.duration;
  return is_over || monitor_.stop_requested();
}

void Supervisor::wait() {
  monitor_.wait();
  watchdog_.observe(done_());
}

Outcome Supervisor::outcome() const {
  Outcome outcome;
  outcome.workload = workload_;
  outcome.settings = settings_;
  outcome.seconds = seconds();
  outcome.operations = done_();
  outcome.counters = counters();
  return outcome;
}

}  // namespace byre::stress
