// SPDX-License-Identifier: BSL-1.0
/// How requests at the limit of a budget ask reclaimers. tests/unit/storage has the writes of
/// buffers at the limit.
#include <byre/memory/budget.hpp>
#include <byre/memory/host_allocators.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "budget_test.hpp"
#include "pages/children.hpp"
#include "support/at_once.hpp"
#include "support/caught_warnings.hpp"
#include "support/complaint.hpp"

namespace byre::test {
namespace {

using Asked = std::vector<std::pair<int, std::size_t>>;

/// A budget whose three blocks are in use. A reclaimer gives one back.
class ReclaimerTest : public BudgetTest {
 protected:
  ~ReclaimerTest() override { give_back(blocks); }

  std::size_t give_one(int asked, const Pressure& pressure) {
    log.emplace_back(asked, pressure.nbytes);
    if (blocks.empty()) {
      return 0;
    }
    give_back(blocks.back());
    blocks.pop_back();
    return part_nbytes;
  }
  Reclaimer giving(int number) {
    return budget.add_reclaimer([=, this](const Pressure& p) { return give_one(number, p); });
  }
  Reclaimer refusing(int number, ReclaimOrder order = ReclaimOrder::last) {
    return budget.add_reclaimer(
        [=, this](const Pressure& pressure) {
          log.emplace_back(number, pressure.nbytes);
          return std::size_t{0};
        },
        order);
  }

  std::vector<Block> blocks = take_all();
  Asked log;
};

TEST_F(ReclaimerTest, are_asked_in_order_until_the_request_fits) {
  const Reclaimer first = refusing(1);
  const Reclaimer second = giving(2);
  const Reclaimer third = giving(3);
  const Block one = take(10);
  EXPECT_EQ(log, (Asked{{1, 10}, {2, 10}}));
  log.clear();
  const Block two = take(190);  // 90 bytes of room are left
  EXPECT_EQ(log, (Asked{{1, 100}, {2, 100}}));
  log.clear();
  const Block three = take(100);
  EXPECT_EQ(log, (Asked{{1, 100}, {2, 100}}));
  EXPECT_TRUE(blocks.empty());
  give_back({one, two, three});
}

TEST_F(ReclaimerTest, are_asked_again_while_they_give) {
  const Reclaimer first = giving(1);
  const Block block = take(250);
  EXPECT_EQ(log, (Asked{{1, 250}, {1, 150}, {1, 50}}));
  give_back(block);
}

/// A budget of 300 bytes with a block of 150, which a reclaimer gives back.
class GenerousTest : public BudgetTest {
 protected:
  ~GenerousTest() override {
    if (held.data != nullptr) {
      of_generous.deallocate(held);
    }
  }

