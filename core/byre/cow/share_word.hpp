// SPDX-License-Identifier: BSL-1.0
/// The share word: one atomic word that counts the owners of copy-on-write data and the copies that
/// are being made of it. Every step of the sharing protocol is one operation on this word.
///
/// The word is a reference count (`owners`) and a shared-exclusive lock (`copies` counts its shared
/// holders) in one. A writer of shared data gives up its reference and takes the shared lock in a
/// single step, so no other thread can free the data in between. docs/protocol.md explains why the
/// protocol is correct.
///
///   bits   field      meaning
///   0-30   owners     buffers that own the data and are not copying it
///   31     waiting    the last owner is parked (asleep), or about to park, until all copies end
///   32-62  copies     copiers: former owners that still copy the data, or map it privately
///   63     read_only  fixed at construction: the data is never written in place and never claimed
///
///   state           owners  copies  a write by an owner
///   unique            1       0     is in place
///   shared           >= 2    any    copies the data
///   being copied      1      >= 1   waits for the copies, then is in place: the owner "steals"
///   being copied      0      >= 1   no owner is left to write; the last copier frees the data
///   freed             0       0     no owner is left to write
///
///   operation       caller      transition                         result
///   add_owner       an owner    owners+1
///   add_owners      an owner    owners+n                           for a slot
///   drop_owners     an owner    owners-n                           for a slot or a watch; the
///                                                                  caller remains
///   drop_owner      an owner    owners-1                           if both are 0: free the data
///   claim           an owner    owners>=2: owners-1, copies+1      copy
///                               owners==1, copies==0: none         steal
///                               owners==1, copies>0: set waiting   park, then load again
///    Wait::never                owners==1, copies>0: as owners>=2  copy
///   claim_in_order  an owner    owners>=2: owners-1, copies+1      copy
///                               owners==1: none                    steal
///   finish_copy     a copier    copies-1                           if both are 0: free the data
///   abandon_copy    a copier    copies-1, owners+1                 the copy failed: an owner again
///   add_copy        a copier    copies+1                           a second copier
///   is_sole_copier  a copier    owners==0, copies==1: none         no other thread uses the data
///
/// claim_in_order() is for data on a device whose owners access the data through one queue, in
/// which each command takes effect before the next one.
///
/// `Sync` provides the atomic operations: sync::Default in programs, a simulation in the model
/// checker. Each atomic step passes its site, a name by which the checker finds and alters the
/// step. Comments below name scenarios, for example drops_race_drops. A scenario is a small program
/// that the model checker runs, see docs/protocol.md. "Pairs with X, or S fails" means that
/// scenario S fails if the memory order of this operation is weakened. "Without it, S hangs" means
/// that scenario S hangs if the operation is left out.
///
/// Invariants:
///
/// I1  The data and this word are alive while owners+copies > 0.
/// I2  After its own drop_owner or finish_copy, an owner or copier accesses neither the data nor
///     this word, not even to wake a waiter. Waiters are parked in a table outside the word, under
///     its address, and the value that the atomic step returned tells whether to wake them.
/// I3  Only the last owner sets `waiting`, and only that owner clears it, in the step that ends its
///     wait.
/// I4  From claim() == copy until finish_copy or abandon_copy the data is constant. With
///     claim_in_order() another owner may write meanwhile, but its writes are in the queue behind
///     the copy.
/// I5  A stealer's first write happens after every copy of the data and every read by a former
///     owner. With claim_in_order() it comes after them in the order of the device's queue.
/// I6  If N owners claim and each may wait, exactly one of them steals.
/// I7  If the data has one owner and no copiers, this owner is the only user of the word until it
///     clones. It may therefore clear its own `waiting` by a store, and drop without a
///     read-modify-write.
///
/// The protocol is that of the design note "Copy-on-write storage", plus `read_only` and the
/// shortcuts of I7. docs/protocol.md compares this file with the note.
#pragma once

#include <byre/cow/detail/share_word_sites.hpp>
#include <byre/error/detail/assert.hpp>
#include <byre/observe/counters.hpp>
#include <byre/sync/default.hpp>
#include <byre/sync/detail/site.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>

