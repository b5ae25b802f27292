// SPDX-License-Identifier: BSL-1.0
/// Threads exchange and compare-exchange the content of one AtomicBuffer. Every stored buffer is
/// returned exactly once, with all that its thread did before it stored. If the exchanges do not
/// synchronize, the receiver races the writes of the former thread.
#include <byre/storage/atomic_buffer.hpp>

#include "atomic_cells.hpp"

namespace byre::verification {
namespace {

/// Each thread exchanges the content for a buffer that it has written.
template <unsigned Threads>
class StoresRaceStores : public OneCell<> {
 public:
  static constexpr unsigned threads = Threads;

  void thread(unsigned index) {
    Buffer former = exchange(make(8 + index));
    received_[index] = read(former);
  }

  void after() {
    unsigned sum = load_number();
    for (const unsigned number : received_) {
      sum += number;
    }
    expect(sum == 7 + 8 * threads + threads * (threads - 1) / 2,
           "each buffer is returned once, or is the content");
    expect(memory_.frees() == threads, "returned buffers are the last owners");
    expect(cell_->version() == threads + 1, "each store is counted once");
  }

 private:
  unsigned received_[threads] = {};
};

/// One thread exchanges while another thread loads twice.
class StoresRaceLoads : public TwoThreads, public OneCell<> {
 public:
  void thread(unsigned index) {
    if (index == 1) {
      kept_ = load();
      expect(read(kept_) == 7 || read(kept_) == 8, "a load finds a value that was stored");
      return;
    }
    Buffer former = exchange(make(8));
    expect(read(former) == 7, "an exchange returns the former content");
  }

  void after() {
    const bool is_old = read(kept_) == 7;
    expect(memory_.frees() == (is_old ? 0U : 1U), "the former data lives while it has an owner");
    drop(kept_);
    expect(exchange(Buffer()).is_unique(), "no owner is counted that does not exist");
  }

 private:
  Buffer kept_;
};

/// Each thread replaces the content if it is the buffer that both expect. A thread that fails loads
/// what the other stored.
class ReplacementsRace : public TwoThreads, public OneCell<> {
 public:
  ReplacementsRace() { expected_[0] = expected_[1] = load(); }

  void thread(unsigned index) {
    Buffer desired = make(8 + index);
    has_replaced_[index] = compare_exchange(expected_[index], desired);
    if (has_replaced_[index]) {
      expect(desired.nbytes() == 0, "a buffer that was stored is empty");
    } else {
      expect(read(desired) == 8 + index, "a buffer that was not stored is unchanged");
      expect(load_number() == 9 - index, "the content is what the other thread stored");
    }
  }

  void after() {
    expect(has_replaced_[0] != has_replaced_[1], "exactly one of two replacements succeeds");
    expect(load_number() == (has_replaced_[0] ? 8U : 9U), "the content is what was stored");
    expect(exchange(Buffer()).is_unique(), "no owner is counted that does not exist");
    expect(cell_->version() == 3, "only a replacement that succeeds is counted");
    expected_[0] = Buffer();
    expect(expected_[1].is_unique(), "the stock of replaced data is returned");
  }

 private:
  Buffer expected_[2];
  bool has_replaced_[2] = {};
};

/// One thread loads what two threads replace.
class LoadsRaceReplacements : public OneCell<> {
 public:
  static constexpr unsigned threads = 3;

  LoadsRaceReplacements() { expected_[0] = expected_[1] = load(); }

  void thread(unsigned index) {
    if (index == 2) {
      const unsigned number = load_number();
      expect(number >= 7 && number <= 9, "a load finds a value that was stored");
      return;
    }
    Buffer desired = make(8 + index);
    count_ += compare_exchange(expected_[index], desired) ? 1U : 0U;
  }

  void after() { expect(count_ == 1, "exactly one of two replacements succeeds"); }

 private:
  Buffer expected_[2];
  unsigned count_ = 0;
};

/// One thread changes a variable and then stores a buffer that both threads share. The other thread
/// reads the variable after it has replaced that buffer. `Replaces`: the first thread stores by a
/// compare-exchange.
template <bool Replaces>
class ReplacedDataWasStored : public TwoThreads, public OneCell<> {
 public:
  static constexpr std::string_view cover_points[] = {"the data is replaced",
                                                      "the data is not there yet"};

