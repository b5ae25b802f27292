// SPDX-License-Identifier: BSL-1.0
/// The sharing protocol in one atomic word. `owners` is the reference count of the data, and `copies` is the shared
/// side of a shared-exclusive lock: former owners hold it while they copy, and the last owner, to write in place,
/// waits until none does. As one word, giving up a reference and taking the lock are one step.
/// docs/protocol.md says why that is right.
///
///   bits 0-30   owners     buffers that own the data and are not copying out of it
///   bit  31     waiting    the sole owner is parked, or about to be, until pending copies end
///   bits 32-62  copies     former owners still copying out of it: the holders of the shared lock
///   bit  63     read_only  from birth to death: never written in place, and never claimed
///
///   operation     by              transition                         and then
///   add_owner     an owner        owners+1
///   drop_owner    an owner        owners-1                           none left: the caller frees
///   claim         about to write  owners>=2: owners-1, copies+1      copy
///                                 owners==1, copies==0               steal
///                                 owners==1, copies>0: waiting       park, load again
///     never to wait               owners==1, copies>0: as owners>=2  copy
///     in order                    owners==1: none                    steal
///   finish_copy   a copier        copies-1                           none left: the caller frees
///   abandon_copy  a copier        copies-1, owners+1                 it failed, and owns again
///   add_copy      for a copier    copies+1                           another copies with it
///   is_sole_copier  a copier      owners==0, copies==1: none         alone with the data
///
/// I1  The data and this word are alive while owners+copies > 0.
/// I2  Nothing here is touched after one's own drop_owner or finish_copy, waking included: waiters
///     are parked at the address of the word but outside it, and whether to wake is read from the
///     value the atomic step returned.
/// I3  `waiting` is set only by a sole owner, and only its setter clears it, in the step by which
///     it leaves.
/// I4  From claim() == copy until finish_copy or abandon_copy the data is constant; in order, what the copy reads.
/// I5  A stealer's first write happens after every copy out of the data and every read by a former
///     owner; in order, it comes after them in the order of what accesses the data.
/// I6  Of N owners that all claim and may wait, exactly one steals.
/// I7  A sole owner of data nobody copies is alone with the word until it clones: it clears its own
///     `waiting` by a store, and its last drop needs no read-modify-write.
///
/// Differs from the fixed design by `read_only` and by the steps of I7: see docs/protocol.md.
/// Source: the seed "Copy-on-write storage".
#pragma once

#include <byre/cow/detail/share_word_sites.hpp>
#include <byre/error/detail/assert.hpp>
#include <byre/observe/counters.hpp>
#include <byre/sync/boost.hpp>
#include <byre/sync/detail/site.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>

namespace byre::inline v0 {

/// Whether an owner about to write may be parked until pending copies end, so that it can steal the
/// data, or must never wait, and copies then.
enum class Wait : std::uint8_t { allowed, never };

/// What an owner that is about to write has to do.
enum class Claim : std::uint8_t {
  steal,  ///< it is the last owner and no copy is pending: the data is its own to write
  copy,   ///< it gave up its ownership for a share of the copy lock: it copies, then finish_copy()
};

/// Says that a share word belongs to no data.
struct NoOwner {};

/// Thread-safety: every operation may run concurrently with every other, on behalf of different
/// owners. Progress: lock-free, but for a claim that is allowed to wait: it waits for copies under
/// way. Nothing throws.
template <sync::Sync Sync>
class basic_share_word {
 public:
  /// One owner: the caller. `read_only`: data that is never written in place.
  constexpr explicit basic_share_word(bool read_only = false) noexcept
      : word_(read_only ? one_owner | read_only_bit : one_owner) {}
  /// No owner: of no data, never to be claimed.
  constexpr explicit basic_share_word(NoOwner) noexcept : word_(0) {}
  basic_share_word(const basic_share_word&) = delete;
  basic_share_word& operator=(const basic_share_word&) = delete;

  /// By, or on behalf of, a live owner.
  void add_owner() noexcept {
    // Relaxed, and pairs with nothing: the owner that is cloned keeps the data alive. As two steps,
    // first_clones_at_once fails.
    const State before{word_.fetch_add(one_owner, sites.at(At::add_owner, relaxed))};
    BYRE_ASSERT(before.owners() < sync::max_count, "a buffer has more than 2^30 lazy clones");
  }

  /// By an owner, which no longer is one. True iff nobody is left: the caller frees the data. Never
  /// waits.
  [[nodiscard]] bool drop_owner() noexcept {
    // Acquire pairs with drop_owner and finish_copy: the free happens after all they did, or
    // drops_race_drops fails. Alone with the word, a load is enough (I7).
    if (State{word_.load(sites.at(At::drop_alone, acquire))}.is_sole_use()) {
      return true;
    }
    // Release pairs with is_writable and load_state: reads before it happen before a stealer's writes, or
    // reads_race_a_steal fails. Acquire pairs with the other releases where this one frees, or
    // drops_race_drops fails.
    const State before{word_.fetch_sub(one_owner, sites.at(At::drop_owner, acq_rel))};
    BYRE_ASSERT(before.owners() != 0, "a buffer was released more often than it was cloned");
    return before.is_sole_use();
  }