namespace byre::inline BYRE_ABI {

/// Whether a write by the last owner may wait until pending copies of the data end.
enum class Wait : std::uint8_t {
  allowed,  ///< the last owner waits, then steals the data
  never,    ///< the last owner copies the data instead of waiting
};

/// What an owner has to do before it writes.
enum class Claim : std::uint8_t {
  steal,  ///< write in place: the caller is the last owner, and no copy is pending, or (after
          ///< claim_in_order) all pending copies are in the queue before the write
  copy,   ///< copy the data, then call finish_copy(): the caller is a copier now
};

/// Tag for the share word of an empty buffer.
struct NoOwner {};

/// Unless a member says otherwise:
///
/// - Thread-safety: any operations may run at once, on behalf of different owners and copiers.
/// - Requires that the caller is an owner or a copier, as the table above lists. Operations
///   that change the word, other than add_owner(), end the program if the word counts no such owner
///   or copier.
/// - Errors: nothing throws. The program ends if a count exceeds 2^30.
/// - Cost: one atomic operation, or two (claim and drop_owner), if there is no contention. A wake
///   costs a lock of the parking lot too.
/// - Progress: lock-free. Only claim(Wait::allowed) may wait, for pending copies.
template <sync::Sync Sync>
class basic_share_word {
 public:
  /// One owner: the caller. If `read_only`, the data is never written in place.
  constexpr explicit basic_share_word(bool read_only = false) noexcept
      : word_(read_only ? one_owner | read_only_bit : one_owner) {}
  /// No owner, for an empty buffer. Must never be claimed or dropped.
  constexpr explicit basic_share_word(NoOwner) noexcept : word_(0) {}
  basic_share_word(const basic_share_word&) = delete;
  basic_share_word& operator=(const basic_share_word&) = delete;

  /// Adds an owner. The caller is an owner, or acts on behalf of an owner.
  void add_owner() noexcept {
    // Relaxed, and pairs with nothing: the owner that is cloned keeps the data alive. If this were
    // a load and a store, first_clones_at_once would fail.
    const State before{word_.fetch_add(one_owner, sites.at(At::add_owner, relaxed))};
    BYRE_ASSERT(before.owners() < sync::max_count, "a buffer has more than 2^30 lazy clones");
  }

  /// Adds `count` owners in one step, for a slot (detail/atomic_slot.hpp). The caller is an owner.
  void add_owners(std::uint64_t count) noexcept {
    // Relaxed, and pairs with nothing: the step by which a slot publishes these owners releases
    // this add. If this were a load and a store, slots_race_clones would fail.
    const State before{word_.fetch_add(count * one_owner, sites.at(At::add_owners, relaxed))};
    BYRE_ASSERT(before.owners() < sync::max_count, "a buffer has more than 2^30 lazy clones");
  }

  /// Removes `count` owners in one step, for a slot or for a watch (storage/detail/version.hpp).
  /// The caller is another owner, and remains one.
  void drop_owners(std::uint64_t count) noexcept {
    // Relaxed, and pairs with nothing: an owner is left, so no thread frees or steals the data
    // because of this step. That owner's later drop releases its reads. If this were a load and a
    // store, loads_race_a_store would fail.
    const State before{word_.fetch_sub(count * one_owner, sites.at(At::drop_owners, relaxed))};
    BYRE_ASSERT(before.owners() > count, "a slot or a watch returned more owners than it had");
  }

  /// Removes the calling owner. True iff no owner and no copier is left; the caller must then free
  /// the data. Never waits.
  [[nodiscard]] bool drop_owner() noexcept {
    // Acquire pairs with drop_owner and finish_copy: the free happens after everything that the
    // other owners and copiers did, or drops_race_drops fails. For the only user of the word a load
    // is enough (I7).
    if (State{word_.load(sites.at(At::drop_alone, acquire))}.is_sole_use()) {
      return true;
    }
    // Release pairs with is_writable and with the load of claim(): this owner's reads happen before
    // a stealer's writes, or reads_race_a_steal fails. Acquire pairs with the releases of
    // drop_owner and finish_copy: if this drop is the last, the free happens after them, or
    // drops_race_drops fails.
    const State before{word_.fetch_sub(one_owner, sites.at(At::drop_owner, acq_rel))};
    BYRE_ASSERT(before.owners() != 0, "a buffer was released more often than it was cloned");
    return before.is_sole_use();
  }

