// SPDX-License-Identifier: BSL-1.0
/// Threads load the content of one AtomicBuffer while other threads load, store, or destroy the
/// AtomicBuffer. A load takes an owner in the step that tells it the address, so a store frees
/// nothing that a load is about to read. If the load and the store do not synchronize, a loading
/// thread races the writes of the thread that stored.
#include "atomic_cells.hpp"

namespace byre::verification {
namespace {

/// One thread loads and reads while another thread stores a buffer that it has written.
class LoadsRaceAStore : public TwoThreads, public OneCell<> {
 public:
  static constexpr std::string_view cover_points[] = {
      "a load ends between the exchange of a store and the return of the stock",
      "the loading thread is the last owner, and frees",
      "the storing thread is the last owner, and frees",
  };

  void thread(unsigned index) {
    if (index == 1) {
      store(make(8));
      return;
    }
    const unsigned number = load_number();
    expect(number == 7 || number == 8, "a load finds a value that was stored");
  }

  void on_step(const sync::Site& site, std::uint64_t value) {
    OneCell::on_step(site, value);
    is_exchanged_ = is_exchanged_ || site.name == "atomic_slot.exchange";
    is_unstocked_ = is_unstocked_ || site.name == "share_word.drop_owners";
    if (site.name == "share_word.drop_owner" || site.name == "share_word.drop_alone") {
      cover_if(current_thread() == 0 && is_exchanged_ && !is_unstocked_, cover_points[0]);
      const bool is_last = value == (site.name == "share_word.drop_alone" ? 1 : 0);
      cover_if(is_last && current_thread() < threads, cover_points[1 + current_thread() % threads]);
    }
  }

  void after() {
    expect(memory_.frees() == 1, "the replaced data is freed");
    expect(load_number() == 8, "the content is what was stored");
    expect(exchange(Buffer()).is_unique(), "no owner is counted that does not exist");
  }

 private:
  bool is_exchanged_ = false;
  bool is_unstocked_ = false;
};

/// All threads load. Their buffers outlive the cell.
template <unsigned Threads>
class LoadsRaceLoads : public OneCell<> {
 public:
  static constexpr unsigned threads = Threads;

  void thread(unsigned index) { loaded_[index] = load(); }

  void after() {
    cell_.reset();
    for (Buffer& loaded : loaded_) {
      expect(read(loaded) == 7, "a loaded buffer outlives the cell");
    }
    for (unsigned index = 1; index < threads; ++index) {
      drop(loaded_[index]);
    }
    expect(loaded_[0].is_unique(), "each load is counted once");
  }

 private:
  Buffer loaded_[threads];
};

/// One thread loads twice while another stores twice. The second load finds no older value than the
/// first.
class LoadsRaceTwoStores : public TwoThreads, public OneCell<> {
 public:
  void thread(unsigned index) {
    if (index == 1) {
      store(make(8));
      store(make(9));
      return;
    }
    const unsigned first = load_number();
    expect(first <= load_number(), "a load finds what an earlier load has found, or newer data");
  }

  void after() { expect(memory_.frees() == 2, "replaced data is freed"); }
};

/// One thread loads twice while two threads store.
class LoadsRaceStores : public OneCell<> {
 public:
  static constexpr unsigned threads = 3;

  void thread(unsigned index) {
    if (index != 0) {
      store(make(7 + index));
      return;
    }
    const unsigned first = load_number();
    const unsigned second = load_number();
    expect(first == 7 || second != 7, "a load does not find data that was replaced before");
  }

  void after() { expect(memory_.frees() == 2, "replaced data is freed"); }
};

/// Two threads load an empty cell.
class LoadsOfNothing : public TwoThreads, public OneCell<> {
 public:
  LoadsOfNothing() { store(Buffer()); }

