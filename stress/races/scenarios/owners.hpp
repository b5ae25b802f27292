// SPDX-License-Identifier: BSL-1.0
/// Scenarios in which each thread owns the shared data when a round begins.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

#include "../run_scenario.hpp"

namespace byre::stress::races {

/// The state of an owner at the end of a round.
enum class FinalState : std::uint8_t { written, shared, dropped };

/// The common start and end of these scenarios.
template <class Buffer>
class SharedOwners : public Scenario {
 public:
  explicit SharedOwners(Fixture& fixture) : fixture_(fixture), owners_(fixture.threads) {}

  void prepare() override { share(fixture_.filled<Buffer>(fixture_.original())); }

 protected:
  void share(const Buffer& original) { std::fill(owners_.begin(), owners_.end(), original); }

  Materialized write(unsigned thread, Wait wait = Wait::allowed) {
    return fixture_.write(thread, owners_[thread], fixture_.original(), wait);
  }
  void drop(unsigned thread) { fixture_.drop(thread, owners_[thread]); }

  /// The thread with the special role; it changes with each round.
  unsigned special_thread() const {
    return static_cast<unsigned>(fixture_.round % fixture_.threads);
  }

  void expect_original(unsigned thread, const char* what) {
    fixture_.expect_content(owners_[thread], fixture_.original(), what);
  }
  void expect_live_blocks(std::uint64_t count, const char* what) {
    fixture_.expect_equal(fixture_.memory.live_blocks(), count, what);
  }

  struct Expected {
    std::uint64_t copies;
    std::uint64_t kept;  ///< number of writers that kept the original
    std::uint64_t blocks;
  };
  /// `state_of(thread)` returns the expected state of the owner of that thread.
  template <class StateOf>
  void expect_final_states(const Expected& expected, StateOf state_of) {
    fixture_.expect_equal(fixture_.counts().copied, expected.copies, "copies");
    fixture_.expect_equal(fixture_.counts().kept(), expected.kept,
                          "writers that kept the original");
    expect_live_blocks(expected.blocks, "blocks of the owners");
    for (unsigned thread = 0; thread < fixture_.threads; ++thread) {
      const FinalState state = state_of(thread);
      if (state == FinalState::written) {
        fixture_.expect_content(owners_[thread], fixture_.stamp(thread), "the data of a writer");
      } else if (state == FinalState::shared) {
        expect_original(thread, "the shared data");
      }
    }
  }
  void drop_all() {
    share(Buffer());
    expect_live_blocks(0, "blocks without an owner");
  }

  Fixture& fixture_;
  std::vector<Buffer> owners_;
};

/// All owners write at once: all but one copy, and one keeps the original.
template <class Buffer>
class ConcurrentMaterialize final : public SharedOwners<Buffer> {
 public:
  using SharedOwners<Buffer>::SharedOwners;

  void act(unsigned thread) override { this->write(thread); }

  void check() override {
    const unsigned threads = this->fixture_.threads;
    this->expect_final_states({threads - 1, 1, threads},
                              [](unsigned) { return FinalState::written; });
    this->drop_all();
  }
};

/// Half of the owners write. The others clone the shared data, clone the clones, and write the
/// first clones. The cloning threads never drop the original, so no writer is ever the last owner,
/// and every write copies.
template <class Buffer>
class LazyCloneAgainstMaterialize final : public SharedOwners<Buffer> {
 public:
  using SharedOwners<Buffer>::SharedOwners;

  void act(unsigned thread) override {
    if (is_writer(thread)) {
      this->write(thread);
      return;
    }
    Fixture& fixture = this->fixture_;
    Buffer clone = fixture.clone(thread, this->owners_[thread]);
    const Buffer clone_of_clone = fixture.clone(thread, clone);
    fixture.expect_content(clone_of_clone, fixture.original(), "a clone of a clone");
    fixture.write(thread, clone, fixture.original());
    this->expect_original(thread, "the cloned data");
  }

  void check() override {
    const unsigned threads = this->fixture_.threads;
    this->expect_final_states({threads, 0, (threads + 1) / 2 + 1}, [](unsigned thread) {
      return is_writer(thread) ? FinalState::written : FinalState::shared;
    });
    this->fixture_.expect_equal(this->owners_[1].use_count(), threads / 2,
                                "owners of the original");
    this->drop_all();
  }

