// SPDX-License-Identifier: BSL-1.0
// Array<T> that grows and shrinks.
#include <byre/memory/host_allocators.hpp>
#include <byre/pages/paged_allocator.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ints.hpp"
#include "support/counted.hpp"
#include "support/failing_allocator.hpp"

namespace byre::test {
namespace {

TEST(Array, grows_and_shrinks) {
  Ints ints;
  ints.append(1);
  ints.append(std::array{2, 3});
  ints.append(std::span<const int>());
  EXPECT_EQ(ints, (Ints{1, 2, 3}));
  ints.resize(5);
  EXPECT_EQ(ints, (Ints{1, 2, 3, 0, 0}));
  ints.resize(6, 7);
  EXPECT_EQ(ints.back(), 7);
  const int* const place = ints.data();
  ints.resize(2, 9);
  EXPECT_EQ(ints, (Ints{1, 2}));
  EXPECT_EQ(ints.data(), place);
  ints.clear();
  EXPECT_TRUE(ints.empty());
  EXPECT_EQ(ints.data(), place) << "the memory is retained";
}

TEST(Array, appends_elements_of_its_own) {
  for (const bool is_shared : {false, true}) {
    FailingAllocator allocator;  // overwrites the memory that the elements leave
    Ints ints = numbers(100, allocator);
    const Ints clone = is_shared ? ints : Ints();
    ints.append(std::span<const int>(ints).subspan(98));
    ints.append(ints);
    ASSERT_EQ(ints.size(), 204U);
    EXPECT_EQ(ints[100], 98);
    EXPECT_EQ(ints[101], 99);
    EXPECT_EQ(ints[102], 0);
    EXPECT_EQ(ints.back(), 99);
    ints.append(ints[1]);
    EXPECT_EQ(ints.back(), 1);
  }
}

TEST(Array, element_of_its_own_survives_growth_at_the_capacity) {
  Ints ints = numbers(1000, aligned_allocator());
  ints.shrink_to_fit();
  ints.resize(ints.capacity());  // exactly full
  const std::size_t full = ints.size();
  ints.mutable_data()[0] = 42;
  ints.append(ints[0]);
  EXPECT_EQ(ints.back(), 42);
  ints.resize(ints.capacity());
  ints.resize(2 * ints.size(), ints[0]);
  EXPECT_EQ(ints.back(), 42);
  EXPECT_EQ(ints[full], 42);
}

TEST(Array, single_appends_copy_at_most_three_times_their_bytes) {
  for (Allocator* const allocator :
       {&default_allocator(), &paged_allocator(), static_cast<Allocator*>(&aligned_allocator())}) {
    const Counted counted;
    Ints ints = Ints::allocate(0, *allocator);
    for (int i = 0; i < 100'000; ++i) {
      ints.append(i);
    }
    EXPECT_EQ(ints, numbers(100'000));
    EXPECT_LE(counted.since().bytes_copied, 3 * 100'000 * std::int64_t{sizeof(int)});
  }
}

TEST(Array, the_first_growth_is_exact) {
  Ints ints = Ints::allocate(0, aligned_allocator());
  ints.resize(1000);
  EXPECT_EQ(ints.capacity(), 1000U);
}

TEST(Array, grows_by_half_of_its_capacity_or_if_shared_of_its_size) {
  for (const bool is_shared : {false, true}) {
    Ints ints = numbers(1000, aligned_allocator());
    ints.resize(10);
    const Ints clone = is_shared ? ints : Ints();
    ints.resize(is_shared ? 11 : 1001);
    EXPECT_EQ(ints.capacity(), is_shared ? 15U : 1500U);
  }
}

TEST(Array, reserves_and_releases_capacity) {
  Ints ints = Ints({1, 2, 3}, aligned_allocator());
  ints.reserve(1000);
  EXPECT_EQ(ints.capacity(), 1000U);
  EXPECT_EQ(ints, (Ints{1, 2, 3}));
  const int* const place = ints.data();
  ints.resize(1000);
  EXPECT_EQ(ints.data(), place);
  ints.reserve(10);
  EXPECT_EQ(ints.size(), 1000U) << "a smaller reserve changes nothing";
  ints.resize(3);
  {
    const Ints clone = ints;
    ints.shrink_to_fit();
    EXPECT_EQ(ints.data(), place) << "shared elements do not move";
  }
  ints.shrink_to_fit();
  EXPECT_EQ(ints.capacity(), 3U);
  EXPECT_EQ(ints, (Ints{1, 2, 3}));
}

TEST(Array, shared_elements_survive_an_empty_append_and_a_small_reserve) {
  Ints ints = numbers(1000);
  const Ints clone = ints;
  ints.append(std::span<const int>());
  EXPECT_TRUE(ints.shares_data_with(clone));
  ints.reserve(10);
  EXPECT_EQ(ints, numbers(1000));
}

TEST(Array, reserve_on_shared_elements_copies_once) {
  Ints ints = numbers(1000, aligned_allocator());
  const Ints clone = ints;
  const Counted counted;
  ints.reserve(1010);
  const int* const place = ints.data();
  for (int i = 1000; i < 1010; ++i) {
    ints.append(i);
  }
  EXPECT_EQ(ints.data(), place);
  EXPECT_EQ(ints, numbers(1010));
  EXPECT_EQ(clone, numbers(1000));
  if (BYRE_STATS) {
    EXPECT_EQ(counted.since().bytes_copied, 4000);
  }
}

TEST(ArrayFailures, a_failed_growth_changes_nothing) {
  for (const bool is_shared : {false, true}) {
    FailingAllocator allocator;
    Ints ints = numbers(1000, allocator);
    const Ints clone = is_shared ? ints : Ints();
    const Ints all = numbers(1000);
    const auto expect_failure = [&](auto&& grow) {
      allocator.fail_copy(0);
      EXPECT_THROW(grow(), FailingAllocator::CopyFailed);
      EXPECT_EQ(ints, all);
      EXPECT_EQ(ints.shares_data_with(clone), is_shared);
    };
    expect_failure([&] { ints.append(1); });
    expect_failure([&] { ints.append(ints); });
    expect_failure([&] { ints.resize(2000); });
    expect_failure([&] { ints.reserve(2000); });
  }
}

TEST(ArrayFailures, elements_of_its_own_are_not_appended_without_memory) {
  FailingAllocator allocator;
  Ints ints = numbers(1000, allocator);
  ints.shrink_to_fit();
  const auto expect_failure = [&](auto&& grow) {
    allocator.fail_allocation(0, 2);  // one of the geometric size, then one of the exact size
    EXPECT_THROW(grow(), OutOfMemory);
    EXPECT_EQ(ints, numbers(1000));
  };
  expect_failure([&] { ints.append(ints[1]); });
  expect_failure([&] { ints.append(ints); });
  expect_failure([&] { ints.resize(2000, ints[1]); });
}

TEST(ArrayFailures, growth_falls_back_to_the_exact_size_if_memory_is_short) {
  for (const bool is_shared : {false, true}) {
    FailingAllocator allocator;
    Ints ints = numbers(1000, allocator);
    const Ints clone = is_shared ? ints : Ints();
    allocator.fail_allocation(0);
    ints.append(1000);
    EXPECT_EQ(ints.capacity(), 1001U);
    EXPECT_EQ(ints, numbers(1001));
  }
}

TEST(Array, appends_memory_that_begins_at_its_own_end) {
  FailingAllocator allocator;  // overwrites new memory
  int memory[] = {1, 2, 3, 4};
  Ints ints = Ints::from(Buffer::borrow(memory, 2 * sizeof(int), allocator));
  ints.append(std::span<const int>(memory + 2, 2));
  EXPECT_EQ(ints, (Ints{1, 2, 3, 4}));
}

TEST(Array, without_elements_is_cleared_without_an_allocation) {
  Ints none;
  none.clear();
  EXPECT_EQ(none.data(), nullptr);
  Ints empty = Ints::allocate(0);
  const Ints clone = empty;
  empty.clear();
  EXPECT_TRUE(empty.shares_data_with(clone));
}

}  // namespace
}  // namespace byre::test
