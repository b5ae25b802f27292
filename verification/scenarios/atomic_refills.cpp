// SPDX-License-Identifier: BSL-1.0
/// Loads refill the stock of an AtomicBuffer while other threads load, store, or take the data out
/// and put it back. The owners of a refill have to be added before another thread drops them. The
/// checker orders the steps on one word by time, so it never finds a drop in front of the add.
/// Therefore the scenarios have a variable that the refilling thread writes when it adds the
/// owners, and that other threads read when they drop owners. The two race if nothing orders them.
#include "atomic_cells.hpp"

namespace byre::verification {
namespace {

/// A cell whose loads refill the stock.
template <cow::AtomicSlotLayout Layout = always_refilled>
class Refills : public CellWith<Layout> {
 public:
  void on_step(const sync::Site& site, std::uint64_t value) {
    const unsigned thread = current_thread();
    const bool had_refilled = thread < most_threads && this->has_refilled(thread);
    // A failed compare-exchange passes the value that it read.
    const bool stores = site.name == "atomic_slot.exchange" ||
                        (site.name == "atomic_slot.replace" && value != this->word());
    CellWith<Layout>::on_step(site, value);
    if (thread >= most_threads) {
      return;  // the set-up, or after()
    }
    if (site.name == "share_word.add_owners" && this->is_loading()) {
      if (!has_added_[thread]) {
        added_[thread].set(1);
      }
      has_added_[thread] = true;
    } else if (site.name == "atomic_slot.take" || stores) {
      stores_ += stores ? 1U : 0U;
      stores_at_take_[thread] = stores_;
      for (unsigned other = 0; other < most_threads; ++other) {
        comes_later_[thread][other] = comes_later_[thread][other] || this->has_refilled(other);
      }
    } else if (site.name.starts_with("share_word.drop_owner")) {
      for (unsigned other = 0; other < most_threads; ++other) {
        expect(!comes_later_[thread][other] || added_[other].get() == 1,
               "the owners of a refill were added before they are dropped");
      }
      cover_if(site.name == "share_word.drop_owners" && this->is_loading(),
               "a load returns the owners of its refill");
    }
    cover_if(this->has_refilled(thread) && !had_refilled && stores_ >= stores_at_take_[thread] + 2,
             "a load refills after the data was put back");
  }

 protected:
  static constexpr unsigned most_threads = SlotSteps<Layout>::most_threads;

  void expect_all_counted() {
    this->exchange(AtomicsBuffer());
    expect(this->memory_.frees() == this->memory_.allocations(),
           "no owner is counted that does not exist");
  }

 private:
  Cell added_[most_threads] = {Cell(0), Cell(0), Cell(0), Cell(0)};
  bool has_added_[most_threads] = {};
  bool comes_later_[most_threads][most_threads] = {};
  unsigned stores_ = 0;
  unsigned stores_at_take_[most_threads] = {};
};

/// The first thread loads once, the second twice: every second load refills.
class LoadsRefill : public TwoThreads, public Refills<two_bits> {
 public:
  static constexpr std::string_view cover_points[] = {"a load returns the owners of its refill"};

  void thread(unsigned index) {
    for (unsigned loads = 0; loads <= index; ++loads) {
      expect(load_number() == 7, "a load finds the content");
    }
  }
  void after() { expect_all_counted(); }
};

/// stock-refill_at threads load, and every load refills.
class RefillsRaceRefills : public Refills<> {
 public:
  static constexpr unsigned threads = always_refilled.stock - always_refilled.refill_at;

  void thread(unsigned) { expect(load_number() == 7, "a load finds the content"); }
  void after() { expect_all_counted(); }
};

/// One thread refills by a load while another thread stores: by an exchange, or by a
/// compare-exchange if `Replaces`.
template <bool Replaces>
class StoresRaceRefills : public TwoThreads, public Refills<> {
 public:
  static constexpr std::string_view cover_points[] = {
      "a load returns the owners of its refill",
      "the store returns a stock that was refilled",
  };

  StoresRaceRefills() { expected_ = load(); }

  void thread(unsigned index) {
    if (index == 0) {
      const unsigned number = load_number();
      expect(number == 7 || number == 8, "a load finds a value that was stored");
      return;
    }
    if (Replaces) {
      Buffer desired = make(8);
      expect(compare_exchange(expected_, desired), "the content is as expected");
    } else {
      expect(read(exchange(make(8))) == 7, "an exchange returns the former content");
    }
    cover_if(has_refilled(0), cover_points[1]);
  }
  void after() {
    drop(expected_);
    expect_all_counted();
  }

 private:
  Buffer expected_;
};

/// A load refills while another thread takes the data out and puts it back.
class RefilledDataIsPutBack : public TwoThreads, public Refills<> {
 public:
  static constexpr std::string_view cover_points[] = {
      "a load returns the owners of its refill",
      "a load refills after the data was put back",
  };

  void thread(unsigned index) {
    if (index == 0) {
      const unsigned number = load_number();
      expect(number == 7 || number == 8, "a load finds a value that was stored");
      return;
    }
    store(exchange(make(8)));
    expect(load_number() == 7, "the data that was put back is the content");
  }
  void after() { expect_all_counted(); }
};

const Scenario* const atomic_refills_scenarios[] = {
    scenario<LoadsRefill>("loads_refill",
                          "Loads during a refill take owners that are counted. If two threads "
                          "refill at once, one refill is returned: S1.",
                          reduced_search),
    scenario<RefillsRaceRefills>(
        "as_many_loads_as_the_stock_allows",
        "If stock-refill_at threads load at once, taken stays below the stock: S2, S3.", 2, 4),
    scenario<StoresRaceRefills<true>>("a_replacement_races_a_refill",
                                      "A compare-exchange returns what was refilled: S1, S3.",
                                      reduced_search),
    scenario<StoresRaceRefills<false>>(
        "a_store_races_a_refill",
        "A refill of data that was replaced is returned, and a store returns what was refilled: "
        "S1, S3.",
        reduced_search),
    scenario<RefilledDataIsPutBack>(
        "refilled_data_is_put_back",
        "A refill is correct even if the data was taken out and put back meanwhile: S4.",
        reduced_search),
};

}  // namespace
}  // namespace byre::verification
