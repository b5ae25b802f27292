// SPDX-License-Identifier: BSL-1.0
/// Run: the threads of a run, the checkpoints at which they are held, and the check at the end.
#pragma once

#include <boost/atomic/atomic.hpp>
#include <boost/container_hash/hash.hpp>

#include <chrono>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "../faults/throwing_sink.hpp"
#include "../supervisor.hpp"
#include "../thread_group.hpp"
#include "invariant_audit.hpp"
#include "safepoint.hpp"
#include "worker.hpp"

namespace byre::stress {

/// Used by one thread. Throws as run_mixed.
template <sync::Sync Sync, template <class> class Share>
class Run {
 public:
  Run(std::string workload, const Settings& settings, Monitor& monitor,
      std::chrono::seconds hang_timeout = default_hang_timeout)
      : state_(settings),
        safepoint_(settings.threads, monitor),
        supervisor_(
            std::move(workload), settings, monitor, [this] { return done(); },
            [this] { return last_operations(); }, hang_timeout) {
    for (unsigned thread = 0; thread < settings.threads; ++thread) {
      workers_.emplace_back(state_, thread, seed_of_thread(settings.seed, thread));
    }
    fill_shared_slots();
  }

  Outcome complete() {
    {
      ThreadGroup threads([this] {
        stop_.store(true, boost::memory_order_relaxed);
        safepoint_.release();
      });
      for (auto& worker : workers_) {
        threads.start([&] {
          worker.run(safepoint_, stop_);
          safepoint_.detach();
        });
      }
      supervise();
    }
    check_the_end();
    return outcome();
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Storage = basic_storage<Sync, Share>;

  void fill_shared_slots() {
    ValueFactory<Sync, Share> factory(state_, state_.settings.threads, setup_);
    Decisions decisions(state_.settings, seed_of_thread(state_.settings.seed, workers_.size()));
    for (std::size_t at = 0; at < SharedSlots<Storage>::count; ++at) {
      auto checked = factory.allocate(decisions.next());
      checked.become_storage();
      state_.shared_slots.replace(at, {checked.release_storage(), checked.expected()});
    }
  }

  /// Returns when the threads have ended.
  void supervise() {
    constexpr std::chrono::seconds between_checkpoints{1};
    auto next_checkpoint = Clock::now() + between_checkpoints;
    while (!safepoint_.all_detached()) {
      if (supervisor_.wait_and_show() || state_.failures.any()) {
        stop_.store(true, boost::memory_order_relaxed);
      } else if (Clock::now() >= next_checkpoint) {
        checkpoint();
        next_checkpoint = Clock::now() + between_checkpoints;
      }
    }
  }

  void checkpoint() {
    safepoint_.request();
    while (!safepoint_.is_reached()) {
      supervisor_.wait();
    }
    ++checkpoints_;
    InvariantAudit audit(state_);
    for (const auto& worker : workers_) {
      worker.slots().for_each([&](const auto& checked) { audit.add(checked); });
    }
    audit.add_shared(state_);
    audit.check(counts().adopted);
    check_counts();
    safepoint_.release();
  }

  void check_the_end() {
    for (auto& mailbox : state_.mailboxes) {
      mailbox.clear();
    }
    state_.shared_slots.for_each([](auto& entry) { entry.storage = {}; });
    InvariantAudit(state_).check(counts().adopted);
    check_counts();
    state_.tracking.check_for_leaks();
    const std::int64_t live_bytes = supervisor_.counters().live_bytes;
    if (BYRE_STATS != 0 && live_bytes != 0) {
      state_.failures.add("live bytes: " + std::to_string(live_bytes) + " more than at the start");
    }
  }

  void check_counts() {
    check_counters(counts(), supervisor_.counters(), state_.failures);
    sink_.check(counts().faults[Fault::sink].injected, state_.failures);
  }

  Counts counts() const {
    Counts sum = setup_;
    for (const auto& worker : workers_) {
      sum += worker.counts();
    }
    return sum;
  }
  std::uint64_t done() const {
    std::uint64_t sum = 0;
    for (const auto& worker : workers_) {
      sum += worker.done();
    }
    return sum;
  }

  std::vector<std::string> last_operations() const {
    std::vector<std::string> lines;
    for (std::size_t thread = 0; thread < workers_.size(); ++thread) {
      for (const std::string& line : workers_[thread].last_operations()) {
        lines.push_back("thread " + std::to_string(thread) + ' ' + line);
      }
    }
    return lines;
  }

  Outcome outcome() const {
    Outcome outcome = supervisor_.outcome();
    outcome.counts = counts();
    outcome.checkpoints = checkpoints_ + 1;
    outcome.failures = state_.failures.texts();
    std::size_t digest = 0;
    for (const auto& worker : workers_) {
      boost::hash_combine(digest, worker.digest());
    }
    outcome.digest = digest;
    if (!outcome.failures.empty()) {
      outcome.last_operations = last_operations();
    }
    return outcome;
  }

  RunState<Sync, Share> state_;
  ThrowingSink sink_{state_.settings.faults.sink > 0};
  Counts setup_;
  std::deque<Worker<Sync, Share>> workers_;
  Safepoint safepoint_;
  boost::atomic<bool> stop_{false};
  Supervisor supervisor_;
  std::uint64_t checkpoints_ = 0;
};

}  // namespace byre::stress
