// SPDX-License-Identifier: BSL-1.0
/// Known-wrong designs of the slot of an AtomicBuffer. Each replaces one or two functions of the
/// slot. A load races a store, as in the scenario loads_race_a_store.
#include "../scenarios/atomic_cells.hpp"

namespace byre::verification {
namespace {

using RightSlot = SlotOf<never_refilled>;
using Content = RightSlot::Content;

/// Wrong: the count is in the data, as in the first lock-free shared pointers. A load reads the
/// address, and then counts its owner. In between the data may have been freed.
struct CountsInTheData : RightSlot {
  static Content stocked(Header& header) noexcept {
    return Content(reinterpret_cast<std::uintptr_t>(&header));
  }
  static void unstock(Content) noexcept {}
  Content take() noexcept {
    const Content content = look();
    if (!content.is_empty()) {
      content.header()->share().add_owner();
    }
    return content;
  }
};

/// Wrong: a load reads the address, and takes its owner in a second step. In between other data may
/// have been stored, whose owner it takes.
struct LoadsThenTakes : RightSlot {
  Content take() noexcept {
    const Content content = look();
    RightSlot::take();
    return content;
  }
};

/// Wrong: a store returns the owners that were not taken, and then replaces the data. In between a
/// load takes an owner that was returned.
struct ReturnsBeforeExchange : RightSlot {
  Content exchange(Content content) noexcept {
    if (const Content now = look(); !now.is_empty()) {
      RightSlot::unstock(now);
    }
    return RightSlot::exchange(content);
  }
  static void unstock(Content) noexcept {}
};

/// Wrong: a store drops all owners of the data that it replaces, those that loads have taken, too.
struct IgnoresTakenOwners : RightSlot {
  static void unstock(Content content) noexcept {
    RightSlot::unstock(Content(reinterpret_cast<std::uintptr_t>(content.header())));
  }
};

/// Wrong: a load refills the slot, and then adds the owners. In between a store returns owners that
/// were not added.
struct RefillsBeforeItAdds : RightSlot {
  Content take() noexcept {
    const Content before = RightSlot::take();
    Content former = before;
    // Only one thread loads, so `taken` is known.
    if (replace(before.header(), before, former)) {
      before.header()->share().add_owners(1);
    }
    return before;
  }
};

/// One thread loads while another thread stores, in a cell with another slot.
template <class Slot>
class LoadRacesAStore : public TwoThreads, public OneCell<Slot> {
 public:
  void thread(unsigned index) {
    if (index == 1) {
      this->store(this->make(8));
    } else {
      const unsigned number = this->load_number();
      expect(number == 7 || number == 8, "a load finds a value that was stored");
    }
  }
};

/// As many loads at once as the stock has owners.
class LoadsEmptyTheStock : public CellWith<cow::AtomicSlotLayout{62, 3, 1, sync::max_count}> {
 public:
  static constexpr unsigned threads = 3;

  void thread(unsigned) { expect(load_number() == 7, "a load finds the content"); }
};

const Scenario* const known_wrong_atomic_slots[] = {
    known_wrong<LoadRacesAStore<CountsInTheData>>(
        "known_wrong.slot_counts_in_the_data",
        "If a load reads the address and then counts its owner in the data, a store has freed the "
        "data in between: S2.",
        Verdict::data_race),
    known_wrong<LoadRacesAStore<LoadsThenTakes>>(
        "known_wrong.slot_loads_then_takes",
        "If a load reads the address and then takes an owner, it takes that of other data: S1.",
        Verdict::core_assertion),
    known_wrong<LoadRacesAStore<ReturnsBeforeExchange>>(
        "known_wrong.slot_returns_before_exchange",
        "If a store returns the stock before it replaces the data, a load takes an owner that was "
        "returned: S1.",
        Verdict::core_assertion),
    known_wrong<LoadRacesAStore<IgnoresTakenOwners>>(
        "known_wrong.slot_ignores_taken_owners",
        "If a store returns owners that were taken, too, a loading thread drops an owner that is "
        "not counted: S1.",
        Verdict::core_assertion),
    known_wrong<LoadRacesAStore<RefillsBeforeItAdds>>(
        "known_wrong.slot_refills_before_it_adds",
        "If a refill adds its owners after the slot has them, a store returns owners that were not "
        "added: S1.",
        Verdict::data_race),
    known_wrong<LoadsEmptyTheStock>(
        "known_wrong.slot_has_too_few_bits",
        "If more than stock-refill_at threads load at once, the stock is used up: S3.",
        Verdict::core_assertion, 2),
};

}  // namespace
}  // namespace byre::verification
