// SPDX-License-Identifier: BSL-1.0
/// A run: its threads, the checkpoints at which they pause, and the check when all is over.
#pragma once

#include <byre/stats/counters.hpp>

#include <boost/functional/hash.hpp>
#include <chrono>
#include <cstddef>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "../crew.hpp"
#include "../faults/throwing_sink.hpp"
#include "../outcome.hpp"
#include "../watch.hpp"
#include "census.hpp"
#include "hang.hpp"
#include "worker.hpp"

namespace byre::stress {

/// Used by one thread. Throws as run_mixed.
template <sync::Sync Sync, template <class> class Share>
class Run {
 public:
  Run(std::string workload, const Settings& settings, Watch& watch,
      std::chrono::seconds patience = longest_operation)
      : workload_(std::move(workload)),
        watch_(watch),
        world_(settings),
        hang_(last_words_, patience) {
    for (unsigned thread = 0; thread < settings.threads; ++thread) {
      workers_.emplace_back(world_, thread, seed_of_thread(settings.seed, thread));
    }
    fill_board();
  }

  Outcome complete() {
    {
      Crew threads([this] {
        stop_.store(true, boost::memory_order_relaxed);
        gate_.open();
      });
      for (auto& worker : workers_) {
        threads.start([&] {
          worker.run(gate_, stop_);
          gate_.leave();
        });
      }
      look_on();
    }
    check_the_end();
    return outcome();
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Storage = basic_storage<Sync, Share>;

  void fill_board() {
    Maker<Sync, Share> maker(world_, world_.settings.threads, setup_);
    Decisions decisions(world_.settings, seed_of_thread(world_.settings.seed, workers_.size()));
    for (std::size_t at = 0; at < Board<Storage>::places; ++at) {
      auto item = maker.allocate(decisions.next());
      item.become_storage();
      world_.board.put(at, {item.release_storage(), item.expected()});
    }
  }

  /// Until the threads are done or stopped.
  void look_on() {
    constexpr std::chrono::seconds between_checkpoints{1};
    auto next_checkpoint = begun_ + between_checkpoints;
    while (!gate_.all_left()) {
      watch_.wait();
      watch_.show(figures());
      if (is_to_stop()) {
        stop_.store(true, boost::memory_order_relaxed);
      } else if (Clock::now() >= next_checkpoint) {
        checkpoint();
        next_checkpoint = Clock::now() + between_checkpoints;
      }
      hang_.look(done());
    }
  }

  bool is_to_stop() const {
    const bool timed_out =
        !world_.settings.operations && Clock::now() - begun_ >= world_.settings.duration;
    return timed_out || world_.failures.any() || watch_.wants_to_end();
  }

  void checkpoint() {
    gate_.close();
    while (!gate_.is_still()) {
      watch_.wait();
      hang_.look(done());
    }
    ++checkpoints_;
    Census<Sync, Share> census(world_);
    for (const auto& worker : workers_) {
      worker.slots().for_each([&](const auto& item) { census.count(item); });
    }
    census.count_shared();
    census.check(tally().adopted);
    check_counts();
    gate_.open();
  }

  void check_the_end() {
    for (auto& mailbox : world_.mailboxes) {
      mailbox.clear();
    }
    world_.board.for_each([](auto& posted) { posted.storage = {}; });
    Census<Sync, Share>(world_).check(tally().adopted);
    check_counts();
    world_.accounts.check_that_all_came_back();
    if (BYRE_STATS != 0 && counted().live_bytes != 0) {
      world_.failures.add("live bytes: " + std::to_string(counted().live_bytes) +
                          " more than at the start");
    }
  }

  void check_counts() {
    check_counters(tally(), counted(), world_.failures);
    sink_.check(tally().faults[Fault::sink].injected, world_.failures);
  }

  Tally tally() const {
    Tally sum = setup_;
    for (const auto& worker : workers_) {
      sum += worker.tally();
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
  stats::Counters counted() const { return stats::snapshot() - before_; }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begun_).count(); }
  Figures figures() const { return {workload_, seconds(), done(), counted()}; }

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
    Outcome outcome;
    outcome.workload = workload_;
    outcome.settings = world_.settings;
    outcome.seconds = seconds();
    outcome.operations = done();
    outcome.tally = tally();
    outcome.counted = counted();
    outcome.checkpoints = checkpoints_ + 1;
    outcome.failures = world_.failures.texts();
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

  const std::string workload_;
  Watch& watch_;
  const stats::Counters before_ = stats::snapshot();
  const Clock::time_point begun_ = Clock::now();
  World<Sync, Share> world_;
  ThrowingSink sink_{world_.settings.faults.sink > 0};
  Tally setup_;
  std::deque<Worker<Sync, Share>> workers_;
  Gate gate_{world_.settings.threads, watch_};
  boost::atomic<bool> stop_{false};
  const LastWords last_words_{command_of(workload_, world_.settings),
                              [this] { return last_operations(); }};
  Hang hang_;
  std::uint64_t checkpoints_ = 0;
};

}  // namespace byre::stress