  /// True iff the calling owner may write in place now: it is the only owner, no copy is pending,
  /// and the data is not read-only. This load is the entire cost of writing unshared data.
  bool is_writable() const noexcept {
    // Acquire pairs with drop_owner and finish_copy: the write happens after everything that the
    // former owners and copiers did, or reads_race_a_steal fails.
    return word_.load(sites.at(At::is_writable, acquire)) == one_owner;
  }

  /// True iff the caller, an owner, is the only owner and no copy is pending, even if the data is
  /// read-only. A true result holds until the caller clones. `counted` is how often the word counts
  /// the caller: twice if the caller has a watch.
  bool is_unique(std::uint32_t counted = 1) const noexcept {
    // Acquire pairs with drop_owner and finish_copy: code that relies on a true result happens
    // after everything that the former owners and copiers did, or resizes_race_drops fails.
    return State{word_.load(sites.at(At::is_unique, acquire)) - (counted - 1) * one_owner}
        .is_sole_use();
  }

  /// The number of owners. Approximate: it may have changed before the call returns.
  std::uint32_t use_count() const noexcept {
    // Relaxed, and pairs with nothing.
    return State{word_.load(sites.at(At::use_count, relaxed))}.owners();
  }

  /// Decides how the calling owner, which is about to write, gets data that it may write. Requires
  /// that the data is not read-only.
  ///
  /// - If other owners exist, the result is `copy`: the caller is now a copier, until it calls
  ///   finish_copy() or abandon_copy().
  /// - If the caller is the last owner and no copy is pending, the result is `steal`: the caller
  ///   stays the owner.
  /// - If the caller is the last owner and copies are pending, it waits for their end, then steals;
  ///   with Wait::never the result is `copy`.
  Claim claim(Wait wait = Wait::allowed) noexcept {
    bool waiting = false;  // whether this call set the waiting bit
    for (unsigned spins = 0;; ++spins) {
      // Acquire pairs with drop_owner and finish_copy: a steal happens after everything that the
      // former owners and copiers did, or writers_race_writers fails.
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
        Sync::pause();  // a short copy ends before a thread could be parked
      } else if (waiting || announce_wait(now)) {
        waiting = true;
        await_copies();
      }
    }
  }