 private:
  static bool is_writer(unsigned thread) { return thread % 2 == 0; }
};

/// All owners read the shared data, then drop it. The last owner releases it, once.
template <class Buffer>
class DropsAgainstDrops final : public SharedOwners<Buffer> {
 public:
  using SharedOwners<Buffer>::SharedOwners;

  void act(unsigned thread) override {
    this->expect_original(thread, "the data before a drop");
    this->drop(thread);
  }

  void check() override {
    this->expect_final_states({0, 0, 0}, [](unsigned) { return FinalState::dropped; });
  }
};

/// Some owners drop data that the others write. No drop corrupts a copy, and at most one writer
/// keeps the original. If no writer keeps it, the last owner releases it, once.
template <class Buffer>
class DropsAgainstCopies final : public SharedOwners<Buffer> {
 public:
  using SharedOwners<Buffer>::SharedOwners;
  using SharedOwners<Buffer>::share;

  void act(unsigned thread) override {
    if (drops(thread)) {
      this->expect_original(thread, "the data before a drop");
      this->drop(thread);
    } else {
      this->write(thread);
    }
  }

  void check() override {
    std::uint64_t writers = 0;
    for (unsigned thread = 0; thread < this->fixture_.threads; ++thread) {
      writers += drops(thread) ? 0U : 1U;
    }
    const std::uint64_t kept = this->fixture_.counts().kept();
    this->fixture_.expect(kept <= 1, "at most one writer keeps the original");
    this->expect_final_states({writers - kept, kept, writers}, [this](unsigned thread) {
      return drops(thread) ? FinalState::dropped : FinalState::written;
    });
    this->drop_all();
  }

 private:
  /// Half of the threads, alternating by round; at least one thread drops, and at least one writes.
  bool drops(unsigned thread) const { return (thread + this->fixture_.round) % 2 == 0; }
};

/// A buffer was never cloned before, and all threads clone it at once. This is permitted, because a
/// clone is a read of the buffer.
template <class Buffer>
class FirstClonesAtOnce final : public SharedOwners<Buffer> {
 public:
  using SharedOwners<Buffer>::SharedOwners;

  void prepare() override {
    source_ = this->fixture_.template filled<Buffer>(this->fixture_.original());
  }

  void act(unsigned thread) override {
    const Buffer& source = source_;
    this->owners_[thread] = this->fixture_.clone(thread, source);
    this->expect_original(thread, "a first clone");
  }

  void check() override {
    Fixture& fixture = this->fixture_;
    fixture.expect_equal(source_.use_count(), fixture.threads + 1, "owners");
    for (const Buffer& clone : this->owners_) {
      fixture.expect(clone.shares_data_with(source_), "a first clone shares its data");
    }
    this->expect_live_blocks(1, "shared blocks");
    if (fixture.has_failed()) {
      return;  // with a wrong count of owners, a drop would use released memory
    }
    this->share(Buffer());
    fixture.expect(source_.is_unique(), "the source is unique after its clones are dropped");
    source_ = Buffer();
    this->drop_all();
  }

 private:
  Buffer source_;
};

/// All owners but one read and drop. The remaining owner polls until it is the only owner, then
/// changes size and contents in place. This write must happen after all reads by the other owners.
template <class Buffer>
class ReadsAgainstWritesInPlace final : public SharedOwners<Buffer> {
 public:
  using SharedOwners<Buffer>::SharedOwners;

  void act(unsigned thread) override {
    Buffer& owner = this->owners_[thread];
    if (thread != this->special_thread()) {
      this->fixture_.expect_equal(owner.nbytes(), this->fixture_.nbytes,
                                  "size that a reader reads");
      this->expect_original(thread, "data that a reader reads");
      this->drop(thread);
      return;
    }
    while (!owner.is_unique()) {
      std::this_thread::yield();
    }
    owner.resize(0);
    owner.resize(this->fixture_.nbytes);
    this->write(thread);
  }

  void check() override {
    this->fixture_.expect_equal(this->fixture_.counts().unique, 1, "writes in place");
    this->expect_final_states({0, 1, 1}, [this](unsigned thread) {
      return thread == this->special_thread() ? FinalState::written : FinalState::dropped;
    });
    this->drop_all();
  }
};

}  // namespace byre::stress::races
