// SPDX-License-Identifier: BSL-1.0
/// The table of places, with few numbers: what it says when they are used up.
#include <byre/shadow/intern_table.hpp>
#include <byre/sync/boost.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "support/at_once.hpp"

namespace byre::test {
namespace {

constexpr std::uint32_t most_values = 100;  // the last segment has more room than that

/// Of few buckets, so that values meet in them.
using Table = shadow::basic_intern_table<sync::Boost, int, 7, most_values, 2>;

std::uint32_t number_of(Table& table, int value) {
  return table.number_of(value, static_cast<std::size_t>(value));
}

std::vector<std::uint32_t> fill(Table& table) {
  std::vector<std::uint32_t> numbers;
  for (int value = 0; value < static_cast<int>(most_values); ++value) {
    numbers.push_back(number_of(table, value));
  }
  return numbers;
}

TEST(InternTable, gives_the_numbers_from_one_to_its_most) {
  Table table;
  std::vector<std::uint32_t> all(most_values);
  std::iota(all.begin(), all.end(), 1U);
  EXPECT_EQ(fill(table), all);
}

TEST(InternTable, keeps_what_it_has_when_it_is_full) {
  Table table;
  const auto numbers = fill(table);
  at_once(4, [&](std::size_t) {
    for (int value = 1000; value < 2000; ++value) {
      EXPECT_EQ(number_of(table, value), 0U);
    }
  });
  EXPECT_EQ(fill(table), numbers);
  for (int value = 0; value < static_cast<int>(most_values); ++value) {
    EXPECT_EQ(table.at(numbers[static_cast<std::size_t>(value)]), value);
  }
}

/// Threads want as many values of their own each as there are numbers in all.
TEST(InternTable, gives_no_number_twice_to_threads_that_fill_it) {
  constexpr std::size_t threads = 4;
  Table table;
  std::vector<std::vector<std::uint32_t>> numbers(threads);
  at_once(threads, [&](std::size_t thread) {
    for (std::uint32_t value = 0; value < most_values; ++value) {
      const int own = static_cast<int>(thread * 1000 + value);
      const std::uint32_t number = number_of(table, own);
      if (number != 0) {
        numbers[thread].push_back(number);
        EXPECT_EQ(table.at(number), own);
      }
    }
  });
  std::vector<std::uint32_t> given;
  for (const auto& of_thread : numbers) {
    given.insert(given.end(), of_thread.begin(), of_thread.end());
  }
  std::ranges::sort(given);
  std::vector<std::uint32_t> all(most_values);
  std::iota(all.begin(), all.end(), 1U);
  EXPECT_EQ(given, all);
}

}  // namespace
}  // namespace byre::test
