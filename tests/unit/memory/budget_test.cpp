// SPDX-License-Identifier: BSL-1.0
/// Budgets: what they count, and how requests at the limit ask reclaimers. tests/unit/storage has
/// the writes of buffers at the limit.
#include <byre/memory/budget.hpp>
#include <byre/memory/host_allocators.hpp>
#include <byre/memory/pool.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/at_once.hpp"
#include "support/caught_warnings.hpp"
#include "support/complaint.hpp"
#include "support/failing_allocator.hpp"
#include "support/failing_new.hpp"

namespace byre::test {
namespace {

constexpr std::size_t part_nbytes = 100;

/// A budget with room for three blocks.
class BudgetTest : public testing::Test {
 protected:
  Block take(std::size_t nbytes = part_nbytes) { return budgeted.allocate({nbytes}); }
  void give_back(const Block& block) { budgeted.deallocate(block); }
  std::vector<Block> take_all() { return {take(), take(), take()}; }
  void give_back(const std::vector<Block>& blocks) {
    for (const Block& block : blocks) {
      give_back(block);
    }
  }

  FailingAllocator allocator;
  Budget budget{3 * part_nbytes};
  BudgetedAllocator budgeted{allocator, budget};
};

TEST_F(BudgetTest, counts_the_blocks_that_are_in_use) {
  EXPECT_EQ(budget.used(), 0U);
  const Block first = take();
  EXPECT_EQ(budget.used(), part_nbytes);
  const Block second = take(7);
  EXPECT_EQ(budget.used(), part_nbytes + 7);
  give_back(first);
  EXPECT_EQ(budget.used(), 7U);
  give_back(second);
  EXPECT_EQ(budget.used(), 0U);
  EXPECT_EQ(budget.peak(), part_nbytes + 7);
  EXPECT_EQ(budget.limit(), 3 * part_nbytes);
  EXPECT_EQ(allocator.blocks_out(), 0U);
}

TEST_F(BudgetTest, refuses_a_request_beyond_the_limit) {
  const auto blocks = take_all();
  const int allocations = allocator.allocations();
  const std::string text = complaint_of<BudgetExceeded>([&] { take(1); });
  EXPECT_TRUE(says(text,
                   "cannot allocate 1 bytes from the test allocator: 300 of 300 bytes are in "
                   "use. Nothing changed. Release buffers, raise the limit"));
  EXPECT_EQ(allocator.allocations(), allocations);
  EXPECT_EQ(budget.used(), budget.limit());
  take(0);  // needs no room
  give_back(blocks[0]);
  give_back(take());
  EXPECT_EQ(budget.peak(), 3 * part_nbytes);
  give_back({blocks[1], blocks[2]});
}

TEST_F(BudgetTest, several_allocators_share_a_budget) {
  FailingAllocator second;
  BudgetedAllocator other = byre::budgeted(second, budget);
  EXPECT_EQ(&other.inner(), &second);
  EXPECT_EQ(other.budget(), &budget);
  EXPECT_EQ(second.budget(), nullptr);
  EXPECT_STREQ(other.name(), "test allocator");
  const Block block = other.allocate({2 * part_nbytes});
  EXPECT_THROW(take(part_nbytes + 1), BudgetExceeded);
  give_back(take());
  other.deallocate(block);
  EXPECT_EQ(budget.used(), 0U);
}

TEST_F(BudgetTest, a_budgeted_allocator_has_the_properties_of_the_inner_one) {
  FailingAllocator on_device{Device(3, 1)};
  EXPECT_EQ(byre::budgeted(on_device, budget).device(), Device(3, 1));
  EXPECT_TRUE(byre::budgeted(default_allocator(), budget).maps_pages());
  EXPECT_FALSE(byre::budgeted(default_allocator(), budget).uses_thread_cache());
  EXPECT_FALSE(byre::budgeted(default_allocator(), budget).has_pages());
}

TEST_F(BudgetTest, a_second_budget_for_an_allocator_is_refused) {
  Budget other(1);
  EXPECT_TRUE(says(complaint_of<InvalidArgument>([&] { byre::budgeted(budgeted, other); }),
                   "the test allocator has a budget already", "Budget(limit, &parent)"));
}

TEST_F(BudgetTest, a_failed_allocation_counts_nothing) {
  allocator.fail_allocation(0);
  EXPECT_THROW(take(), std::bad_alloc);
  EXPECT_EQ(budget.used(), 0U);
  const std::array<std::byte, part_nbytes> source{};
  allocator.fail_copy(0);
  EXPECT_THROW(budgeted.allocate_copy({part_nbytes}, source.data(), source.size()),
               FailingAllocator::CopyFailed);
  EXPECT_EQ(budget.used(), 0U);
  EXPECT_EQ(allocator.blocks_out(), 0U);
}

TEST_F(BudgetTest, copies_count_and_are_refused_without_a_question) {
  bool is_asked = false;
  const Reclaimer reclaimer = budget.add_reclaimer([&](const Pressure&) {
    is_asked = true;
    return std::size_t{0};
  });
  std::array<std::byte, part_nbytes> source{};
  source[9] = std::byte{9};
  const Block copy = budgeted.allocate_copy({2 * part_nbytes}, source.data(), source.size());
  EXPECT_EQ(static_cast<std::byte*>(copy.data)[9], std::byte{9});
  EXPECT_EQ(budget.used(), 2 * part_nbytes);
  EXPECT_THROW(budgeted.allocate_copy({2 * part_nbytes}, source.data(), source.size()),
               BudgetExceeded);
  EXPECT_FALSE(is_asked);
  give_back(copy);
}

/// An allocator whose blocks are larger than requested.
class Generous final : public Allocator {
 public:
  explicit Generous(Device device = Device::cpu(), CopiesEnd copies_end = CopiesEnd::on_return)
      : Allocator(device, copies_end) {}
  Block allocate(const Request& request) override {
    ++blocks_out;
    if (at_allocation) {
      at_allocation();
    }
    return aligned_allocator().allocate({request.nbytes + 50, request.prefix});
  }
  void deallocate(const Block& block) noexcept override {
    --blocks_out;
    if (at_release) {
      std::exchange(at_release, nullptr)();
    }
    aligned_allocator().deallocate(block);
  }
  const char* name() const noexcept override { return "generous allocator"; }