  void thread(unsigned) {
    expect(load().nbytes() == 0, "a load of nothing is empty");
    expect(cell_->holds(Buffer()), "a load does not change the content");
  }
  void after() {
    store(make(8));
    expect(load_number() == 8, "a store into an empty cell stores");
  }
};

/// One thread writes what it loads, while another thread stores and drops what was there.
class LoadedBuffersAreWritten : public TwoThreads, public OneCell<> {
 public:
  static constexpr std::string_view cover_points[] = {
      "the write copies, because the slot owns the data",
      "the write is in place, because the data was replaced",
  };

  void thread(unsigned index) {
    if (index == 1) {
      Buffer former = exchange(make(8));
      expect(read(former) == 7, "a write to a loaded buffer does not change the content");
      return;
    }
    Buffer loaded = load();
    const unsigned before = read(loaded);
    cover(cover_points[write(loaded, before + 10) == Written::in_place ? 1 : 0]);
    expect(read(loaded) == before + 10, "the writer reads what it wrote");
  }

  void after() { expect(load_number() == 8, "the content is what was stored"); }
};

/// One thread destroys the cell, while another thread writes a buffer that it has loaded.
class TheCellIsDestroyed : public TwoThreads, public OneCell<> {
 public:
  static constexpr std::string_view cover_points[] = {"the data is copied",
                                                      "the data is written in place"};

  TheCellIsDestroyed() { loaded_ = load(); }

  void thread(unsigned index) {
    if (index == 0) {
      expect(load_number() == 7, "the content is unchanged");
      cell_.reset();
      return;
    }
    expect(read(loaded_) == 7, "a loaded buffer outlives the cell");
    cover(cover_points[write(loaded_, 8) == Written::in_place ? 1 : 0]);
  }

  void after() {
    expect(read(loaded_) == 8 && loaded_.is_unique(), "the loaded buffer is the only owner");
  }

 private:
  Buffer loaded_;
};

/// Stores and lazy clones of buffers that share their data.
class SlotsRaceClones : public TwoThreads, public OneCell<> {
 public:
  SlotsRaceClones() { shared_[0] = shared_[1] = make(8); }

  void thread(unsigned index) {
    if (index == 0) {
      store(std::move(shared_[0]));
    } else {
      const Buffer clone = shared_[1];
      drop(shared_[1]);
      expect(read(clone) == 8, "a clone reads the value of its source");
    }
  }

  void after() { expect(exchange(Buffer()).is_unique(), "each owner is counted once"); }

 private:
  Buffer shared_[2];
};

const Scenario* const atomic_loads_scenarios[] = {
    scenario<LoadsRaceAStore>("loads_race_a_store",
                              "A load finds the old data or the new, complete, and the last owner "
                              "frees what was replaced: promises 1 and 4, S1, S2.",
                              reduced_search),
    scenario<LoadsRaceLoads<2>>("loads_race_loads",
                                "Each of two loads at once takes its own owner, and loaded buffers "
                                "outlive the cell: S1."),
    scenario<LoadsRaceLoads<3>>("three_loads_at_once",
                                "Each of three loads at once takes its own owner.", reduced_search),
    scenario<LoadsRaceTwoStores>("loads_race_two_stores",
                                 "Loads find stores in their order: S1, S2.", reduced_search),
    scenario<LoadsRaceStores>("loads_race_stores", "A thread loads during two stores: S1, S2.", 2,
                              4),
    scenario<LoadsOfNothing>("loads_of_nothing", "A load of an empty cell changes nothing.",
                             reduced_search),
    scenario<LoadedBuffersAreWritten>(
        "loaded_buffers_are_written",
        "A write to a loaded buffer copies while a slot owns the data, and steals it after all "
        "other owners have dropped it: promises 1 and 3, S2.",
        reduced_search),
    scenario<TheCellIsDestroyed>(
        "the_cell_is_destroyed",
        "The destruction of a cell returns the stock, and loaded buffers live on.", reduced_search),
    scenario<SlotsRaceClones>("slots_race_clones",
                              "A store of shared data counts the stock and all lazy clones: S1.",
                              reduced_search),
};

}  // namespace
}  // namespace byre::verification
