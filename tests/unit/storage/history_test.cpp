// SPDX-License-Identifier: BSL-1.0
/// Undo and redo, and which states a history forgets at the limit of its budget.
#include <byre/memory/budget.hpp>
#include <byre/storage/history.hpp>
#include <byre/storage/tiles/tiled_buffer.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <type_traits>
#include <vector>

#include "image_history.hpp"
#include "pages/children.hpp"
#include "support/failing_allocator.hpp"
#include "text.hpp"

namespace byre::test {
namespace {

static_assert(!std::is_copy_constructible_v<History<Buffer>>);

// ---- with enough room

TEST_F(HistoryTest, undo_and_redo_return_to_the_states_between_edits) {
  edit(0, 'a');
  edit(1, 'b');
  edit(0, 'c');
  EXPECT_EQ(counts(), "3 undo, 0 redo");
  for (const char* const state : {"ab..", "a...", "...."}) {
    EXPECT_TRUE(history.undo());
    EXPECT_EQ(shown(), state);
  }
  EXPECT_EQ(counts(), "0 undo, 3 redo");
  EXPECT_FALSE(history.undo());
  EXPECT_EQ(shown(), "....");
  for (const char* const state : {"a...", "ab..", "cb.."}) {
    EXPECT_TRUE(history.redo());
    EXPECT_EQ(shown(), state);
  }
  EXPECT_FALSE(history.redo());
  EXPECT_EQ(shown(), "cb..");
  EXPECT_EQ(counts(), "3 undo, 0 redo");
}

TEST_F(HistoryTest, a_new_history_has_no_other_states) {
  EXPECT_FALSE(history.undo());
  EXPECT_FALSE(history.redo());
  EXPECT_EQ(counts(), "0 undo, 0 redo");
  EXPECT_EQ(shown(), "....");
}

TEST_F(HistoryTest, writes_between_two_commits_are_one_edit) {
  paint(0, 'a');
  paint(1, 'a');
  EXPECT_EQ(counts(), "1 undo, 0 redo");
  history.commit();
  history.commit();
  EXPECT_EQ(counts(), "1 undo, 0 redo");
  edit(1, 'b');
  EXPECT_TRUE(history.undo());
  EXPECT_EQ(shown(), "aa..");
  EXPECT_TRUE(history.undo());
  EXPECT_EQ(shown(), "....");
}

TEST_F(HistoryTest, redo_brings_back_an_edit_that_was_not_committed) {
  edit(0, 'a');
  paint(1, 'b');
  EXPECT_TRUE(history.undo());
  EXPECT_EQ(shown(), "a...");
  EXPECT_TRUE(history.redo());
  EXPECT_EQ(shown(), "ab..");
  paint(2, 'c');  // another edit, because undo() committed the former
  EXPECT_EQ(counts(), "3 undo, 0 redo");
}

TEST_F(HistoryTest, an_edit_after_undo_forgets_the_redo_states) {
  edit(0, 'a');
  edit(1, 'b');
  edit(2, 'c');
  history.undo();
  history.undo();
  history.commit();  // no edit
  EXPECT_EQ(counts(), "1 undo, 2 redo");
  EXPECT_EQ(used_tiles(), tiles + 3);
  history.mutable_current();
  EXPECT_EQ(used_tiles(), tiles + 1);
  paint(3, 'd');
  EXPECT_EQ(counts(), "2 undo, 0 redo");
  EXPECT_FALSE(history.redo());
  EXPECT_EQ(shown(), "a..d");
  history.undo();
  EXPECT_EQ(shown(), "a...");
}

TEST_F(HistoryTest, a_state_costs_the_tiles_that_an_edit_replaced) {
  edit(0, 'a');
  EXPECT_EQ(used_tiles(), tiles + 1);
  paint(0, 'b');
  paint(3, 'b');
  paint(3, 'c');
  EXPECT_EQ(used_tiles(), tiles + 3);
  history.undo();
  history.undo();
  history.redo();
  EXPECT_EQ(used_tiles(), tiles + 3);
}

TEST_F(HistoryTest, clear_keeps_only_the_current_state) {
  edit(0, 'a');
  edit(1, 'b');
  edit(2, 'c');
  history.undo();
  history.clear();
  EXPECT_EQ(counts(), "0 undo, 0 redo");
  EXPECT_EQ(shown(), "ab..");
  EXPECT_EQ(used_tiles(), tiles);
  paint(2, 'd');
  history.clear();
  paint(2, 'e');  // another edit
  EXPECT_EQ(counts(), "1 undo, 0 redo");
  history.undo();
  EXPECT_EQ(shown(), "abd.");
}

// ---- at the limit

TEST_F(HistoryTest, the_oldest_states_are_forgotten_one_by_one) {
  lend(3);
  for (const char letter : {'a', 'b', 'c'}) {
    edit(0, letter);
  }
  EXPECT_EQ(counts(), "3 undo, 0 redo");
  edit(0, 'd');
  EXPECT_EQ(counts(), "3 undo, 0 redo");
  {
    const Buffer other = Buffer::allocate(one_tile + 1, allocator);  // two states make room
    EXPECT_EQ(counts(), "1 undo, 0 redo");
  }
  EXPECT_EQ(shown(), "d...");
  EXPECT_TRUE(history.undo());
  EXPECT_EQ(shown(), "c...");
  EXPECT_FALSE(history.undo());
  EXPECT_LE(budget.peak(), (tiles + 3) * one_tile);
}

TEST_F(HistoryTest, a_write_without_any_room_steals_the_tile) {
  lend(0);
  const std::byte* const place = history.current().tile(2).data();
  const int allocations = memory.allocations();
  paint(2, 'a');
  EXPECT_EQ(history.current().tile(2).data(), place);
  EXPECT_EQ(memory.allocations(), allocations);
  EXPECT_EQ(counts(), "0 undo, 0 redo");
  EXPECT_FALSE(history.undo());
  EXPECT_EQ(shown(), "..a.");
  edit(2, 'b');  // the edit goes on
  EXPECT_EQ(counts(), "0 undo, 0 redo");
  EXPECT_EQ(budget.peak(), budget.limit());
}

TEST_F(HistoryTest, a_write_copies_into_the_room_of_the_oldest_state) {
  lend(1);
  edit(0, 'a');
  const std::byte* const place = history.current().tile(2).data();
  edit(2, 'b');
  EXPECT_NE(history.current().tile(2).data(), place);
  EXPECT_EQ(counts(), "1 undo, 0 redo");
  history.undo();
  EXPECT_EQ(shown(), "a...");
}

TEST_F(HistoryTest, after_the_undo_states_the_furthest_redo_state_is_forgotten) {
  lend(4);
  for (const char letter : {'a', 'b', 'c', 'd'}) {
    edit(0, letter);
  }
  history.undo();
  history.undo();
  std::vector<Buffer> others;
  for (const char* const left :
       {"1 undo, 2 redo", "0 undo, 2 redo", "0 undo, 1 redo", "0 undo, 0 redo"}) {
    others.push_back(Buffer::allocate(one_tile, allocator));
    EXPECT_EQ(counts(), left);
    EXPECT_EQ(shown(), "b...");
    if (history.redo()) {
      EXPECT_EQ(shown(), "c...");
      history.undo();
    }
  }
  EXPECT_THROW(Buffer::allocate(1, allocator), BudgetExceeded);
  EXPECT_EQ(shown(), "b...");
}

TEST_F(HistoryTest, an_allocation_beyond_the_limit_forgets_nothing) {
  lend(1);
  edit(0, 'a');
  EXPECT_THROW(Buffer::allocate(budget.limit() + 1, allocator), BudgetExceeded);
  EXPECT_EQ(counts(), "1 undo, 0 redo");
}

TEST_F(HistoryTest, a_resize_beyond_the_limit_forgets_nothing) {
  lend(2);
  edit(0, 'a');
  Buffer other = Buffer::allocate(1, allocator);
  EXPECT_THROW(other.resize(budget.limit() + 1), BudgetExceeded);
  EXPECT_EQ(counts(), "1 undo, 0 redo");
}

TEST_F(HistoryTest, an_allocation_beyond_limit_and_room_forgets_nothing) {
  lend(2);
  edit(0, 'a');
  EXPECT_THROW(Buffer::allocate(budget.limit() + 1, allocator), BudgetExceeded);
  EXPECT_EQ(counts(), "1 undo, 0 redo");
}

TEST_F(HistoryTest, an_allocation_far_above_a_lowered_limit_forgets) {
  for (std::size_t tile = 0; tile < tiles; ++tile) {
    edit(tile, 'a');
    edit(tile, 'b');
  }
  budget.set_limit(5 * one_tile);  // 12 tiles are in use
  EXPECT_EQ(Buffer::allocate(one_tile, allocator).nbytes(), one_tile);
  EXPECT_EQ(counts(), "0 undo, 0 redo");
}

TEST(Histories, an_allocation_of_the_whole_limit_forgets_all_states) {
  FailingAllocator memory;
  Budget budget(8);
  BudgetedAllocator allocator(memory, budget);
  History<Buffer> history(budget, of_text<Buffer>("12345678", allocator));
  history.mutable_current() = Buffer();
  EXPECT_EQ(Buffer::allocate(8, allocator).nbytes(), 8U);
  EXPECT_EQ(history.undo_count(), 0U);
}

TEST_F(HistoryTest, a_state_that_gives_nothing_is_forgotten_before_the_next) {
  lend(2);
  const TiledBuffer kept = history.current();
  edit(0, 'a');
  edit(0, 'b');
  edit(0, 'c');  // forgets "....", which gives nothing because of `kept`, and "a..."
  EXPECT_EQ(counts(), "1 undo, 0 redo");
  history.undo();
  EXPECT_EQ(shown(), "b...");
  EXPECT_EQ(letters_of(kept), "....");
}

TEST_F(HistoryTest, a_state_that_need_not_be_forgotten_stays) {
  lend(2);
  edit(0, 'a');
  const TiledBuffer kept = history.current();
  edit(0, 'b');  // the state "a..." is shared with `kept`
  edit(1, 'c');  // forgets the state "....", which gives a tile back
  EXPECT_EQ(counts(), "2 undo, 0 redo");
  history.undo();
  history.undo();
  EXPECT_EQ(shown(), "a...");
}

TEST_F(HistoryTest, a_write_to_a_tile_that_other_code_shares_may_lack_room) {
  lend(0);
  const TiledBuffer kept = history.current();
  EXPECT_THROW(paint(1, 'a'), BudgetExceeded);
  EXPECT_EQ(shown(), "....");
  EXPECT_EQ(letters_of(kept), "....");
  EXPECT_EQ(counts(), "0 undo, 0 redo");
}

TEST_F(HistoryTest, any_number_of_states_that_give_nothing_is_forgotten) {
  lend(0);
  for (int state = 0; state < 150; ++state) {  // more than a request asks reclaimers
    history.mutable_current();
    history.commit();
  }
  EXPECT_EQ(history.undo_count(), 150U);
  paint(1, 'a');
  EXPECT_EQ(counts(), "0 undo, 0 redo");
}

TEST(Histories, a_write_to_data_beyond_the_limit_steals) {
  char adopted[] = "12345678";
  FailingAllocator memory;
  Budget budget(3);
  BudgetedAllocator allocator(memory, budget);
  History<Buffer> history(budget, Buffer::adopt(
                                      adopted, 8, [](void*) {}, allocator));
  history.mutable_current().mutable_data()[0] = std::byte{'0'};
  EXPECT_STREQ(adopted, "02345678");
  EXPECT_EQ(history.undo_count(), 0U);
}

TEST_F(HistoryTest, a_reclaimer_behind_it_is_asked_only_if_no_state_is_left) {
  lend(1);
  edit(0, 'a');
  std::optional<Buffer> cached;
  int calls = 0;
  const Reclaimer behind = budget.add_reclaimer([&](const Pressure& pressure) -> std::size_t {
    ++calls;
    cached.reset();
    return pressure.nbytes;
  });
  cached = Buffer::allocate(one_tile, allocator);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(counts(), "0 undo, 0 redo");
  paint(1, 'b');  // steals
  EXPECT_EQ(calls, 0);
  const Buffer other = Buffer::allocate(one_tile, allocator);
  EXPECT_EQ(calls, 1);
}

TEST_F(HistoryTest, a_history_that_ends_takes_its_reclaimer_away) {
  lend(2);
  {
    History<TiledBuffer> second(budget, history.current());
    fill(second.mutable_current(), 0, 'a');
    EXPECT_EQ(second.undo_count(), 1U);
  }
  edit(0, 'b');
  edit(0, 'c');
  edit(0, 'd');
  EXPECT_EQ(counts(), "2 undo, 0 redo");
}

TEST_F(HistoryTest, two_histories_of_one_budget_both_forget) {
  lend(3);
  History<TiledBuffer> second(budget, history.current());
  edit(0, 'a');
  fill(second.mutable_current(), 0, 'x');
  edit(1, 'b');
  fill(second.mutable_current(), 2, 'y');
  EXPECT_EQ(shown(), "ab..");
  EXPECT_EQ(letters_of(second.current()), "x.y.");
  EXPECT_LE(budget.peak(), budget.limit());
}

TEST_F(HistoryTest, in_a_forked_child_it_forgets_nothing) {
  lend(1);
  edit(0, 'a');
  in_a_child([&] {
    EXPECT_THROW(paint(1, 'b'), BudgetExceeded);
    EXPECT_EQ(counts(), "2 undo, 0 redo");
    EXPECT_TRUE(history.undo());
    EXPECT_TRUE(history.undo());
    EXPECT_EQ(shown(), "....");
  });
  paint(1, 'b');
  EXPECT_EQ(counts(), "1 undo, 0 redo");
}

}  // namespace
}  // namespace byre::test
