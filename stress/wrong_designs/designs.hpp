// SPDX-License-Identifier: BSL-1.0
/// Wrong designs of the sharing protocol: published designs, designs that the model checker refutes
/// (verification/known_wrong), and plausible coding mistakes. WithDesign<Base, Design> is a Sync
/// (the template parameter of buffers and storages) whose share word uses `Design`, so that all
/// layers above the share word run over this design.
#pragma once

#include <byre/cow/share_word.hpp>
#include <byre/storage/buffer.hpp>
#include <byre/sync/sync.hpp>

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <shared_mutex>
#include <string_view>

#include "../../verification/known_wrong/counts_writes_twice.hpp"
#include "../../verification/known_wrong/published_protocols.hpp"
#include "../../verification/known_wrong/wrong_syncs.hpp"
#include "../sync_hooks.hpp"
#include "support/sanitized.hpp"

namespace byre::stress::wrong {

/// A mutex, for designs that use one. Hooks are called for its steps as for accesses to plain data.
template <sync::Sync Base>
struct WithMutex : Base {
  class SharedMutex {
   public:
    void lock(sync::Step) { mutex().lock(); }
    void unlock(sync::Step) { mutex().unlock(); }
    void lock_shared(sync::Step) { mutex().lock_shared(); }
    void unlock_shared(sync::Step) { mutex().unlock_shared(); }

   private:
    std::shared_mutex& mutex() {
      static_cast<void>(step_.get());
      return mutex_;
    }

    std::shared_mutex mutex_;
    typename Base::template Plain<void*> step_{nullptr};
  };
};

template <sync::Sync Base, template <class> class Design>
struct WithDesign : Base {};

}  // namespace byre::stress::wrong

namespace byre::inline BYRE_ABI {

template <sync::Sync Base, template <class> class Design>
class basic_share_word<stress::wrong::WithDesign<Base, Design>>
    : public Design<stress::wrong::WithMutex<Base>> {
  using Word = Design<stress::wrong::WithMutex<Base>>;

 public:
  explicit basic_share_word(bool /*read_only*/ = false) {}
  explicit basic_share_word(NoOwner) {}

  bool is_writable() const noexcept {
    if constexpr (requires(const Word& word) { word.is_writable(); }) {
      return Word::is_writable();
    } else {
      return this->is_unique();
    }
  }

  // For versions of storages, data in pages, and data on devices, which the races over wrong
  // designs do not use.
  void drop_owners(std::uint64_t) noexcept {}
  bool is_unique(std::uint32_t = 1) const noexcept { return Word::is_unique(); }
  bool is_sole_copier() const noexcept { return false; }
  void add_copy() noexcept {}
  Claim claim_in_order() noexcept { return this->claim(Wait::never); }
};

}  // namespace byre::inline BYRE_ABI

namespace byre::stress::wrong {

/// The exit status of a child process that detected a wrong design.
inline constexpr int exit_found = 3;

/// A member of each hooked variable. It detects accesses to released memory, because released
/// memory is overwritten and retained until the round ends.
class Canary {
 public:
  /// Checks only before each step: after the step, another thread may have released the variable,
  /// which is correct.
  class Scope {
   public:
    Scope(const Canary& canary, std::string_view step) noexcept {
      // Relaxed: an error that this load misses is detected in another round.
      if (canary.mark_.load(std::memory_order_relaxed) != alive) [[unlikely]] {
        std::fprintf(stderr, "%s on released memory\n", step.data());
        ::_exit(exit_found);
      }
    }
  };

  constexpr Canary() noexcept : mark_(alive) {}

 private:
  static constexpr std::uint64_t alive = 0xA11F'E000'0000'A11F;

  std::atomic<std::uint64_t> mark_;
};

/// Reports steps on released memory. Without this check, such steps would often do no visible harm.
template <sync::Sync Base>
using LifetimeChecked = Hooked<Base, Canary>;

using Site = cow::ShareWordSite;

inline bool is_at(sync::Step step, Site site) noexcept {
  return step.site == &cow::share_word_sites.rows[static_cast<std::size_t>(site)];
}

/// The share word over a wrong Sync.
template <template <class> class WrongSync>
struct ShareWordOver {
  template <sync::Sync Sync>
  class Design : public basic_share_word<WrongSync<Sync>> {
    using basic_share_word<WrongSync<Sync>>::basic_share_word;
  };
};

/// The last copier reads the header after the last owner may have freed the header. A parked waiter
/// never frees the header early enough, so here each wait ends at once, which the protocol permits.
/// The error then shows within some ten rounds; with parked waiters it takes thousands. Under the
/// thread sanitizer the waiters do park, because the sanitizer detects the race of parked waiters,
/// too. The sanitizer also reports, falsely, the first use of a lock in a child process.
template <sync::Sync Base>
struct WakesThroughHeader : verification::ListInHeader<Base> {
  template <class KeepWaiting>
  static void park(const void* place, KeepWaiting&& keep_waiting, sync::Step step) noexcept {
    if constexpr (test::is_thread_sanitized) {
      verification::ListInHeader<Base>::park(place, std::forward<KeepWaiting>(keep_waiting), step);
    }
  }
};

/// Parks without checking again, so a wake just before the sleep is lost.
template <sync::Sync Base>
struct ParksWithoutRecheck : Base {
  template <class KeepWaiting>
  static void park(const void* address, KeepWaiting&&, sync::Step step) noexcept {
    Base::park(
        address, []() noexcept { return true; }, step);
  }
};

/// The last copier does not wake the last owner.
template <sync::Sync Base>
struct NeverWakes : Base {
  static void unpark_all(const void* address, sync::Step step) noexcept {
    if (!is_at(step, Site::wake_after_copy)) {
      Base::unpark_all(address, step);
    }
  }
};

/// A waiter that steals does not clear the bit `waiting`.
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

/// The end of a copy is recorded before the copy is made, so other owners write or release data
/// that is being copied.
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

/// After its drop, an owner reads a constant in the share word once more.
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

/// Creates the count of owners at the first clone. This writes the source, although a clone must
/// only read it.
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

}  // namespace byre::stress::wrong
