// SPDX-License-Identifier: BSL-1.0
/// Random edits, undos and redos, compared with full copies, also while other threads press the
/// budget.
#include <byre/memory/budget.hpp>
#include <byre/storage/history.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "image_history.hpp"
#include "support/at_once.hpp"
#include "support/random.hpp"

namespace byre::test {
namespace {

using HistoryPrograms = HistoryTest;

/// Runs random edits, undos and redos, and compares each state with a full copy.
class RandomProgram {
 public:
  RandomProgram(History<TiledBuffer>& history, Random& random)
      : history_(history), random_(random), states_{letters_of(history.current())} {}

  void step() {
    switch (random_.below(8)) {
      case 0:
        history_.commit();
        is_edited_ = false;
        break;
      case 1:
      case 2:
        move(history_.undo(), -1);
        break;
      case 3:
        move(history_.redo(), 1);
        break;
      case 4:
        if (random_.chance(10)) {
          history_.clear();
          keep(0, 0);
          is_edited_ = false;
        }
        break;
      default:
        paint();
    }
    EXPECT_EQ(letters_of(history_.current()), states_[position_]);
  }

  /// Forgets the states that the history has forgotten.
  void forget() {
    ASSERT_LE(history_.undo_count(), position_);
    ASSERT_LT(position_ + history_.redo_count(), states_.size());
    keep(history_.undo_count(), history_.redo_count());
  }
  std::size_t undo_count() const { return position_; }
  std::size_t redo_count() const { return states_.size() - 1 - position_; }

 private:
  void paint() {
    const std::size_t tile = random_.below(tiles);
    const auto letter = static_cast<char>('a' + random_.below(26));
    fill(history_.mutable_current(), tile, letter);
    if (!std::exchange(is_edited_, true)) {
      keep(position_, 0);
      states_.push_back(states_[position_++]);
    }
    states_[position_][tile] = letter;
  }

  /// If the history cannot move, it has forgotten the states in that direction.
  void move(bool moves, int distance) {
    if (moves) {
      ASSERT_GT(distance < 0 ? undo_count() : redo_count(), 0U);
      position_ += static_cast<std::size_t>(distance);
      is_edited_ = false;
    } else {
      keep(distance < 0 ? 0 : undo_count(), distance < 0 ? redo_count() : 0);
    }
  }
  void keep(std::size_t undo_states, std::size_t redo_states) {
    states_.resize(position_ + 1 + redo_states);
    states_.erase(states_.begin(),
                  states_.begin() + static_cast<std::ptrdiff_t>(position_ - undo_states));
    position_ = undo_states;
  }

  History<TiledBuffer>& history_;
  Random& random_;
  std::vector<std::string> states_;
  std::size_t position_ = 0;
  bool is_edited_ = false;
};

TEST_F(HistoryPrograms, random_programs_show_the_states_of_full_copies) {
  Random random(seed());
  RandomProgram program(history, random);
  for (int step = 0; step < 3000 && !HasFailure(); ++step) {
    program.step();
    EXPECT_EQ(history.undo_count(), program.undo_count());
    EXPECT_EQ(history.redo_count(), program.redo_count());
  }
}

TEST_F(HistoryPrograms, random_programs_at_the_limit_lose_only_outer_states) {
  Random random(seed());
  constexpr std::size_t spare_tiles = 3;
  lend(spare_tiles);
  RandomProgram program(history, random);
  std::vector<Buffer> others(spare_tiles);
  for (int step = 0; step < 3000 && !HasFailure(); ++step) {
    program.step();
    if (random.chance(20)) {
      Buffer& other = random.one_of(others);
      other = Buffer();
      other = random.flag() ? Buffer::allocate(random.number(std::size_t{1}, one_tile), allocator)
                            : Buffer();
    }
    program.forget();
  }
  EXPECT_EQ(budget.peak(), budget.limit());
}

TEST_F(HistoryPrograms, its_owner_never_lacks_room_if_other_threads_forget) {
  need_threads();
  Random random(seed());
  constexpr std::size_t threads = 2;
  lend(threads);
  RandomProgram program(history, random);
  std::atomic<bool> is_over{false};
  at_once(threads + 1, [&](std::size_t thread) {
    if (thread == 0) {
      for (int step = 0; step < 3000 && !HasFailure(); ++step) {
        program.step();
      }
      is_over = true;
    }
    while (!is_over) {
      try {
        (void)Buffer::allocate(one_tile, allocator);
      } catch (const BudgetExceeded&) {
        // Rarely: while the owner copies a tile, its image takes a tile more.
      }
    }
  });
  program.forget();
  history.clear();
  EXPECT_EQ(used_tiles(), tiles);
  EXPECT_LE(budget.peak(), budget.limit());
}

}  // namespace
}  // namespace byre::test