  /// By an owner about to write: true iff it may at once, being the only one, with nobody copying.
  /// The whole price of a write by who is alone.
  bool is_writable() const noexcept {
    // Acquire pairs with drop_owner and finish_copy: the write happens after all they did, or
    // reads_race_a_steal fails.
    return word_.load(sites.at(At::is_writable, acquire)) == one_owner;
  }

  /// By an owner: true iff it is the only one and nobody copies, which stays so until it clones.
  bool is_unique() const noexcept {
    // Acquire pairs with drop_owner and finish_copy: what relies on a true answer happens after all
    // they did, or resizes_race_drops fails.
    return State{word_.load(sites.at(At::is_unique, acquire))}.is_sole_use();
  }

  /// Old as soon as it is returned: a number for people.
  std::uint32_t use_count() const noexcept {
    // Relaxed, and pairs with nothing.
    return State{word_.load(sites.at(At::use_count, relaxed))}.owners();
  }

  /// By an owner about to write: whether it writes in place, or copies and then calls finish_copy
  /// or abandon_copy. With Wait::allowed the last owner waits for pending copies and then steals;
  /// with Wait::never it copies too.
  Claim claim(Wait wait = Wait::allowed) noexcept {
    bool waiting = false;  // the bit in the word is this claim's
    for (unsigned spins = 0;; ++spins) {
      // Acquire pairs with drop_owner and finish_copy: a steal happens after all they did, or
      // writers_race_writers fails.
      const State now{word_.load(sites.at(At::load_state, acquire))};
      if (now.is_sole_use()) {
        if (waiting) {
          stop_waiting();
        }
        return Claim::steal;
      }
      BYRE_ASSERT(now.owners() != 0, "a buffer was written after its release");
      if (now.owners() > last_owner || wait == Wait::never) {
        if (become_copier(now, waiting)) {
          return Claim::copy;
        }
      } else if (spins < Sync::spin_limit) {
        Sync::pause();  // short copies end sooner than a thread is parked
      } else if (waiting || announce_wait(now)) {
        waiting = true;
        await_copies();
      }
    }
  }

  /// The same for data that is accessed in some order which all its owners follow, as that of a device's queue: the
  /// last owner steals it beside copies under way, which have their place in front of its writes. So each copy has
  /// to have that before another owner claims: who claims in order holds a lock from here until its copy is
  /// submitted or abandoned. Never waits.
  Claim claim_in_order() noexcept {
    for (;;) {
      // Acquire pairs with drop_owner: a steal happens after all that former owners did, or resizes_in_order
      // fails.
      const State now{word_.load(sites.at(At::load_in_order, acquire))};
      BYRE_ASSERT(now.owners() != 0, "a buffer was written after its release");
      if (now.owners() == last_owner) {
        return Claim::steal;
      }
      if (become_copier(now, false)) {
        return Claim::copy;
      }
    }
  }

  /// By a copier whose copy is complete. True iff nobody is left: the caller frees the data. Never
  /// waits.
  [[nodiscard, gnu::always_inline]] bool finish_copy() noexcept {
    // Release pairs with is_writable and load_state: the copy happens before a stealer's writes, or
    // writers_race_writers fails. Acquire pairs with the other releases where this one frees, or
    // drops_race_copies fails.
    const State before{word_.fetch_sub(one_copy, sites.at(At::finish_copy, acq_rel))};
    BYRE_ASSERT(before.copies() != 0, "a copy was finished that was never claimed");
    if (before.waiting() && before.copies() == last_copy) {
      // Pairs with park. Left out, writers_race_writers hangs. This object may be gone: only its address is used (I2).
      Sync::unpark_all(this, sites.at(At::wake_after_copy));
    }
    return before.is_last_copy();
  }

  /// By a copier: true iff it is the only one and there is no owner, which stays so until it adds a copy or
  /// abandons its own.
  bool is_sole_copier() const noexcept {
    // Acquire pairs with drop_owner and finish_copy: what relies on a true answer happens after all they did, or
    // last_overlays_write_back fails.
    return State{word_.load(sites.at(At::is_sole_copier, acquire))}.is_last_copy();
  }

  /// By, or on behalf of, a copier, which stays one: there is another, which has to finish its copy too.
  void add_copy() noexcept {
    // Relaxed, and pairs with nothing: the copier keeps the data alive and constant. Left out, unwritten_overlays
    // frees the file while an overlay shows it.
    const State before{word_.fetch_add(one_copy, sites.at(At::add_copy, relaxed))};
    BYRE_ASSERT(before.copies() != 0 && (before.word & ~read_only_bit) < copies_limit,
                "a copy was added to none, or to more than 2^30");
  }

