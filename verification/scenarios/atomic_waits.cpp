// SPDX-License-Identifier: BSL-1.0
/// One thread waits until the content of an AtomicBuffer changes. Another thread stores, and then
/// notifies. A lost wake is a deadlock. If the two threads do not synchronize, the waiting thread
/// races the writes before the store.
#include "atomic_cells.hpp"

namespace byre::verification {
namespace {

/// `Layout`: unshared_fits holds the data, since it has several owners.
template <cow::AtomicSlotLayout Layout>
class WaitsEnd : public TwoThreads, public CellWith<Layout> {
 public:
  static constexpr std::string_view cover_points[] = {"the thread sleeps",
                                                      "the store comes before the wait"};

  WaitsEnd() {
    this->allow_locks();
    shared_[0] = this->load();
    shared_[1] = shared_[2] = this->make(8);
    this->store(shared_[0]);
  }

  void thread(unsigned index) {
    if (index == 1) {
      note_.set(1);
      this->store(std::move(shared_[1]));
      this->cell_->notify();
      return;
    }
    this->cell_->wait(shared_[0]);
    expect(note_.get() == 1, "what a thread did before a store happens before the end of a wait");
    expect(this->cell_->holds(shared_[2]), "the content is what was stored");
    cover(cover_points[sleeps_ ? 0 : 1]);
  }

  void on_step(const sync::Site& site, std::uint64_t value) {
    CellWith<Layout>::on_step(site, value);
    sleeps_ = sleeps_ || site.name == "atomic_cell.park";
  }

 private:
  Cell note_{0};
  AtomicsBuffer shared_[3];
  bool sleeps_ = false;
};

/// One thread waits until a cell is not empty.
class WaitsForTheFirstStore : public TwoThreads, public OneCell<> {
 public:
  WaitsForTheFirstStore() { store(Buffer()); }

  void thread(unsigned index) {
    if (index == 1) {
      store(make(8));
      cell_->notify();
      return;
    }
    cell_->wait(Buffer());
    expect(load_number() == 8, "after the wait the cell is not empty");
  }
};

/// One thread asks whether the cell is empty, while held data is replaced by data that fits.
class ACellIsNeverEmpty : public TwoThreads, public CellWith<unshared_fits> {
 public:
  ACellIsNeverEmpty() {
    allow_locks();
    shared_ = load();
    store(shared_);
  }

  void thread(unsigned index) {
    if (index == 1) {
      store(make(8));
    } else {
      expect(!cell_->holds(Buffer()), "the cell is never empty");
    }
  }

 private:
  Buffer shared_;
};

/// One thread replaces held data by data that fits, and then by other held data. The other thread
/// asks whether the cell contains the last, and loads.
class HeldDataIsFound : public TwoThreads, public CellWith<unshared_fits> {
 public:
  static constexpr std::string_view cover_points[] = {"the last data is found"};

  HeldDataIsFound() {
    allow_locks();
    first_ = load();
    store(first_);
    last_ = stored_ = make(9);
  }

  void thread(unsigned index) {
    if (index == 1) {
      store(make(8));
      store(std::move(stored_));
    } else if (cell_->holds(last_)) {
      cover(cover_points[0]);
      expect(load_number() == 9, "a load finds the content that was found before");
    }
  }

 private:
  Buffer first_;
  Buffer last_;
  Buffer stored_;
};

const Scenario* const atomic_waits_scenarios[] = {
    scenario<WaitsEnd<never_refilled>>(
        "waits_end", "A wait ends after a store and its notification, and the store is visible.",
        reduced_search),
    scenario<WaitsEnd<unshared_fits>>(
        "waits_for_held_data_end",
        "A wait ends after a store of held data and its notification, and the store is visible.",
        reduced_search),
    scenario<WaitsForTheFirstStore>("waits_for_the_first_store_end",
                                    "A wait for the first store ends.", reduced_search),
    scenario<HeldDataIsFound>("held_data_is_found",
                              "Held data is found as soon as it is the content: C1.",
                              reduced_search),
    scenario<ACellIsNeverEmpty>(
        "a_cell_is_never_empty",
        "A cell whose held data is being replaced is not taken for empty: C2.", reduced_search),
};

}  // namespace
}  // namespace byre::verification