  Generous generous;
  BudgetedAllocator of_generous{generous, budget};
  Block held = of_generous.allocate({100});
  const Reclaimer giving = budget.add_reclaimer([&](const Pressure& pressure) -> std::size_t {
    log.push_back(pressure.nbytes);
    if (held.data == nullptr) {
      return 0;
    }
    of_generous.deallocate(std::exchange(held, Block{}));
    return 150;
  });
  std::vector<std::size_t> log;
};

TEST_F(GenerousTest, reclaimers_are_asked_for_the_spare_capacity_of_a_block) {
  const Block block = of_generous.allocate({120});  // 170 with the spare capacity
  EXPECT_EQ(log, (std::vector<std::size_t>{20}));
  of_generous.deallocate(block);
}

TEST_F(GenerousTest, reclaimers_are_asked_if_room_is_taken_again) {
  // The room appears after the request was refused, and is taken before it is repeated.
  generous.at_release = [&] { budget.set_limit(1000); };
  generous.at_allocation = [&] { budget.set_limit(300); };
  const Block block = of_generous.allocate({120});
  EXPECT_EQ(log, (std::vector<std::size_t>{20}));
  of_generous.deallocate(block);
}

TEST_F(ReclaimerTest, that_give_nothing_are_asked_once) {
  const Reclaimer first = refusing(1);
  const Reclaimer second = refusing(2);
  EXPECT_THROW(take(10), BudgetExceeded);
  EXPECT_EQ(log, (Asked{{1, 10}, {2, 10}}));
}

TEST_F(ReclaimerTest, a_request_succeeds_if_another_thread_released_memory) {
  const Reclaimer reclaimer = budget.add_reclaimer([&](const Pressure& pressure) {
    EXPECT_EQ(pressure.data, nullptr);
    on_another_thread([&] { give_one(1, pressure); });
    return std::size_t{0};  // gave nothing itself
  });
  give_back(take(10));
}

TEST_F(ReclaimerTest, a_reclaimer_that_lies_does_not_hang_the_request) {
  int calls = 0;
  const Reclaimer liar = budget.add_reclaimer([&](const Pressure& pressure) {
    ++calls;
    return pressure.nbytes;
  });
  EXPECT_THROW(take(10), BudgetExceeded);
  EXPECT_EQ(calls, 100);
}

TEST_F(ReclaimerTest, an_exception_of_a_reclaimer_is_a_warning) {
  const CaughtWarnings warnings;
  const Reclaimer broken = budget.add_reclaimer(
      [](const Pressure&) -> std::size_t { throw std::runtime_error("the disk is full."); });
  const Reclaimer odd = budget.add_reclaimer([](const Pressure&) -> std::size_t { throw 1; });
  const Reclaimer works = giving(1);
  give_back(take(10));
  EXPECT_EQ(log.size(), 1U);
  EXPECT_EQ(warnings.texts(),
            (std::vector<std::string>{
                "a reclaimer of a budget failed: the disk is full",
                "a reclaimer of a budget failed: it threw an object of an unknown type"}));
}

TEST_F(ReclaimerTest, a_request_of_a_reclaimer_uses_the_room_that_is_left) {
  give_back(blocks.back());
  blocks.pop_back();
  const Reclaimer reclaimer = budget.add_reclaimer([&](const Pressure& pressure) {
    log.emplace_back(1, pressure.nbytes);
    const Block block = take(60);
    EXPECT_THROW(take(60), BudgetExceeded);
    give_back(block);
    return log.size() == 1 ? give_one(2, pressure) : 0;
  });
  give_back(take(150));
  EXPECT_EQ(log, (Asked{{1, 50}, {2, 50}}));
}

TEST_F(ReclaimerTest, a_reclaimer_may_ask_those_of_another_budget) {
  Budget other(10);
  BudgetedAllocator of_other(allocator, other);
  Block cached = of_other.allocate({10});
  const Reclaimer empties = other.add_reclaimer([&](const Pressure& pressure) {
    EXPECT_THROW(take(10), BudgetExceeded);  // would ask the outer reclaimer again
    of_other.deallocate(std::exchange(cached, {}));
    return pressure.nbytes;
  });
  const Reclaimer reclaimer = budget.add_reclaimer([&](const Pressure& pressure) {
    of_other.deallocate(of_other.allocate({10}));
    return give_one(1, pressure);
  });
  give_back(take(10));
  EXPECT_EQ(log, (Asked{{1, 10}}));
  EXPECT_EQ(cached.data, nullptr);
}

TEST_F(ReclaimerTest, a_parents_reclaimers_are_asked_after_the_childs) {
  Budget child(200, &budget);
  BudgetedAllocator of_child(allocator, child);
  const Reclaimer of_parent = giving(1);
  const Reclaimer own = child.add_reclaimer([&](const Pressure& pressure) {
    log.emplace_back(2, pressure.nbytes);
    return std::size_t{0};
  });
  const Block block = of_child.allocate({100});
  EXPECT_EQ(log, (Asked{{2, 100}, {1, 100}}));
  log.clear();
  EXPECT_THROW(of_child.allocate({101}), BudgetExceeded);  // refused by the child itself
  EXPECT_EQ(log, (Asked{{2, 1}}));
  of_child.deallocate(block);
}

TEST_F(ReclaimerTest, a_reclaimer_that_is_taken_away_is_not_asked) {
  Reclaimer first = giving(1);
  Reclaimer second = giving(2);
  first = std::move(second);  // takes the first away
  give_back(take(10));
  EXPECT_EQ(log, (Asked{{2, 10}}));
  first = Reclaimer();
  while (budget.used() < budget.limit()) {
    blocks.push_back(take(budget.limit() - budget.used()));
  }
  EXPECT_THROW(take(10), BudgetExceeded);
}

TEST_F(ReclaimerTest, a_first_reclaimer_is_asked_before_all_that_exist) {
  const Reclaimer middle = refusing(3);
  const Reclaimer before = refusing(2, ReclaimOrder::first);
  const Reclaimer foremost = refusing(1, ReclaimOrder::first);
  const Reclaimer last = giving(4);
  give_back(take(10));
  EXPECT_EQ(log, (Asked{{1, 10}, {2, 10}, {3, 10}, {4, 10}}));
}

TEST_F(ReclaimerTest, a_reclaimer_may_claim_to_give_any_number_of_bytes) {
  const Reclaimer first = budget.add_reclaimer([](const Pressure&) { return std::size_t{5}; });
  const Reclaimer second = budget.add_reclaimer([this](const Pressure& pressure) {
    give_one(2, pressure);
    return std::numeric_limits<std::size_t>::max();
  });
  const Reclaimer third = giving(3);
  give_back(take(10));
  EXPECT_EQ(log, (Asked{{2, 5}}));
}

TEST_F(ReclaimerTest, a_reclaimer_may_take_itself_away) {
  std::optional<Reclaimer> once;
  const auto alive = std::make_shared<int>(1);
  once = budget.add_reclaimer([&, alive](const Pressure& pressure) {
    once.reset();
    EXPECT_EQ(alive.use_count(), 2);  // the function lives as long as its call
    return give_one(1, pressure);
  });
  const Reclaimer next = giving(2);
  give_back(take(110));
  EXPECT_EQ(alive.use_count(), 1);
  EXPECT_EQ(log, (Asked{{1, 110}, {2, 10}}));
}

TEST_F(ReclaimerTest, a_reclaimer_is_taken_away_after_its_calls_on_other_threads) {
  need_threads();
  Halt halt;
  std::optional<Reclaimer> reclaimer = budget.add_reclaimer([&](const Pressure& pressure) {
    halt.enter();
    return give_one(1, pressure);
  });
  std::thread asking([&] { give_back(take(10)); });
  halt.await_entry();
  std::thread letting_go([&] { halt.let_go(); });
  reclaimer.reset();
  EXPECT_EQ(log.size(), 1U);  // the call has ended
  asking.join();
  letting_go.join();
}

TEST_F(ReclaimerTest, a_reclaimer_that_takes_itself_away_outlives_all_its_calls) {
  need_threads();
  Halt halt;
  std::optional<Reclaimer> once;
  std::atomic<int> calls{0};
  const auto alive = std::make_shared<int>(1);
  once = budget.add_reclaimer([&, alive](const Pressure&) {
    calls++ == 0 ? halt.enter() : once.reset();
    return std::size_t{0};
  });
  std::thread other([&] { EXPECT_THROW(take(10), BudgetExceeded); });
  halt.await_entry();
  EXPECT_THROW(take(10), BudgetExceeded);
  EXPECT_EQ(alive.use_count(), 2);  // the other thread is in a call
  halt.let_go();
  other.join();
  EXPECT_EQ(alive.use_count(), 1);
}

TEST_F(ReclaimerTest, a_child_takes_away_a_reclaimer_that_a_lost_thread_calls) {
  need_threads();
  Halt halt;
  std::optional<Reclaimer> reclaimer = budget.add_reclaimer([&](const Pressure&) {
    halt.enter();
    return std::size_t{0};
  });
  std::thread asking([&] { EXPECT_THROW(take(10), BudgetExceeded); });
  halt.await_entry();
  in_a_child([&] { reclaimer.reset(); });
  halt.let_go();
  asking.join();
}

TEST_F(ReclaimerTest, a_child_process_calls_only_reclaimers_that_it_added) {
  const Reclaimer of_parent = giving(1);
  in_a_child([&] {
    const Reclaimer own = giving(2);
    give_back(take(10));
    EXPECT_EQ(log, (Asked{{2, 10}}));
  });
}

TEST_F(ReclaimerTest, parents_reclaimers_give_what_those_of_the_child_did_not) {
  Budget child(1000, &budget);
  BudgetedAllocator of_child(allocator, child);
  const Reclaimer own = child.add_reclaimer([this](const Pressure& pressure) {
    log.emplace_back(1, pressure.nbytes);
    return std::size_t{60};  // bytes that it has released, if the parent refuses
  });
  const Reclaimer of_parent = giving(2);
  const Block block = of_child.allocate({100});
  EXPECT_EQ(log, (Asked{{1, 100}, {2, 40}}));
  of_child.deallocate(block);
}

TEST_F(ReclaimerTest, a_parents_reclaimer_does_not_ask_itself_through_a_child) {
  Budget child(1000, &budget);
  BudgetedAllocator of_child(allocator, child);
  const Reclaimer reclaimer = budget.add_reclaimer([&](const Pressure& pressure) {
    log.emplace_back(1, pressure.nbytes);
    if (log.size() < 3) {  // otherwise a failure would not end
      EXPECT_THROW(of_child.allocate({10}), BudgetExceeded);
    }
    return std::size_t{0};
  });
  EXPECT_THROW(take(10), BudgetExceeded);
  EXPECT_EQ(log, (Asked{{1, 10}}));
}

TEST_F(ReclaimerTest, an_empty_function_is_refused) {
  EXPECT_TRUE(says(complaint_of<InvalidArgument>([&] { (void)budget.add_reclaimer({}); }),
                   "Budget::add_reclaimer: the function is empty"));
}

TEST_F(ReclaimerTest, a_thread_that_holds_the_mutex_of_reclaimers_asks_none) {
  if (BYRE_CHECKS) {
    GTEST_SKIP() << "a checked build ends the program";
  }
  const Reclaimer reclaimer = giving(1);
  ReclaimerMutex mutex;
  {
    const std::lock_guard<ReclaimerMutex> lock(mutex);
    EXPECT_THROW(take(10), BudgetExceeded);
  }
  EXPECT_TRUE(log.empty());
  give_back(take(10));
}

// ---- Threads

/// Counts the bytes that are really in use.
class Counting final : public Allocator {
 public:
  Block allocate(const Request& request) override {
    const Block block = aligned_allocator().allocate(request);
    const std::lock_guard<std::mutex> lock(mutex_);
    used_ += block.capacity;
    most_ = std::max(most_, used_);
    return block;
  }
  void deallocate(const Block& block) noexcept override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      used_ -= block.capacity;
    }
    aligned_allocator().deallocate(block);
  }
  const char* name() const noexcept override { return "counting allocator"; }
  std::size_t most() const noexcept { return most_; }