  /// By a copier whose allocation or copy failed: it is an owner again.
  void abandon_copy() noexcept {
    // Relaxed, and pairs with nothing: this owner's later drop or copy releases what it read. Left out,
    // failing_copies loses an owner.
    const State before{word_.fetch_sub(one_copy - one_owner, sites.at(At::abandon_copy, relaxed))};
    BYRE_ASSERT(before.copies() != 0, "a copy was abandoned that was never claimed");
    if (before.waiting()) {
      // Pairs with park: the waiter is no longer the last owner and has to load again. Left out, failing_copies hangs.
      Sync::unpark_all(this, sites.at(At::wake_after_abandon));
    }
  }

 private:
  using At = cow::ShareWordSite;
  static constexpr const auto& sites = cow::share_word_sites;
  static constexpr auto relaxed = std::memory_order::relaxed;
  static constexpr auto acquire = std::memory_order::acquire;
  static constexpr auto acq_rel = std::memory_order::acq_rel;

  using Is = cow::ShareWordConstant;
  static constexpr const auto& constants = cow::share_word_constants;
  static constexpr auto one_owner = Sync::value_of(constants.at(Is::one_owner));
  static constexpr auto waiting_bit = Sync::value_of(constants.at(Is::waiting_bit));
  static constexpr auto one_copy = Sync::value_of(constants.at(Is::one_copy));
  static constexpr auto read_only_bit = Sync::value_of(constants.at(Is::read_only_bit));
  static constexpr auto last_owner = Sync::value_of(constants.at(Is::last_owner));
  static constexpr auto no_copies = Sync::value_of(constants.at(Is::no_copies));
  static constexpr auto last_copy = Sync::value_of(constants.at(Is::last_copy));

  static_assert(sync::max_count < std::uint64_t{1} << 31, "counting ends far from the next field");
  /// 2^30 copies, by none of the constants that a checker may change.
  static constexpr std::uint64_t copies_limit = std::uint64_t{sync::max_count} << 32;

  /// The word, read through its fields.
  struct State {
    std::uint64_t word;

    std::uint32_t owners() const noexcept {
      return static_cast<std::uint32_t>(word & (waiting_bit - 1));
    }
    bool waiting() const noexcept { return (word & waiting_bit) != 0; }
    std::uint32_t copies() const noexcept {
      return static_cast<std::uint32_t>((word & ~read_only_bit) / one_copy);
    }
    bool is_sole_use() const noexcept {
      return (word & ~(waiting_bit | read_only_bit)) == one_owner;
    }
    bool is_last_copy() const noexcept { return (word & ~read_only_bit) == one_copy; }
  };

  /// Owners-1, copies+1, and no longer waiting. One step, since "am I last" and "start copying"
  /// must not come apart.
  bool become_copier(State now, bool waiting) noexcept {
    BYRE_ASSERT((now.word & ~read_only_bit) < copies_limit,
                "a buffer has more than 2^30 copies under way");
    const std::uint64_t then =
        now.word - one_owner + one_copy - (waiting ? waiting_bit : std::uint64_t{0});
    // Relaxed, and pairs with nothing: finish_copy releases the reads that follow. Two steps
    // instead of one fail writers_race_writers.
    return word_.compare_exchange_weak(now.word, then, sites.at(At::claim_copy, relaxed));
  }

  [[gnu::cold]] bool announce_wait(State now) noexcept {
    // Relaxed: whoever changes the word later sees the bit. Left out, writers_race_writers hangs.
    return word_.compare_exchange_weak(now.word, now.word | waiting_bit,
                                       sites.at(At::announce_wait, relaxed));
  }

  [[gnu::cold]] void stop_waiting() noexcept {
    // Relaxed: the sole owner of data nobody copies is alone with the word (I7). Left out, the last
    // copier of later owners is not told to free: later_copiers_free leaks.
    word_.store(one_owner, sites.at(At::stop_waiting, relaxed));
  }

  [[gnu::cold]] void await_copies() noexcept {
    stats::detail::count(stats::detail::plus(stats::Counter::waits));
    const auto still_pending = [this]() noexcept {
      // Relaxed: the parking lot orders it with the wake. Left out, writers_race_writers hangs.
      const State now{word_.load(sites.at(At::still_pending, relaxed))};
      return now.owners() == last_owner && now.copies() != no_copies;
    };
    // Pairs with the wakes in finish_copy and abandon_copy. Left out, two_claims_steal_once spins.
    Sync::park(this, still_pending, sites.at(At::park));
  }

  typename Sync::template Atomic<std::uint64_t> word_;
};

using ShareWord = basic_share_word<sync::Boost>;

static_assert(sizeof(ShareWord) == 8);

}  // namespace byre::inline v0
