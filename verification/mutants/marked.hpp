// SPDX-License-Identifier: BSL-1.0
/// A share form that tells where its operations begin and end, so that running it teaches which of
/// its steps follow each other within one.
#pragma once

#include <byre/cow/share_word.hpp>

#include <array>

#include "../relacy/execution.hpp"

namespace byre::verification {

struct StepPair {
  const sync::Site* first;
  const sync::Site* second;  ///< null: nothing, `first` may be the last step of its operation
};

/// The pairs seen so far, in all executions. In place, since what threads allocate is watched.
class SeenPairs {
 public:
  void step(const sync::Site& site) noexcept {
    if (trace.are_threads_running()) {
      see({previous(), &site});
      previous() = &site;
    }
  }
  void operation_begins() noexcept {
    if (trace.are_threads_running()) {
      previous() = nullptr;
    }
  }
  void operation_ends() noexcept {
    if (trace.are_threads_running()) {
      see({previous(), nullptr});
      previous() = nullptr;
    }
  }

  const StepPair* begin() const noexcept { return pairs_.data(); }
  const StepPair* end() const noexcept { return pairs_.data() + count_; }

 private:
  const sync::Site*& previous() noexcept {
    return previous_[static_cast<std::size_t>(rl::ctx().current_thread())];
  }

  void see(StepPair pair) noexcept {
    if (pair.first == nullptr) {
      return;
    }
    for (const StepPair& seen : *this) {
      if (seen.first == pair.first && seen.second == pair.second) {
        return;
      }
    }
    if (count_ == pairs_.size()) {
      fail(Verdict::checker_error, "there are more pairs of steps than there is room for");
    }
    pairs_[count_++] = pair;
  }

  std::array<const sync::Site*, 8> previous_{};
  std::array<StepPair, 128> pairs_{};
  std::size_t count_ = 0;
};

inline SeenPairs seen_pairs;

template <template <class> class Share>
struct Marked {
  template <class Sync>
  class type : public Share<Sync> {
    using Base = Share<Sync>;

   public:
    using Base::Base;

    void add_owner() noexcept {
      const Operation operation;
      Base::add_owner();
    }
    bool drop_owner() noexcept {
      const Operation operation;
      return Base::drop_owner();
    }
    bool is_writable() const noexcept {
      const Operation operation;
      return Base::is_writable();
    }
    bool is_unique() const noexcept {
      const Operation operation;
      return Base::is_unique();
    }
    std::uint32_t use_count() const noexcept {
      const Operation operation;
      return Base::use_count();
    }
    Claim claim(Wait wait = Wait::allowed) noexcept {
      const Operation operation;
      return Base::claim(wait);
    }
    Claim claim_in_order() noexcept requires requires(Base& base) { base.claim_in_order(); }
    {
      const Operation operation;
      return Base::claim_in_order();
    }
    bool finish_copy() noexcept {
      const Operation operation;
      return Base::finish_copy();
    }
    void abandon_copy() noexcept {
      const Operation operation;
      Base::abandon_copy();
    }
    bool is_sole_copier() const noexcept {
      const Operation operation;
      return Base::is_sole_copier();
    }
    void add_copy() noexcept requires requires(Base& base) { base.add_copy(); }
    {
      const Operation operation;
      Base::add_copy();
    }

   private:
    struct Operation {
      Operation() { seen_pairs.operation_begins(); }
      ~Operation() { seen_pairs.operation_ends(); }
    };
  };
};

}  // namespace byre::verification
