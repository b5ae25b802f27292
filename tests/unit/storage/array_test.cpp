// SPDX-License-Identifier: BSL-1.0
// Array<T>: elements over a Buffer.
#include <byre/memory/host_allocators.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/array.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ints.hpp"
#include "support/complaint.hpp"
#include "support/failing_allocator.hpp"
#include "support/user_allocators.hpp"

namespace byre::test {
namespace {

static_assert(std::ranges::contiguous_range<Ints> && std::ranges::contiguous_range<const Ints>);
static_assert(std::ranges::sized_range<Ints>);
static_assert(std::is_same_v<std::ranges::range_reference_t<Ints>, const int&>);
static_assert(std::is_nothrow_copy_constructible_v<Ints> &&
              std::is_nothrow_copy_assignable_v<Ints>);
static_assert(std::is_nothrow_move_constructible_v<Ints> &&
              std::is_nothrow_move_assignable_v<Ints>);
static_assert(std::is_nothrow_default_constructible_v<Ints> && std::is_nothrow_swappable_v<Ints>);
static_assert(BYRE_CHECKS || sizeof(Ints) == sizeof(Buffer));

/// An element that can neither be constructed without a value nor be compared.
struct Point {
  Point(short left, short top) : x(left), y(top) {}
  short x;
  short y;
};

TEST(Array, without_elements_has_no_memory) {
  const Ints none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.size(), 0U);
  EXPECT_EQ(none.capacity(), 0U);
  EXPECT_EQ(none.data(), nullptr);
  EXPECT_EQ(none.begin(), none.end());
  EXPECT_EQ(none, Ints{});
}

TEST(Array, reads_as_a_vector_does) {
  const Ints ints = {3, 1, 2};
  EXPECT_FALSE(ints.empty());
  EXPECT_EQ(ints.size(), 3U);
  EXPECT_GE(ints.capacity(), 3U);
  EXPECT_EQ(ints[1], 1);
  EXPECT_EQ(ints.at(2), 2);
  EXPECT_EQ(ints.front(), 3);
  EXPECT_EQ(ints.back(), 2);
  EXPECT_EQ(std::vector<int>(ints.begin(), ints.end()), (std::vector<int>{3, 1, 2}));
  EXPECT_EQ(*std::ranges::min_element(ints), 1);
  EXPECT_EQ(std::span<const int>(ints).size(), 3U);
}

TEST(Array, compares_sizes_and_elements) {
  const Ints ints = {1, 2};
  EXPECT_EQ(ints, (Ints{1, 2}));
  EXPECT_NE(ints, (Ints{1, 3}));
  EXPECT_NE(ints, (Ints{1, 2, 3}));
  EXPECT_NE(ints, (Ints{1}));
  const Array<float> not_a_number = {std::numeric_limits<float>::quiet_NaN()};
  EXPECT_NE(not_a_number, not_a_number) << "shared elements are compared, too";
}

TEST(Array, at_rejects_an_index_out_of_range) {
  const Ints ints = {1, 2};
  EXPECT_TRUE(
      says(complaint_of<InvalidArgument>([&] { (void)ints.at(2); }), "index 2", "2 elements"));
}

TEST(Array, can_be_filled_copied_from_a_span_and_hold_any_plain_type) {
  EXPECT_EQ(Ints::filled(3, 7), (Ints{7, 7, 7}));
  const int bare[] = {4, 5};
  EXPECT_EQ(Ints(bare), (Ints{4, 5}));
  EXPECT_EQ(Ints(std::vector<int>{4, 5}), (Ints{4, 5}));
  Array<Point> points = {{1, 2}};
  points.append({3, 4});
  EXPECT_EQ(points.back().y, 4);
  EXPECT_EQ(Array<bool>({true, false}).size(), 2U);
}

TEST(Array, a_copy_shares_the_elements_until_either_is_written) {
  Ints ints = {1, 2, 3};
  const Ints copy = ints;
  const Ints clone = ints.lazy_clone();
  EXPECT_TRUE(copy.shares_data_with(ints) && clone.shares_data_with(ints));
  ints.mutable_span()[0] = 9;
  EXPECT_EQ(ints, (Ints{9, 2, 3}));
  EXPECT_EQ(copy, (Ints{1, 2, 3}));
  EXPECT_FALSE(copy.shares_data_with(ints));
  EXPECT_TRUE(copy.shares_data_with(clone));
}

TEST(Array, a_writable_clone_shows_no_later_write_through_a_pointer) {
  Ints ints = {1, 2, 3};
  int* const place = ints.mutable_data();
  Ints clone = ints.writable_clone();
  EXPECT_EQ(ints.data(), place);
  place[0] = 9;
  EXPECT_EQ(clone, (Ints{1, 2, 3}));
}

TEST(Array, writable_clone_copies_much_that_threads_write_elsewhere) {
  Ints ints = numbers(4 * least_paged_nbytes / sizeof(int), paged_allocator());
  if (ints.writable_clone().buffer().origin() != Origin::overlay) {
    GTEST_SKIP() << "the system provides no pages";
  }
  for (const bool is_elsewhere : {true, false}) {
    std::fill_n(ints.mutable_data(), ints.size(), 7);
    const Ints clone = ints.writable_clone(Wait::allowed, CallSite::current(),
                                           is_elsewhere ? Writers::elsewhere : Writers::none);
    EXPECT_EQ(clone.buffer().origin() == Origin::overlay, !is_elsewhere);
    EXPECT_EQ(clone, ints);
  }
}

TEST(Array, moves_swaps_and_assigns_without_copying) {
  Ints ints = {1, 2, 3};
  const int* const place = ints.data();
  Ints taken = std::move(ints);
  EXPECT_EQ(taken.data(), place);
  EXPECT_TRUE(ints.empty());  // NOLINT: a moved-from array is empty
  Ints other = {4};
  swap(taken, other);
  EXPECT_EQ(other.data(), place);
  EXPECT_EQ(taken, Ints{4});
  taken = other;
  EXPECT_TRUE(taken.shares_data_with(other));
  taken = Ints{5};
  EXPECT_EQ(taken, Ints{5});
}

TEST(Array, from_a_vector_takes_over_its_memory) {
  std::vector<int> vector = {1, 2, 3};
  const int* const place = vector.data();
  Ints ints = Ints::from(std::move(vector));
  EXPECT_EQ(ints.data(), place);
  EXPECT_TRUE(vector.empty());  // NOLINT: documented
  EXPECT_EQ(ints.buffer().origin(), Origin::adopted);
  EXPECT_EQ(ints.mutable_data(), place) << "the only owner writes in place";
  Ints copy = ints;
  ints = {};
  EXPECT_EQ(copy.data(), place);
  copy.append(4);
  EXPECT_EQ(copy, (Ints{1, 2, 3, 4}));
  EXPECT_TRUE(Ints::from(std::vector<int>()).empty());
}

TEST(Array, from_a_vector_takes_copies_from_the_given_allocator) {
  FailingAllocator allocator;
  Ints ints = Ints::from(std::vector<int>{1, 2}, allocator);
  EXPECT_EQ(allocator.allocations(), 0);
  ints.append(3);
  EXPECT_EQ(allocator.allocations(), 1);
  EXPECT_EQ(ints, (Ints{1, 2, 3}));
}

TEST(Array, from_a_buffer_and_back_shares_the_bytes) {
  Buffer buffer = Buffer::allocate(3 * sizeof(int));
  std::memcpy(buffer.mutable_data(), std::array{1, 2, 3}.data(), 3 * sizeof(int));
  Ints ints = Ints::from(buffer);
  EXPECT_TRUE(ints.buffer().shares_data_with(buffer));
  EXPECT_EQ(ints, (Ints{1, 2, 3}));
  EXPECT_TRUE(Ints::from(Buffer()).empty());
  const Buffer back = std::move(ints).buffer();
  EXPECT_TRUE(back.shares_data_with(buffer));
  EXPECT_TRUE(ints.empty());  // NOLINT: moved from
}

TEST(Array, rejects_bytes_that_are_no_whole_elements) {
  const std::string said = complaint_of<InvalidArgument>([] { Ints::from(Buffer::allocate(10)); });
  EXPECT_TRUE(says(said, "10 bytes", "a multiple of 4"));
  EXPECT_EQ(Array<Point>::from(Buffer::allocate(12)).size(), 3U);
}

TEST(Array, rejects_misaligned_bytes) {
  alignas(8) std::byte bytes[24] = {};
  EXPECT_TRUE(says(
      complaint_of<InvalidArgument>([&] { Array<double>::from(Buffer::borrow(bytes + 4, 16)); }),
      "16 bytes", "address a multiple of 8"));
  EXPECT_EQ(Array<double>::from(Buffer::borrow(bytes + 8, 16)).size(), 2U);
  EXPECT_EQ(Array<std::byte>::from(Buffer::borrow(bytes + 3, 16)).size(), 16U);
}

TEST(Array, rejects_memory_of_a_device) {
  DeviceAllocator device(Device(3, 1));
  const auto expect_rejected = [](auto&& make) {
    EXPECT_TRUE(says(complaint_of<InvalidArgument>(make), "device 3:1", "host memory"));
  };
  expect_rejected([&] { Ints::allocate(4, device); });
  expect_rejected([&] { Ints::filled(4, 0, device); });
  expect_rejected([&] { Ints::from(Buffer::allocate(16, device)); });
  std::vector<int> vector = {1};
  expect_rejected([&] { Ints::from(std::move(vector), device); });
  EXPECT_EQ(vector.size(), 1U) << "unchanged";
}

TEST(Array, a_size_whose_bytes_overflow_throws_invalid_argument) {
  constexpr std::size_t most = max_nbytes / sizeof(int);
  Ints ints = {1};
  const auto expect_rejected = [](auto&& make, const char* call, std::size_t size) {
    EXPECT_TRUE(says(complaint_of<InvalidArgument>(make), call, std::to_string(size) + " elements",
                     "of 4 bytes", std::to_string(max_nbytes)));
  };
  for (const std::size_t size : {most + 1, std::numeric_limits<std::size_t>::max()}) {
    expect_rejected([&] { Ints::allocate(size); }, "Array::allocate", size);
    expect_rejected([&] { Ints::filled(size, 0); }, "Array::allocate", size);
    expect_rejected([&] { ints.resize(size); }, "Array::resize", size);
    expect_rejected([&] { ints.reserve(size); }, "Array::reserve", size);
  }
  const std::span<const int> too_many(ints.data(), most);
  expect_rejected([&] { ints.append(too_many); }, "Array::append", most + 1);
  EXPECT_EQ(ints, Ints{1});
  FailingAllocator exhausted;
  exhausted.fail_allocation(0);
  EXPECT_THROW(Ints::allocate(most, exhausted), OutOfMemory) << "the largest size is allowed";
}

}  // namespace
}  // namespace byre::test
