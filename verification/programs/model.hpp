// SPDX-License-Identifier: BSL-1.0
/// The sequential model of what one thread does: what its buffers hold, and what a write may have to
/// do. The value of some data names it, since no two writes of a program write the same one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace byre::verification {

class ThreadModel {
 public:
  /// What all threads share from the start.
  static constexpr unsigned original = 0;

  enum class Write {
    in_place,  ///< nobody else can have the data
    copies,    ///< a clone of the thread's own has it
    depends,   ///< on whether another thread still has it
  };

  std::optional<unsigned> own() const noexcept { return own_; }
  unsigned kept(std::size_t index) const noexcept { return kept_[index]; }
  std::size_t kept_count() const noexcept { return kept_count_; }
  unsigned copies() const noexcept { return copies_; }
  bool took_original() const noexcept { return took_original_; }
  /// Its last share of the original ended in a copy.
  bool copied_away() const noexcept { return copied_away_; }

  unsigned owners_of(unsigned value) const noexcept {
    const auto* const end = kept_.data() + kept_count_;
    return (own_ == value ? 1U : 0U) + static_cast<unsigned>(std::count(kept_.data(), end, value));
  }

  /// The values it has that no other thread can have: each is a block of memory.
  unsigned blocks_of_its_own() const noexcept {
    unsigned count = own_.value_or(original) != original ? 1U : 0U;
    for (std::size_t i = 0; i < kept_count_; ++i) {
      const auto* const end = kept_.data() + i;
      const bool is_first = own_ != kept_[i] && std::find(kept_.data(), end, kept_[i]) == end;
      count += kept_[i] != original && is_first ? 1U : 0U;
    }
    return count;
  }

  Write write_of_own() const noexcept {
    return owners_of(*own_) > 1 ? Write::copies
           : *own_ == original  ? Write::depends
                                : Write::in_place;
  }

  void keep_clone() noexcept { kept_[kept_count_++] = *own_; }
  void drop() noexcept { own_.reset(); }
  /// A clone, while the thread owns what it is a clone of.
  void copied_for_clone() noexcept { ++copies_; }
  void copied_to(unsigned value) noexcept {
    copied_away_ = copied_away_ || write_of_own() == Write::depends;
    ++copies_;
    own_ = value;
  }
  void wrote_in_place(unsigned value) noexcept {
    took_original_ = took_original_ || *own_ == original;
    own_ = value;
  }

 private:
  std::optional<unsigned> own_ = original;
  std::array<unsigned, 2> kept_{};
  std::size_t kept_count_ = 0;
  unsigned copies_ = 0;
  bool took_original_ = false;
  bool copied_away_ = false;
};

}  // namespace byre::verification