 private:
  std::mutex mutex_;
  std::size_t used_ = 0;
  std::size_t most_ = 0;
};

TEST(BudgetThreads, threads_never_exceed_the_limits_together) {
  Counting counting;
  Budget parent(1000);
  Budget children[2]{Budget(800, &parent), Budget(800, &parent)};
  at_once(4, [&](std::size_t thread) {
    BudgetedAllocator allocator(counting, children[thread % 2]);
    std::vector<Block> held;
    for (std::size_t step = 0; step < 5000; ++step) {
      try {
        held.push_back(allocator.allocate({step * 37 % 400}));
      } catch (const BudgetExceeded&) {
        EXPECT_LE(parent.used(), parent.limit());
        while (!held.empty()) {
          allocator.deallocate(held.back());
          held.pop_back();
        }
      }
    }
    for (const Block& block : held) {
      allocator.deallocate(block);
    }
  });
  EXPECT_LE(counting.most(), 1000U);
  EXPECT_LE(parent.peak(), 1000U);
  EXPECT_GE(parent.peak(), counting.most());
  for (const Budget& child : children) {
    EXPECT_LE(child.peak(), 800U);
    EXPECT_EQ(child.used(), 0U);
  }
  EXPECT_EQ(parent.used(), 0U);
}

TEST(BudgetThreads, changes_of_the_limit_do_not_add_up) {
  FailingAllocator memory;
  Budget budget(100);
  BudgetedAllocator blocks(memory, budget);
  at_once(4, [&](std::size_t thread) {
    for (std::size_t step = 0; step < 20'000; ++step) {
      budget.set_limit(100 + thread + step % 7);
    }
  });
  budget.set_limit(100);
  EXPECT_THROW(blocks.allocate({101}), BudgetExceeded);
  blocks.deallocate(blocks.allocate({100}));
}

TEST(BudgetThreads, reclaimers_come_and_go_while_others_ask) {
  Counting counting;
  Budget budget(100);
  BudgetedAllocator allocator(counting, budget);
  at_once(4, [&](std::size_t) {
    for (int round = 0; round < 1000; ++round) {
      Block cached{};
      std::mutex mutex;
      const auto drop = [&] {
        const std::lock_guard<std::mutex> lock(mutex);
        const Block dropped = std::exchange(cached, Block{});
        if (dropped.data != nullptr) {
          allocator.deallocate(dropped);
        }
        return dropped.capacity;
      };
      {
        const Reclaimer reclaimer = budget.add_reclaimer([&](const Pressure&) { return drop(); });
        try {
          const Block block = allocator.allocate({60});
          const std::lock_guard<std::mutex> lock(mutex);
          cached = block;
        } catch (const BudgetExceeded&) {  // others hold the room, not in their caches yet
        }
      }
      drop();
    }
  });
  EXPECT_EQ(budget.used(), 0U);
  EXPECT_LE(counting.most(), 100U);
}

}  // namespace
}  // namespace byre::test