  /// As claim(), for data whose owners access it through one queue of a device. The last owner
  /// steals even if copies are pending, because the copies are in the queue before its writes.
  /// Requires that every pending copy has been submitted to the queue. To ensure this, every caller
  /// must hold a mutex of the data, outside this word, from this call until its copy is submitted
  /// or abandoned. Never waits.
  Claim claim_in_order() noexcept {
    for (;;) {
      // Acquire pairs with drop_owner: a steal happens after everything that former owners did, or
      // resizes_in_order fails.
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

  /// Removes the calling copier, whose copy is complete. If this was the last pending copy, wakes
  /// an owner that waits. True iff no owner and no copier is left; the caller must then free the
  /// data. Never waits.
  [[nodiscard, gnu::always_inline]] bool finish_copy() noexcept {
    // Release pairs with is_writable and with the load of claim(): the copy happens before a
    // stealer's writes, or writers_race_writers fails. Acquire pairs with the releases of
    // drop_owner and finish_copy: if this step is the last, the free happens after them, or
    // drops_race_copies fails.
    const State before{word_.fetch_sub(one_copy, sites.at(At::finish_copy, acq_rel))};
    BYRE_ASSERT(before.copies() != 0, "a copy was finished that was never claimed");
    if (before.waiting() && before.copies() == last_copy) {
      // Pairs with park. Without it, writers_race_writers hangs. This object may be destroyed by
      // now: only its address is used (I2).
      Sync::unpark_all(this, sites.at(At::wake_after_copy));
    }
    return before.is_last_copy();
  }

  /// True iff the caller, a copier, is the only copier and there is no owner. A true result holds
  /// until the caller calls add_copy() or abandon_copy().
  bool is_sole_copier() const noexcept {
    // Acquire pairs with drop_owner and finish_copy: code that relies on a true result happens
    // after everything that the former owners and copiers did, or last_overlays_write_back fails.
    return State{word_.load(sites.at(At::is_sole_copier, acquire))}.is_last_copy();
  }

  /// Adds a copier, which has to call finish_copy() too. The caller is a copier, or acts on behalf
  /// of a copier, and remains one.
  void add_copy() noexcept {
    // Relaxed, and pairs with nothing: the calling copier keeps the data alive and constant. Used
    // when an overlay is cloned or exported: an overlay is a private mapping of data in a file, and
    // counts as a copier as long as it exists. Without this step, unwritten_overlays fails: the
    // data is freed while an overlay still maps it.
    const State before{word_.fetch_add(one_copy, sites.at(At::add_copy, relaxed))};
    BYRE_ASSERT(before.copies() != 0 && (before.word & ~read_only_bit) < copies_limit,
                "a copy was added without a copier, or beyond 2^30 copies");
  }

  /// Makes the calling copier an owner again, because its allocation or copy failed. Wakes an owner
  /// that waits for the copy.
  void abandon_copy() noexcept {
    // Relaxed, and pairs with nothing: the later drop_owner or finish_copy of this owner releases
    // its reads. Without this step, failing_copies loses an owner.
    const State before{word_.fetch_sub(one_copy - one_owner, sites.at(At::abandon_copy, relaxed))};
    BYRE_ASSERT(before.copies() != 0, "a copy was abandoned that was never claimed");
    if (before.waiting()) {
      // Pairs with park: the waiter is no longer the last owner and has to load again. Without it,
      // failing_copies hangs.
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

  static_assert(sync::max_count < std::uint64_t{1} << 31, "a count must not reach the next field");
  /// 2^30 copies. Does not use the constants above, because mutation tests replace them.
  static constexpr std::uint64_t copies_limit = std::uint64_t{sync::max_count} << 32;

  /// One value of the word, by its fields.
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

  /// Owners-1, copies+1, and clears `waiting` if this claim set it. One step, because between two
  /// steps another owner could free or steal the data.
  bool become_copier(State now, bool waiting) noexcept {
    BYRE_ASSERT((now.word & ~read_only_bit) < copies_limit,
                "a buffer has more than 2^30 copies under way");
    const std::uint64_t then =
        now.word - one_owner + one_copy - (waiting ? waiting_bit : std::uint64_t{0});
    // Relaxed, and pairs with nothing: finish_copy releases the reads that follow. If this
    // were two operations, writers_race_writers would fail.
    return word_.compare_exchange_weak(now.word, then, sites.at(At::claim_copy, relaxed));
  }

  [[gnu::cold]] bool announce_wait(State now) noexcept {
    // Relaxed, and pairs with nothing: every later step on the word reads the bit. Without it,
    // writers_race_writers hangs.
    return word_.compare_exchange_weak(now.word, now.word | waiting_bit,
                                       sites.at(At::announce_wait, relaxed));
  }

  [[gnu::cold]] void stop_waiting() noexcept {
    // Relaxed, and pairs with nothing: the only owner of data without copiers is the only user of
    // the word (I7). Without this store the bit stays set, and a later copier does not recognize
    // that it is the last copier, which has to free the data: later_copiers_free leaks.
    word_.store(one_owner, sites.at(At::stop_waiting, relaxed));
  }

  [[gnu::cold]] void await_copies() noexcept {
    stats::detail::count(stats::detail::plus(stats::Counter::waits));
    const auto still_pending = [this]() noexcept {
      // Relaxed: the lock of the parking lot orders this load with the wake. Without the load,
      // writers_race_writers hangs.
      const State now{word_.load(sites.at(At::still_pending, relaxed))};
      return now.owners() == last_owner && now.copies() != no_copies;
    };
    // Pairs with the wakes in finish_copy and abandon_copy. Without parking, two_claims_steal_once
    // spins.
    Sync::park(this, still_pending, sites.at(At::park));
  }

  typename Sync::template Atomic<std::uint64_t> word_;
};

using ShareWord = basic_share_word<sync::Default>;

static_assert(sizeof(ShareWord) == 8);

}  // namespace byre::inline BYRE_ABI
