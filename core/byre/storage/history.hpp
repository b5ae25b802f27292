// SPDX-License-Identifier: BSL-1.0
/// History: undo and redo over lazy clones, within the bytes that a Budget allows. A state that
/// undo() can return to costs only the bytes that later edits replaced: the tiles of a TiledBuffer,
/// but the whole of an Array, which the first write of an edit copies.
///
/// ```cpp
/// byre::Budget budget(std::size_t{1} << 20);
/// auto allocator = byre::budgeted(byre::default_allocator(), budget);
/// byre::History history(budget, byre::Array<int>({1, 2, 3}, allocator));
/// history.mutable_current().mutable_data()[0] = 5;  // the first edit
/// history.commit();
/// history.mutable_current().append(4);              // the second edit
/// history.undo();
/// assert((history.current() == byre::Array<int>{5, 2, 3}));
/// history.redo();
/// assert(history.current().size() == 4 && history.undo_count() == 2);
/// ```
///
/// At the limit of the budget, a History forgets its oldest undo states first, one after another
/// until the request fits, and then the redo states farthest from the current one. This loses the
/// fewest states, because an outermost state alone owns all bytes that the edit next to it
/// replaced. A state that shares all its bytes gives nothing back, and is forgotten only on the way
/// to the next state: until then, that one cannot give back the bytes that both share.
#pragma once

#include <byre/error/call_site.hpp>
#include <byre/error/error.hpp>
#include <byre/memory/budget.hpp>
#include <byre/sync/detail/mutex.hpp>
#include <byre/sync/detail/parking_lot.hpp>
#include <byre/sync/detail/relaxed.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <new>
#include <utility>

namespace byre::inline BYRE_ABI {

/// States of type T: a Buffer, an Array, a TiledBuffer, a Storage, or a struct of such values. A
/// state is cloned by lazy_clone(CallSite) if T has that member, otherwise by its copy constructor.
/// A struct of storages needs that member, because copies of a Storage alias.
///
/// Thread-safety: one thread at a time may call members. Meanwhile any thread may request memory of
/// the budget; at the limit, the request destroys states on its own thread. Progress: no lock is
/// held while states are cloned or destroyed.
template <class T>
class History {
 public:
  /// A history without undo and redo states, which is a reclaimer of `budget` until it ends. The
  /// allocators of the states should be of that budget. Throws OutOfMemory.
  explicit History(Budget& budget, T start) try : budget_(budget) {
    states_.push_back(std::move(start));
    current_ = states_.begin();
    reclaimer_ =
        budget.add_reclaimer([this](const Pressure& pressure) { return reclaim(pressure); });
  } catch (const std::bad_alloc&) {
    throw OutOfMemory::of_heap("a History");
  }
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  /// The current state, which is never forgotten. Valid until the next call of a non-const member.
  const T& current() const noexcept { return *current_; }

  /// The current state, for writing. Valid until the next call of commit(), undo(), redo() or
  /// clear(). The first call after one of these begins an edit: a lazy clone becomes an undo state,
  /// and the redo states are forgotten. The other calls belong to this edit. Throws OutOfMemory and
  /// the errors of the clone, which may copy; nothing has changed then.
  T& mutable_current(CallSite site = CallSite::current()) {
    if (!is_edited_) {
      States before = clone_of_current(site);
      States undone;
      {
        const sync::ProcessLock lock(mutex_);
        states_.splice(current_, before);
        undone.splice(undone.end(), states_, std::next(current_), states_.end());
      }
      is_edited_ = true;
    }
    return *current_;
  }

  /// Ends the edit, if there is one. The next call of mutable_current() begins another edit.
  void commit() noexcept { is_edited_ = false; }

  /// Returns to the state from before the last edit. Commits that edit first, so that redo() brings
  /// it back. Returns false, and changes nothing, if there is no undo state. Copies nothing.
  bool undo() noexcept {
    const sync::ProcessLock lock(mutex_);
    if (current_ == states_.begin()) {
      return false;
    }
    --current_;
    is_edited_ = false;
    return true;
  }

