// SPDX-License-Identifier: BSL-1.0
/// Data that does not fit a slot is held under a lock: borrowed memory, which a load copies, and
/// shared data whose header has too many address bits or owners. If a load and the store that
/// replaces borrowed memory did not exclude each other, the load would read memory that its lender
/// has freed.
#include "atomic_cells.hpp"

namespace byre::verification {
namespace {

/// A cell that may hold data.
template <cow::AtomicSlotLayout Layout>
class HeldIn : public CellWith<Layout> {
 public:
  HeldIn() { this->allow_locks(); }

 protected:
  void expect_nothing_left() {
    this->exchange(AtomicsBuffer());
    expect(this->memory_.frees() == this->memory_.allocations(),
           "no owner is counted that does not exist");
  }
};

/// One thread loads borrowed memory while another thread replaces it. The lender frees the memory
/// as soon as the store has returned.
class LoadsOfALoan : public TwoThreads, public HeldIn<never_refilled> {
 public:
  static constexpr std::string_view cover_points[] = {"a load copies the borrowed memory",
                                                      "a load finds what was stored"};

  LoadsOfALoan() {
    lent_.emplace(6U);
    Execution::current().name(&*lent_, sizeof(Cell), "lent");
    store(Buffer::borrow(static_cast<void*>(&*lent_), cells(1), memory_));
  }

  void thread(unsigned index) {
    if (index == 1) {
      store(make(8));
      lent_.reset();
      return;
    }
    const Buffer loaded = load();
    const unsigned number = read(loaded);
    expect(number == 6 || number == 8, "a load finds a value that was stored");
    expect(number == 8 || loaded.is_unique(), "a load copies borrowed memory");
    cover(cover_points[number == 6 ? 0 : 1]);
  }

  void after() { expect(load_number() == 8, "the content is what was stored"); }

 private:
  std::optional<Cell> lent_;
};

/// One thread loads borrowed memory, which may fail, while another thread replaces it.
class LoadsOfALoanFail : public TwoThreads, public HeldIn<never_refilled> {
 public:
  static constexpr std::string_view cover_points[] = {"a load fails", "a load succeeds"};

  LoadsOfALoanFail() {
    store(Buffer::borrow(static_cast<void*>(&lent_), cells(1), memory_));
    stored_ = make(8);
    memory_.set_faults(Faults::both);
  }

  void thread(unsigned index) {
    if (index == 1) {
      store(std::move(stored_));
    } else {
      const bool is_loaded = succeeds([&] { load(); });
      cover(cover_points[is_loaded ? 1 : 0]);
    }
  }

  void after() {
    expect(load_number() == 8, "a load that fails changes nothing");
    stored_ = exchange(Buffer());
    expect(stored_.is_unique(), "a load that fails is not counted");
  }

 private:
  Cell lent_{6};
  Buffer stored_;
};

/// Two threads exchange the content: for data that fits, and for data that does not. `Held`: the
/// content does not fit, either. `Both`: neither thread has data that fits.
template <bool Held, bool Both>
class StoresAreHandedOver : public TwoThreads, public HeldIn<unshared_fits> {
 public:
  StoresAreHandedOver() {
    if (Held) {
      store(shared(0, 6));
    }
    held_ = shared(1, 9);
    other_ = Both ? shared(2, 8) : make(8);
  }

  void thread(unsigned index) {
    Buffer former = exchange(std::move(index == 0 ? other_ : held_));
    received_[index] = read(former);
  }

  void after() {
    expect(received_[0] + received_[1] + load_number() == (Held ? 6U : 7U) + 8 + 9,
           "each buffer is returned once, or is the content");
    for (Buffer& copy : copies_) {
      copy = Buffer();
    }
    expect_nothing_left();
  }

 private:
  /// Data that does not fit, because it has two owners.
  Buffer shared(unsigned place, unsigned number) {
    copies_[place] = make(number);
    return copies_[place];
  }

  Buffer copies_[3];
  Buffer held_;
  Buffer other_;
  unsigned received_[2] = {};
};

/// One thread loads twice while held data is stored and then replaced by data that fits.
class LoadsFindHeldData : public TwoThreads, public HeldIn<unshared_fits> {
 public:
  LoadsFindHeldData() { held_ = copy_ = make(8); }

  void thread(unsigned index) {
    if (index == 0) {
      const unsigned first = load_number();
      expect(first >= 7 && first <= load_number(), "a load finds no older data than before");
      return;
    }
    store(std::move(held_));
    store(make(9));
  }

  void after() {
    expect(load_number() == 9, "the content is what was stored");
    copy_ = Buffer();
    expect_nothing_left();
  }

 private:
  Buffer copy_;
  Buffer held_;
};

/// Two threads replace data that both expect. The first has data that fits, or nothing. The second
/// has data that does not fit.
enum class Expected : bool { fitting, held };
enum class Desired : bool { nothing, fitting };
template <Expected Before, Desired After>
class HeldDataReplaces : public TwoThreads, public HeldIn<unshared_fits> {
 public:
  HeldDataReplaces() {
    if (Before == Expected::held) {
      expected_[0] = make(6);
      store(expected_[0]);
    } else {
      expected_[0] = load();
    }
    expected_[1] = expected_[0];
    desired_[0] = After == Desired::nothing ? Buffer() : make(8);
    desired_[1] = copy_ = make(9);
  }

