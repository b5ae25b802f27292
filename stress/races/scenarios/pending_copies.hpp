// SPDX-License-Identifier: BSL-1.0
/// Scenarios in which all owners but one are in the middle of their copies when the last owner is
/// about to write.
#pragma once

#include <atomic>
#include <thread>
#include <utility>

#include "owners.hpp"

namespace byre::stress::races {

template <class Buffer>
class PendingCopies : public SharedOwners<Buffer> {
 public:
  explicit PendingCopies(Fixture& fixture) : SharedOwners<Buffer>(fixture) {
    fixture.memory.before_copy = [this] { stay_pending(); };
  }

  void prepare() override {
    SharedOwners<Buffer>::prepare();
    pending_.store(0, std::memory_order_relaxed);
    is_released_.store(false, std::memory_order_relaxed);
  }

 protected:
  // The accesses are relaxed, because these variables must bring the threads together without
  // ordering them. Ordering is the task of the protocol under test.

  /// Called by the last owner. Returns when all former owners are in the middle of their copies.
  void await_copiers() {
    while (pending_.load(std::memory_order_relaxed) < this->fixture_.threads - 1) {
      std::this_thread::yield();
    }
  }
  void release_copiers() { is_released_.store(true, std::memory_order_relaxed); }

 private:
  void stay_pending() {
    // If the last owner copies, too, that copy is not delayed.
    const bool is_last =
        pending_.fetch_add(1, std::memory_order_relaxed) == this->fixture_.threads - 1;
    while (!is_last && !is_released_.load(std::memory_order_relaxed)) {
      std::this_thread::yield();
    }
  }

  std::atomic<unsigned> pending_{0};
  std::atomic<bool> is_released_{false};
};

/// The other owners do not complete their copies until the last owner has written. If the last
/// owner waited, no thread would make progress. Wait::never forbids a wait, so the last owner
/// copies, too. The last copier releases the original.
template <class Buffer>
class NeverWaits final : public PendingCopies<Buffer> {
 public:
  using PendingCopies<Buffer>::PendingCopies;

  void act(unsigned thread) override {
    if (thread != this->special_thread()) {
      this->write(thread);
      return;
    }
    this->await_copiers();
    this->write(thread, Wait::never);
    this->release_copiers();
  }

  void check() override {
    const unsigned threads = this->fixture_.threads;
    this->expect_final_states({threads, 0, threads}, [](unsigned) { return FinalState::written; });
    this->drop_all();
  }
};

/// The last owner waits for the copies of the former owners, then steals. If all copies end before
/// the last owner checks, it finds its data unique instead, and only the count of steals differs.
/// In every second round the last owner then drops its data at once, although the threads that woke
/// it may not have returned from the wake yet.
template <class Buffer>
class StealAgainstPendingCopies : public PendingCopies<Buffer> {
 public:
  using PendingCopies<Buffer>::PendingCopies;

  void act(unsigned thread) override {
    const bool is_thief = thread == this->special_thread();
    if (is_thief) {
      this->await_copiers();
      this->release_copiers();
    }
    this->write(thread);
    if (is_thief && drops()) {
      this->drop(thread);
    }
  }

  void check() override {
    expect_one_steal();
    this->drop_all();
  }

 protected:
  void expect_one_steal() {
    const unsigned threads = this->fixture_.threads;
    this->expect_final_states(
        {threads - 1, 1, threads - (drops() ? 1 : 0)}, [this](unsigned thread) {
          return thread == this->special_thread() && drops() ? FinalState::dropped
                                                             : FinalState::written;
        });
  }
  Buffer take_stolen() { return std::exchange(this->owners_[this->special_thread()], Buffer()); }

  bool drops_what_it_stole_ = true;

 private:
  bool drops() const { return drops_what_it_stole_ && this->fixture_.round % 2 == 1; }
};

/// Stolen data behaves like new data, whether its owner waited for it or not: in the next round the
/// stolen data is cloned, and drops of this data race with copies.
template <class Buffer>
class StolenDataIsSharedAgain final : public StealAgainstPendingCopies<Buffer> {
  using Steal = StealAgainstPendingCopies<Buffer>;

 public:
  explicit StolenDataIsSharedAgain(Fixture& fixture) : Steal(fixture), drops_(fixture) {
    this->drops_what_it_stole_ = false;
  }

  void prepare() override {
    if (is_shared_again()) {
      this->fixture_.fill(stolen_.mutable_data(), this->fixture_.original());
      drops_.share(std::exchange(stolen_, Buffer()));
    } else {
      Steal::prepare();
    }
  }

  void act(unsigned thread) override {
    is_shared_again() ? drops_.act(thread) : Steal::act(thread);
  }

  void check() override {
    if (is_shared_again()) {
      drops_.check();
      return;
    }
    this->expect_one_steal();
    stolen_ = this->take_stolen();
    this->share(Buffer());
    this->expect_live_blocks(1, "blocks after all but the stolen one are dropped");
  }

 private:
  bool is_shared_again() const { return this->fixture_.round % 2 == 1; }

  DropsAgainstCopies<Buffer> drops_;
  Buffer stolen_;
};

}  // namespace byre::stress::races
