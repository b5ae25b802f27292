// SPDX-License-Identifier: BSL-1.0
/// Wrong designs of the protocol, in the place of basic_share_word: as published, or as a slip of the pen
/// would make them. Each has to be found.
#pragma once

#include <byre/cow/share_word.hpp>
#include <byre/sync/sync.hpp>

#include <cstddef>
#include <cstdint>

#include "../../verification/known_wrong/copy_then_count.hpp"
#include "../../verification/known_wrong/count_then_lock.hpp"
#include "../../verification/known_wrong/counts_writes_twice.hpp"
#include "../../verification/known_wrong/list_in_header.hpp"
#include "../../verification/known_wrong/relaxed_loads.hpp"
#include "../../verification/known_wrong/undoes_after_unlock.hpp"

namespace byre::stress::seeded_bugs {

using verification::basic_copy_then_count;
using verification::basic_copy_then_count_unlocked;
using verification::basic_count_then_lock;
using verification::ListInHeader;
using verification::RelaxedLoads;
using verification::UndoesAfterUnlock;

using Site = cow::ShareWordSite;

inline bool is_at(sync::Step step, Site site) noexcept {
  return step.site == &cow::share_word_sites.rows[static_cast<std::size_t>(site)];
}

/// The share word over a Sync that is wrong.
template <template <class> class WrongSync>
struct WordOver {
  template <sync::Sync Sync>
  class Share : public basic_share_word<WrongSync<Sync>> {
    using basic_share_word<WrongSync<Sync>>::basic_share_word;
  };
};

/// Parks without checking again: a wake just before is lost.
template <sync::Sync Base>
struct ParksWithoutRecheck : Base {
  template <class KeepWaiting>
  static void park(const void* address, KeepWaiting&&, sync::Step step) noexcept {
    Base::park(
        address, []() noexcept { return true; }, step);
  }
};

template <sync::Sync Base, Site LeftOut>
struct WithoutWake : Base {
  static void unpark_all(const void* address, sync::Step step) noexcept {
    if (!is_at(step, LeftOut)) {
      Base::unpark_all(address, step);
    }
  }
};

/// The last copier does not wake the last owner.
template <sync::Sync Base>
struct NeverWakes : WithoutWake<Base, Site::wake_after_copy> {};

/// An owner whose copy failed does not wake the waiter, which is no longer the last owner.
template <sync::Sync Base>
struct AbandonsWithoutWake : WithoutWake<Base, Site::wake_after_abandon> {};

/// A waiter that steals leaves its waiting flag set.
template <sync::Sync Base>
struct StaysWaiting : Base {
  template <class Value>
  class Atomic : public Base::template Atomic<Value> {
   public:
    using Base::template Atomic<Value>::Atomic;

    void store(Value value, sync::Step step) noexcept {
      if (!is_at(step, Site::stop_waiting)) {
        Base::template Atomic<Value>::store(value, step);
      }
    }
  };
};

/// The check for the last owner and the start of a copy are two steps.
template <sync::Sync Base>
struct ClaimsInTwoSteps : Base {
  template <class Value>
  class Atomic : public Base::template Atomic<Value> {
    using Whole = typename Base::template Atomic<Value>;

   public:
    using Whole::Whole;

    bool compare_exchange_weak(Value& expected, Value desired, sync::Step step) noexcept {
      if (!is_at(step, Site::claim_copy)) {
        return Whole::compare_exchange_weak(expected, desired, step);
      }
      const Value now = Whole::load(step);
      if (now != expected) {
        expected = now;
        return false;
      }
      Whole::store(desired, step);
      return true;
    }
  };
};

/// `Wrong::subtract` takes the place of one subtraction.
template <sync::Sync Base, Site At, class Wrong>
struct SubtractsWrongly : Base {
  template <class Value>
  class Atomic : public Base::template Atomic<Value> {
    using Whole = typename Base::template Atomic<Value>;

   public:
    using Whole::Whole;

    Value fetch_sub(Value value, sync::Step step) noexcept {
      Whole& whole = *this;
      return is_at(step, At) ? Wrong::subtract(whole, value, step) : whole.fetch_sub(value, step);
    }
  };
};

struct InTwoSteps {
  template <class Whole, class Value>
  static Value subtract(Whole& whole, Value value, sync::Step step) noexcept {
    const Value before = whole.load({step.site, std::memory_order::acquire});
    whole.store(before - value, {step.site, std::memory_order::release});
    return before;
  }
};
/// A drop decrements by a load and a store.
template <sync::Sync Base>
struct DropsInTwoSteps : SubtractsWrongly<Base, Site::drop_owner, InTwoSteps> {};

struct Relaxed {
  template <class Whole, class Value>
  static Value subtract(Whole& whole, Value value, sync::Step step) noexcept {
    return whole.fetch_sub(value, {step.site, std::memory_order::relaxed});
  }
};
/// The end of a copy is no release, which a steal should acquire.
template <sync::Sync Base>
struct RelaxedFinish : SubtractsWrongly<Base, Site::finish_copy, Relaxed> {};

/// The end of a copy is recorded before anything is copied, so that others write, or release, what is.
template <sync::Sync Sync>
class FinishesBeforeCopying : public basic_share_word<Sync> {
  using Word = basic_share_word<Sync>;

 public:
  using Word::Word;

  Claim claim(Wait wait = Wait::allowed) noexcept {
    const Claim claimed = Word::claim(wait);
    if (claimed == Claim::copy) {
      has_to_release_ = Word::finish_copy();
    }
    return claimed;
  }
  bool finish_copy() noexcept { return has_to_release_; }
  void abandon_copy() noexcept { Word::add_owner(); }

 private:
  static inline thread_local bool has_to_release_ = false;
};

/// An owner that has dropped reads once more, a constant.
template <sync::Sync Sync>
class ReadsAfterDrop : public basic_share_word<Sync> {
  using Word = basic_share_word<Sync>;

 public:
  using Word::Word;

  bool drop_owner() noexcept {
    const bool was_last = Word::drop_owner();
    return was_last || never_changes_.get() == nullptr;
  }

 private:
  typename Sync::template Plain<const void*> never_changes_{this};
};

/// Data gets its count from the first clone. To the cloned owner that should be a read.
template <sync::Sync Sync>
class PlainUntilCloned {
  using Word = basic_share_word<Sync>;

 public:
  explicit PlainUntilCloned(bool = false) : word_(nullptr) {}
  explicit PlainUntilCloned(NoOwner) : word_(nullptr) {}
  ~PlainUntilCloned() { delete word(); }

  void add_owner() {
    if (word() == nullptr) {
      word_.set(new Word);
    }
    word()->add_owner();
  }
  bool drop_owner() noexcept { return word() == nullptr || word()->drop_owner(); }
  bool is_writable() const noexcept { return word() == nullptr || word()->is_writable(); }
  bool is_unique() const noexcept { return word() == nullptr || word()->is_unique(); }
  std::uint32_t use_count() const noexcept { return word() == nullptr ? 1 : word()->use_count(); }
  Claim claim(Wait wait = Wait::allowed) noexcept { return word()->claim(wait); }
  bool finish_copy() noexcept { return word()->finish_copy(); }
  void abandon_copy() noexcept { word()->abandon_copy(); }

 private:
  Word* word() const noexcept { return static_cast<Word*>(word_.get()); }

  typename Sync::template Plain<void*> word_;
};

}  // namespace byre::stress::seeded_bugs