  int blocks_out = 0;
  std::function<void()> at_allocation;
  std::function<void()> at_release;  // called once
};

TEST_F(BudgetTest, a_block_counts_with_its_capacity) {
  Generous generous;
  BudgetedAllocator blocks(generous, budget);
  const Block first = blocks.allocate({100});
  EXPECT_EQ(budget.used(), 150U);
  EXPECT_THROW(blocks.allocate({120}), BudgetExceeded);  // fits only without the spare capacity
  EXPECT_EQ(budget.used(), 150U);
  EXPECT_EQ(generous.blocks_out, 1);
  blocks.deallocate(first);
  EXPECT_EQ(budget.used(), 0U);
}

TEST_F(BudgetTest, a_block_counts_with_what_precedes_its_data) {
  budget.set_limit(std::size_t{1} << 20);
  const auto counted = [&](Allocator& inner, const Request& request) {
    BudgetedAllocator blocks(inner, budget);
    const Block block = blocks.allocate(request);
    const std::size_t used = budget.used();
    EXPECT_EQ(used, blocks.nbytes_taken_by(block));
    blocks.deallocate(block);
    EXPECT_EQ(budget.used(), 0U);
    return used;
  };
  constexpr std::size_t large = 100 << 10;
  EXPECT_GT(counted(default_allocator(), {large}), large + 4000);  // a page precedes the data
  EXPECT_GE(counted(default_allocator(), {100, 64}), 164U);
  EXPECT_GE(counted(aligned_allocator(), {100, 64}), 164U);
  PmrAllocator pmr(*std::pmr::new_delete_resource());
  EXPECT_EQ(counted(pmr, {100, 64}), 164U);
  EXPECT_EQ(counted(allocator, {100, 64}), 100U);  // the allocator does not say
}

TEST_F(BudgetTest, the_spare_capacity_of_a_submitted_copy_always_counts) {
  Generous generous(Device(1, 0), CopiesEnd::later);
  BudgetedAllocator blocks(generous, budget);
  EXPECT_EQ(blocks.copies_end(), CopiesEnd::later);
  const std::array<std::byte, 280> source{};
  PendingCopy pending;
  const Block copy = blocks.submit_copy({280}, source.data(), source.size(), pending);
  EXPECT_EQ(budget.used(), 330U);
  EXPECT_EQ(budget.peak(), 330U);
  EXPECT_THROW(blocks.submit_copy({1}, source.data(), 1, pending), BudgetExceeded);
  blocks.deallocate(copy);
  EXPECT_EQ(budget.used(), 0U);
  const auto all = take_all();
  give_back(all);
}

TEST_F(BudgetTest, a_changed_limit_holds_for_later_requests) {
  const Block block = take();
  budget.set_limit(part_nbytes + 1);
  EXPECT_EQ(budget.limit(), part_nbytes + 1);
  EXPECT_THROW(take(2), BudgetExceeded);
  give_back(take(1));
  budget.set_limit(1);  // less than is in use
  EXPECT_EQ(budget.used(), part_nbytes);
  EXPECT_THROW(take(1), BudgetExceeded);
  give_back(block);
  give_back(take(1));
  budget.set_limit(std::numeric_limits<std::size_t>::max());
  give_back(take());
  EXPECT_EQ(budget.limit(), std::numeric_limits<std::size_t>::max() / 2);  // the largest limit
}

TEST(Budgets, a_childs_bytes_count_in_its_parent) {
  Budget parent(250);
  Budget left(200, &parent);
  Budget right(200, &parent);
  FailingAllocator memory;
  BudgetedAllocator of_left(memory, left);
  BudgetedAllocator of_right(memory, right);
  const Block block = of_left.allocate({150});
  EXPECT_EQ(left.used(), 150U);
  EXPECT_EQ(right.used(), 0U);
  EXPECT_EQ(parent.used(), 150U);
  EXPECT_TRUE(says(complaint_of<BudgetExceeded>([&] { of_right.allocate({101}); }),
                   "150 of 250 bytes are in use in a parent budget"));
  EXPECT_EQ(right.used(), 0U);
  EXPECT_EQ(parent.used(), 150U);
  EXPECT_TRUE(says(complaint_of<BudgetExceeded>([&] { of_left.allocate({51}); }),
                   "150 of 200 bytes are in use. Nothing"));
  const Block rest = of_right.allocate({100});
  EXPECT_EQ(parent.used(), 250U);
  EXPECT_EQ(parent.peak(), 250U);
  of_left.deallocate(block);
  of_right.deallocate(rest);
  EXPECT_EQ(parent.used(), 0U);
}

// ---- Reclaimers

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
  Reclaimer refusing(int number) {
    return budget.add_reclaimer([=, this](const Pressure& pressure) {
      log.emplace_back(number, pressure.nbytes);
      return std::size_t{0};
    });
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
  EXPECT_EQ(log, (Asked{{1, 110}, {2, 110}}));
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

using BudgetDeathTest = BudgetTest;

TEST_F(BudgetDeathTest, a_budget_that_is_in_use_cannot_be_destroyed) {
  EXPECT_DEATH(
      {
        Budget used(100);
        BudgetedAllocator(aligned_allocator(), used).allocate({1});
      },
      "cannot destroy a budget: bytes are in use");
  EXPECT_DEATH(
      {
        Reclaimer left;
        Budget asked(10);
        left = asked.add_reclaimer([](const Pressure&) { return std::size_t{0}; });
      },
      "cannot destroy a budget: it has reclaimers");
}

TEST_F(BudgetDeathTest, a_checked_build_reports_a_request_under_the_mutex) {
  if (!BYRE_CHECKS) {
    GTEST_SKIP() << "not a checked build";
  }
  ReclaimerMutex mutex;
  const std::lock_guard<ReclaimerMutex> lock(mutex);
  EXPECT_DEATH(take(budget.limit() + 1), "holds a ReclaimerMutex.*Unlock the mutex first");
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