  void thread(unsigned index) {
    is_replaced_[index] = compare_exchange(expected_[index], desired_[index]);
    if (index == 0) {
      expect(!load().shares_data_with(expected_[0]), "the expected data was replaced");
    }
  }

  void after() {
    expect(is_replaced_[0] != is_replaced_[1], "exactly one of two replacements succeeds");
    expect(desired_[is_replaced_[0] ? 0 : 1].nbytes() == 0, "a buffer that was stored is empty");
    expect(!is_replaced_[0] || read(desired_[1]) == 9, "a buffer that was not stored is unchanged");
    copy_ = expected_[0] = expected_[1] = desired_[0] = desired_[1] = Buffer();
    expect_nothing_left();
  }

 private:
  Buffer expected_[2];
  Buffer desired_[2];
  Buffer copy_;
  bool is_replaced_[2] = {};
};

/// One thread replaces held data by nothing, and then stores data that fits. The other thread
/// exchanges the content for other held data.
class HeldDataIsExchanged : public TwoThreads, public HeldIn<unshared_fits> {
 public:
  HeldDataIsExchanged() {
    expected_ = make(6);
    store(expected_);
    held_ = copy_ = make(9);
  }

  void thread(unsigned index) {
    if (index == 1) {
      received_[1] = exchange(std::move(held_));
      return;
    }
    Buffer nothing;
    is_replaced_ = compare_exchange(expected_, nothing);
    received_[0] = exchange(make(8));
  }

  void after() {
    unsigned sum = is_replaced_ ? 6 : 0;
    for (Buffer& former : received_) {
      sum += former.nbytes() == 0 ? 0 : read(former);
      drop(former);
    }
    expect(sum + load_number() == 6 + 8 + 9, "each buffer is returned once, or is the content");
    expected_ = copy_ = Buffer();
    expect_nothing_left();
  }

 private:
  Buffer expected_;
  Buffer copy_;
  Buffer held_;
  Buffer received_[2];
  bool is_replaced_ = false;
};

/// No header fits the slot, as if addresses had more bits than the slot has room for.
class NothingFits : public TwoThreads, public HeldIn<nothing_fits> {
 public:
  void thread(unsigned index) {
    if (index == 1) {
      const Buffer former = exchange(make(8));
      expect(read(former) == 7, "an exchange returns the former content");
      return;
    }
    const unsigned number = load_number();
    expect(number == 7 || number == 8, "a load finds a value that was stored");
  }
  void after() {
    expect(load_number() == 8, "the content is what was stored");
    expect_nothing_left();
  }
};

const Scenario* const atomic_held_scenarios[] = {
    scenario<LoadsOfALoan>(
        "loads_of_a_loan",
        "Borrowed memory is not read after a store that replaces it has returned: promise 8, C1.",
        reduced_search),
    scenario<LoadsOfALoanFail>("loads_of_a_loan_fail",
                               "A load that cannot copy borrowed memory changes nothing, and "
                               "releases the lock: promise 5.",
                               reduced_search),
    scenario<StoresAreHandedOver<true, false>>(
        "held_data_is_handed_over",
        "A store of data that fits takes the held data out, before other data is held: C1, C2.", 3,
        reduced_search),
    scenario<StoresAreHandedOver<false, false>>(
        "data_is_held_during_a_store", "Data is held while data that fits is stored: C1, C2.",
        reduced_search),
    scenario<StoresAreHandedOver<false, true>>(
        "two_stores_of_held_data", "Two stores of data that does not fit exclude each other: C1.",
        reduced_search),
    scenario<LoadsFindHeldData>("loads_find_held_data",
                                "Loads find stores in their order, whether the data fits or not.",
                                3, reduced_search),
    scenario<HeldDataReplaces<Expected::held, Desired::nothing>>(
        "held_data_is_replaced_by_nothing",
        "If two compare-exchanges expect held data, exactly one succeeds, and may empty the cell: "
        "C2.",
        2, 4),
    scenario<HeldDataReplaces<Expected::held, Desired::fitting>>(
        "held_data_is_replaced",
        "If two compare-exchanges expect held data, exactly one succeeds: C2.", 2, 4),
    scenario<HeldDataReplaces<Expected::fitting, Desired::fitting>>(
        "held_data_replaces",
        "Exactly one of two compare-exchanges succeeds, even if the desired data does not fit: C1.",
        reduced_search),
    scenario<HeldDataIsExchanged>(
        "held_data_is_exchanged",
        "Two exchanges and a compare-exchange of held data return each buffer once: C2.", 2, 4),
    scenario<NothingFits>("nothing_fits", "A cell works even if no header fits into a slot: C1.",
                          reduced_search),
};

}  // namespace
}  // namespace byre::verification
