// SPDX-License-Identifier: BSL-1.0
/// Types of states of a History, and states that fail, request memory, or keep a thread waiting.
#include <byre/memory/budget.hpp>
#include <byre/storage/array.hpp>
#include <byre/storage/history.hpp>
#include <byre/storage/storage.hpp>
#include <byre/storage/tiles/tiled_buffer.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <functional>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include "image_history.hpp"
#include "support/at_once.hpp"
#include "support/complaint.hpp"
#include "support/failing_allocator.hpp"
#include "text.hpp"

namespace byre::test {
namespace {

struct Document {
  Array<int> numbers;
  TiledBuffer image;
  std::string name;
};

TEST(Histories, a_state_may_be_a_struct_of_several_values) {
  FailingAllocator memory;
  Budget budget(std::size_t{1} << 20);
  BudgetedAllocator allocator(memory, budget);
  History history(budget, Document{{{1, 2}, allocator}, blank_image(allocator), "cow"});
  const std::size_t used = budget.used();
  Document& document = history.mutable_current();
  document.numbers.mutable_span()[0] = 3;
  fill(document.image, 0, 'a');
  document.name = "ox";
  history.commit();
  EXPECT_EQ(budget.used(), used + 2 * sizeof(int) + one_tile);
  history.undo();
  EXPECT_EQ(history.current().numbers, (Array<int>{1, 2}));
  EXPECT_EQ(letters_of(history.current().image), "....");
  EXPECT_EQ(history.current().name, "cow");
  history.redo();
  EXPECT_EQ(history.current().name, "ox");
}

TEST(Histories, states_of_a_storage_do_not_alias) {
  FailingAllocator memory;
  Budget budget(6);
  BudgetedAllocator allocator(memory, budget);
  History<Storage> history(budget, of_text<Storage>("cow", allocator));
  history.mutable_current().mutable_data()[0] = std::byte{'n'};
  EXPECT_EQ(text_of(history.current()), "now");
  history.undo();
  EXPECT_EQ(text_of(history.current()), "cow");
  history.redo();
  history.mutable_current().mutable_data()[1] = std::byte{'e'};  // forgets "cow"
  EXPECT_EQ(history.undo_count(), 1U);
  history.undo();
  EXPECT_EQ(text_of(history.current()), "now");
}

/// A state that has only a lazy_clone() of its own.
struct Sited {
  explicit Sited(std::uint_least32_t of_line) : line(of_line) {}
  Sited(Sited&&) = default;
  Sited lazy_clone(CallSite site) const { return Sited(site.line); }
  std::uint_least32_t line;
};

TEST(Histories, a_clone_is_reported_with_the_line_of_its_edit) {
  Budget budget(1);
  History<Sited> history(budget, Sited(1));
  history.mutable_current();
  const auto line = static_cast<std::uint_least32_t>(__LINE__ - 1);
  history.undo();
  EXPECT_EQ(history.current().line, line);
}

TEST(Histories, a_clone_without_room_begins_no_edit) {
  char lent[] = "cow";
  FailingAllocator memory;
  Budget budget(3);
  BudgetedAllocator allocator(memory, budget);
  History<Buffer> history(budget, Buffer::borrow(lent, 3, allocator));
  {
    const Buffer other = Buffer::allocate(3, allocator);
    EXPECT_THROW(history.mutable_current(), BudgetExceeded);
    EXPECT_EQ(history.undo_count(), 0U);
  }
  history.mutable_current().mutable_data()[0] = std::byte{'n'};
  history.commit();
  EXPECT_STREQ(lent, "now");
  EXPECT_EQ(history.undo_count(), 1U);
  // A clone at the limit: the reclaimer forgets the undo state while the edit begins.
  history.mutable_current().mutable_data()[0] = std::byte{'r'};
  EXPECT_EQ(history.undo_count(), 1U);
  EXPECT_TRUE(history.undo());
  EXPECT_EQ(text_of(history.current()), "now");
}

/// A state whose copies may fail.
struct Fragile {
  explicit Fragile(int of_number) : number(of_number) {}
  Fragile(const Fragile& other) : number(other.number) {
    if (fails) {
      throw std::bad_alloc();
    }
  }
  Fragile& operator=(const Fragile&) = delete;
  int number;
  static inline bool fails = false;
};

TEST(Histories, a_failed_clone_changes_nothing) {
  Budget budget(1);
  History<Fragile> history(budget, Fragile(0));
  history.mutable_current().number = 1;
  history.commit();
  history.mutable_current().number = 2;
  history.undo();
  Fragile::fails = true;
  EXPECT_TRUE(says(complaint_of<OutOfMemory>([&] { history.mutable_current(); }), "out of memory",
                   "a state of a History"));
  EXPECT_THROW(History<Fragile>(budget, Fragile(0)), OutOfMemory);
  Fragile::fails = false;
  EXPECT_EQ(history.undo_count(), 1U);
  EXPECT_EQ(history.redo_count(), 1U);
  EXPECT_EQ(history.current().number, 1);
  history.redo();
  EXPECT_EQ(history.current().number, 2);
}

/// A state whose destructor calls a function.
struct Ending {
  Ending(Buffer of_bytes, std::function<void()> function)
      : bytes(std::move(of_bytes)), at_end(std::move(function)) {}
  Ending(Ending&&) = default;
  Ending(const Ending&) = default;
  Ending& operator=(const Ending&) = delete;
  ~Ending() {
    if (at_end) {
      at_end();
    }
  }
  Buffer bytes;
  std::function<void()> at_end;
};

TEST(Histories, a_state_may_request_memory_while_it_is_destroyed) {
  FailingAllocator memory;
  Budget budget(8);
  BudgetedAllocator allocator(memory, budget);
  int ends = 0;
  const auto request = [&] {
    ++ends;
    EXPECT_THROW(Buffer::allocate(8, allocator), BudgetExceeded);
    EXPECT_EQ(Buffer::allocate(1, allocator).nbytes(), 1U);
  };
  History<Ending> history(budget, Ending(of_text<Buffer>("cow", allocator), request));
  history.mutable_current().bytes = of_text<Buffer>("ox", allocator);
  ends = 0;
  {
    const Buffer other = Buffer::allocate(5, allocator);  // forgets "cow"
    EXPECT_EQ(ends, 1);
  }
  EXPECT_FALSE(history.undo());
  history.commit();
  history.mutable_current();
  history.undo();
  EXPECT_EQ(ends, 1);
  history.mutable_current();  // forgets the redo state, whose request forgets the undo state
  EXPECT_EQ(ends, 3);
  EXPECT_EQ(history.undo_count(), 0U);
  history.commit();
  history.mutable_current();
  history.clear();
  EXPECT_EQ(ends, 4);
}

TEST(Histories, a_write_waits_for_a_state_that_another_thread_forgets) {
  need_threads();
  FailingAllocator memory;
  Budget budget(3);
  BudgetedAllocator allocator(memory, budget);
  std::atomic<int> requests{0};
  const Reclaimer counting = budget.add_reclaimer([&](const Pressure&) -> std::size_t {
    ++requests;
    return 0;
  });
  History<Ending> history(budget, Ending(of_text<Buffer>("cow", allocator), nullptr));
  Halt halt;
  history.mutable_current().at_end = [&] { halt.enter(); };
  history.commit();
  history.mutable_current().at_end = nullptr;
  std::thread allocating([&] { EXPECT_THROW(Buffer::allocate(1, allocator), BudgetExceeded); });
  halt.await_entry();
  std::thread letting_go([&] {
    await([&] { return requests.load() >= 2; });
    for (int turn = 0; turn < 1000; ++turn) {
      std::this_thread::yield();  // lets a write that does not wait fail first
    }
    halt.let_go();
  });
  const std::byte* const place = history.current().bytes.data();
  EXPECT_EQ(history.mutable_current().bytes.mutable_data(), place);
  letting_go.join();
  allocating.join();
}

}  // namespace
}  // namespace byre::test