  /// Returns to the state that the last undo() left. Returns false, and changes nothing, if there
  /// is no redo state. Copies nothing.
  bool redo() noexcept {
    const sync::ProcessLock lock(mutex_);
    if (std::next(current_) == states_.end()) {
      return false;
    }
    ++current_;
    return true;
  }

  /// The number of states that undo() can return to. Requests at the limit may lower it at any
  /// time. Cost: O(n) in the number of states.
  std::size_t undo_count() const noexcept {
    const sync::ProcessLock lock(mutex_);
    return count(states_.begin(), current_);
  }
  /// The number of states that redo() can return to; otherwise as undo_count().
  std::size_t redo_count() const noexcept {
    const sync::ProcessLock lock(mutex_);
    return count(current_, states_.end()) - 1;
  }

  /// Commits, and forgets all undo and redo states.
  void clear() noexcept {
    States others;
    const sync::ProcessLock lock(mutex_);
    others.splice(others.end(), states_, states_.begin(), current_);
    others.splice(others.end(), states_, std::next(current_), states_.end());
    is_edited_ = false;
  }

 private:
  using States = std::list<T>;  // a splice runs no code of T and needs no memory

  static std::size_t count(typename States::const_iterator begin,
                           typename States::const_iterator end) noexcept {
    return static_cast<std::size_t>(std::distance(begin, end));
  }

  States clone_of_current(CallSite site) const {
    try {
      States states;
      if constexpr (requires {
                      { current().lazy_clone(site) } -> std::same_as<T>;
                    }) {
        states.push_back(current().lazy_clone(site));
      } else {
        states.push_back(current());
      }
      return states;
    } catch (const std::bad_alloc&) {
      throw OutOfMemory::of_heap("a state of a History");
    }
  }

  std::size_t reclaim(const Pressure& pressure) {
    if (pressure.data == nullptr && pressure.nbytes > budget_.used()) {
      return 0;  // no state of this history could make so much room
    }
    std::size_t given = 0;
    for (bool has_forgotten = false; given < pressure.nbytes; has_forgotten = true) {
      States state = take_outermost();
      if (state.empty()) {
        // If the forgotten states were the other owners of `data`, nothing has been released, but
        // the request needs no copy.
        return await_other_calls() || has_forgotten ? pressure.nbytes : 0;
      }
      const std::size_t before = budget_.used();
      state.clear();
      given += before - (std::min)(before, budget_.used());
      end_forgetting();
    }
    return given;
  }

  States take_outermost() noexcept {
    States state;
    const sync::ProcessLock lock(mutex_);
    const auto outermost = current_ != states_.begin() ? states_.begin() : std::prev(states_.end());
    if (outermost != current_) {
      state.splice(state.end(), states_, outermost);
      being_forgotten_.add();
    }
    return state;
  }

  void end_forgetting() noexcept {
    {
      const sync::ProcessLock lock(mutex_);
      being_forgotten_.subtract();
    }
    sync::detail::unpark_all(&being_forgotten_);
  }

  /// Waits until the states that other threads forget are destroyed. Otherwise a request would fail
  /// although they are about to make room for it. Returns whether there were such states.
  bool await_other_calls() noexcept {
    const auto keep_waiting = [this]() noexcept { return being_forgotten_.value() != 0; };
    for (bool has_waited = false;; has_waited = true) {
      {
        const sync::ProcessLock lock(mutex_);
        if (!keep_waiting()) {
          return has_waited;
        }
      }
      sync::detail::park(&being_forgotten_, keep_waiting);
    }
  }

  Budget& budget_;
  bool is_edited_ = false;            // if true, there is no redo state
  mutable sync::ProcessMutex mutex_;  // protects the members below, apart from the current state
  States states_;                     // the undo states, the current state, the redo states
  typename States::iterator current_;
  sync::detail::Relaxed<std::uint32_t> being_forgotten_;  // calls that destroy a state
  Reclaimer reclaimer_;                                   // destroyed first
};

}  // namespace byre::inline BYRE_ABI