  ReplacedDataWasStored() {
    first_ = load();
    shared_[0] = shared_[1] = make(8);
  }

  void thread(unsigned index) {
    if (index == 0) {
      note_.set(1);
      if (Replaces) {
        expect(compare_exchange(first_, shared_[0]), "the content is as expected");
      } else {
        store(std::move(shared_[0]));
      }
      return;
    }
    Buffer desired;
    const bool is_replaced = compare_exchange(shared_[1], desired);
    expect(!is_replaced || note_.get() == 1,
           "what a thread did before a store happens before the return of a replacement");
    cover(cover_points[is_replaced ? 0 : 1]);
  }

 private:
  Cell note_{0};
  Buffer first_;
  Buffer shared_[2];
};

/// A version that counts a store implies that the content is no longer what it was before.
class VersionsCountStores : public TwoThreads, public OneCell<> {
 public:
  static constexpr std::string_view cover_points[] = {"the store is counted",
                                                      "the store is not counted yet"};

  VersionsCountStores() { former_ = load(); }

  void thread(unsigned index) {
    if (index == 0) {
      store(make(8));
      return;
    }
    const bool is_counted = cell_->version() == 2;
    expect(!is_counted || !cell_->holds(former_), "a counted store has replaced the content");
    expect(!is_counted || load_number() == 8, "a load finds what a counted store has stored");
    cover(cover_points[is_counted ? 0 : 1]);
  }

  void after() { expect(cell_->version() == 2, "a store is counted once"); }

 private:
  Buffer former_;
};

/// Each thread adds 1 to the number in an AtomicBuffer, by compare-exchanges until one succeeds.
class UpdatesRace : public TwoThreads {
 public:
  static constexpr std::string_view cover_points[] = {"an update is repeated"};

  UpdatesRace() {
    AtomicSync::table();
    atomic_.store(buffer_of<AtomicSync>(7, memory_));
  }

  void thread(unsigned) {
    AtomicsBuffer expected = atomic_.load();
    while (
        !atomic_.compare_exchange(expected, buffer_of<AtomicSync>(read(expected) + 1, memory_))) {
      cover(cover_points[0]);
    }
  }

  void after() { expect(read(atomic_.load()) == 9, "no update is lost"); }

 private:
  Tracked memory_;
  basic_atomic<AtomicsBuffer> atomic_;
};

const Scenario* const atomic_stores_scenarios[] = {
    scenario<StoresRaceStores<2>>("stores_race_stores",
                                  "Two exchanges at once return each buffer exactly once: S1.",
                                  reduced_search),
    scenario<StoresRaceStores<3>>("three_stores_at_once",
                                  "Three exchanges at once return each buffer exactly once.",
                                  reduced_search),
    scenario<StoresRaceLoads>("stores_race_loads",
                              "An exchange returns the owners that loads have not taken: S1, S2.",
                              reduced_search),
    scenario<ReplacementsRace>(
        "replacements_race",
        "If two compare-exchanges expect one buffer, exactly one succeeds: S4.", reduced_search),
    scenario<LoadsRaceReplacements>("loads_race_replacements",
                                    "A thread loads during two compare-exchanges: S4.",
                                    reduced_search),
    scenario<ReplacedDataWasStored<false>>(
        "stored_data_is_replaced",
        "A compare-exchange happens after the store of the data that it replaces.", reduced_search),
    scenario<ReplacedDataWasStored<true>>(
        "replacements_are_replaced",
        "A compare-exchange happens after the compare-exchange that it replaces.", reduced_search),
    scenario<UpdatesRace>("updates_race",
                          "Two updates by compare-exchanges at once are both kept: S4.",
                          reduced_search),
    scenario<VersionsCountStores>("versions_count_stores",
                                  "A thread that finds a store counted finds its effect.",
                                  reduced_search),
};

}  // namespace
}  // namespace byre::verification
