// SPDX-License-Identifier: BSL-1.0
/// Budgets: what they count, and which requests they refuse.
#include <byre/memory/budget.hpp>
#include <byre/memory/host_allocators.hpp>
#include <byre/memory/pool.hpp>
#include <byre/pages/paged_allocator.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <limits>
#include <memory_resource>
#include <new>
#include <optional>
#include <string>

#include "budget_test.hpp"
#include "pages/children.hpp"
#include "support/complaint.hpp"

namespace byre::test {
namespace {

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
  give_back(take(0));  // needs no room
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
  EXPECT_GT(counted(paged_allocator(), {large}), large + 4000);
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

TEST_F(BudgetTest, copies_are_made_by_the_inner_allocator) {
  char to[4] = "";
  budgeted.copy(to, "cow", sizeof to);
  EXPECT_EQ(allocator.copies(), 1);
  EXPECT_STREQ(to, "cow");
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

TEST(Budgets, a_request_that_the_parent_refuses_raises_no_peak) {
  FailingAllocator memory;
  Budget parent(50);
  Budget child(100, &parent);
  EXPECT_THROW(BudgetedAllocator(memory, child).allocate({80}), BudgetExceeded);
  EXPECT_EQ(child.peak(), 0U);
  EXPECT_EQ(parent.peak(), 0U);
}

TEST(Budgets, the_spare_capacity_of_a_submitted_copy_counts_in_the_parent) {
  Generous generous(Device(1, 0), CopiesEnd::later);
  Budget parent(1000);
  Budget child(1000, &parent);
  BudgetedAllocator blocks(generous, child);
  const std::array<std::byte, 8> source{};
  PendingCopy pending;
  const Block copy = blocks.submit_copy({8}, source.data(), source.size(), pending);
  EXPECT_EQ(parent.used(), 58U);
  blocks.deallocate(copy);
  EXPECT_EQ(parent.used(), 0U);
}

TEST(Budgets, the_largest_limit_refuses_nothing) {
  FailingAllocator memory;
  Budget budget(std::numeric_limits<std::size_t>::max());
  BudgetedAllocator blocks(memory, budget);
  blocks.deallocate(blocks.allocate({100}));
  EXPECT_EQ(budget.peak(), 100U);
}

TEST(Budgets, a_huge_request_far_beyond_a_lowered_limit_is_refused) {
  FailingAllocator memory;
  Budget budget(std::size_t{1} << 20);
  BudgetedAllocator blocks(memory, budget);
  const Block block = blocks.allocate({std::size_t{1} << 20});
  budget.set_limit(0);
  std::size_t lack = 0;
  const Reclaimer reclaimer = budget.add_reclaimer([&](const Pressure& pressure) {
    lack = pressure.nbytes;
    return std::size_t{0};
  });
  EXPECT_THROW(blocks.allocate({max_nbytes}), BudgetExceeded);
  EXPECT_EQ(lack, max_nbytes + (std::size_t{1} << 20));
  blocks.deallocate(block);
}

TEST(Budgets, a_child_process_may_destroy_a_budget_in_use) {
  FailingAllocator memory;
  std::optional<Budget> budget(100);
  const Block block = BudgetedAllocator(memory, *budget).allocate({10});
  Reclaimer reclaimer = budget->add_reclaimer([](const Pressure&) { return std::size_t{0}; });
  in_a_child([&] { budget.reset(); });
  reclaimer = Reclaimer();
  BudgetedAllocator(memory, *budget).deallocate(block);
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
  EXPECT_DEATH(take(1), "holds a ReclaimerMutex.*Unlock the mutex first");
}

}  // namespace
}  // namespace byre::test
