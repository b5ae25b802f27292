// SPDX-License-Identifier: BSL-1.0
// Array<T>: elements over a Buffer.
#include <byre/memory/host_allocators.hpp>
#include <byre/observe/recording.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/array.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <ranges>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/complaint.hpp"
#include "support/counted.hpp"
#include "support/failing_allocator.hpp"
#include "support/user_allocators.hpp"

namespace byre::test {
namespace {

using Ints = Array<int>;

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

/// The elements 0, 1, 2, ...
Ints numbers(std::size_t size, Allocator& allocator = default_allocator()) {
  Ints ints = Ints::allocate(size, allocator);
  std::iota(ints.mutable_data(), ints.mutable_data() + size, 0);
  return ints;
}

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
  EXPECT_EQ(*std::ranges::max_element(ints), 3);
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

class SharedArray : public WithStats {};

TEST_F(SharedArray, is_copied_once_by_an_append) {
  Ints ints = numbers(1000, aligned_allocator());
  Ints clone = ints;
  const Recorder recorder;
  const Counted counted;
  clone.append(1000, CallSite{"user.cpp", 7});
  clone.append(1001);
  EXPECT_EQ(ints, numbers(1000));
  EXPECT_EQ(clone, numbers(1002));
  const auto events = recorder.events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].nbytes, 4000U);
  EXPECT_EQ(events[0].cause, stats::CopyCause::shared);
  EXPECT_EQ(events[0].site, (CallSite{"user.cpp", 7}));
  EXPECT_EQ(counted.since().bytes_not_copied, -4000) << "the lazy clone was in vain";
}

TEST_F(SharedArray, shrinks_by_a_copy_of_the_elements_that_remain) {
  Ints ints = numbers(1000, aligned_allocator());
  const Ints clone = ints;
  const Counted counted;
  ints.resize(10);
  EXPECT_EQ(ints, numbers(10));
  EXPECT_EQ(ints.capacity(), 10U);
  EXPECT_EQ(counted.since().bytes_copied, 40);
  ints = clone;
  ints.clear();
  EXPECT_TRUE(ints.empty());
  EXPECT_EQ(&ints.buffer().allocator(), &aligned_allocator());
  EXPECT_EQ(counted.since().bytes_copied, 40);
  EXPECT_EQ(clone, numbers(1000));
}

TEST_F(SharedArray, growth_of_unshared_elements_has_cause_resized) {
  Ints ints = numbers(1000, aligned_allocator());
  const Recorder recorder;
  ints.append(1000);
  const auto events = recorder.events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].cause, stats::CopyCause::resized);
  EXPECT_EQ(events[0].nbytes, 4000U);
}

TEST_F(SharedArray, keeps_its_elements_if_the_size_does_not_change) {
  Ints ints = numbers(1000);
  const Ints clone = ints;
  const Counted counted;
  ints.resize(1000, 7);
  EXPECT_TRUE(ints.shares_data_with(clone));
  EXPECT_EQ(counted.since().copies, 0);
}

TEST_F(SharedArray, is_cleared_without_a_copy_or_a_mapping) {
  for (Allocator* allocator :
       std::initializer_list<Allocator*>{&aligned_allocator(), &paged_allocator()}) {
    Ints ints = numbers(4 * least_paged_nbytes / sizeof(int), *allocator);
    const Ints clone = ints;
    const Counted counted;
    ints.clear();
    EXPECT_TRUE(ints.empty());
    EXPECT_EQ(&ints.buffer().allocator(), allocator);
    EXPECT_EQ(counted.since().copies + counted.since().overlays, 0);
    EXPECT_EQ(clone.size(), 4 * least_paged_nbytes / sizeof(int));
  }
}

TEST_F(SharedArray, growth_during_a_copy_by_a_former_owner_has_cause_pending) {
  struct Growing final : Allocator {
    Block allocate(const Request& request) override {
      return aligned_allocator().allocate(request);
    }
    void deallocate(const Block& block) noexcept override { aligned_allocator().deallocate(block); }
    void copy(void* to, const void* from, std::size_t nbytes) override {
      if (Ints* const ints = std::exchange(grown, nullptr)) {
        ints->append(1000);
      }
      std::memcpy(to, from, nbytes);
    }
    const char* name() const noexcept override { return "growing"; }
    Ints* grown = nullptr;
  } allocator;
  Ints ints = numbers(1000, allocator);
  Ints clone = ints;
  allocator.grown = &ints;
  const Recorder recorder;
  trace::Recording recording;
  clone.mutable_data();
  recording.stop();
  EXPECT_EQ(ints, numbers(1001));
  EXPECT_EQ(clone, numbers(1000));
  const auto events = recorder.events();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].cause, stats::CopyCause::pending);
  EXPECT_EQ(events[1].cause, stats::CopyCause::shared);
  EXPECT_TRUE(says(recording.to_json(), "copy (pending)", "copy (shared)"));
}

TEST(SharedArrayThreads, clones_that_append_at_once_get_arrays_of_their_own) {
  constexpr int threads = 4, rounds = 50;
  for (int round = 0; round < rounds; ++round) {
    std::vector<Ints> clones(threads, numbers(1000));
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i) {
      running.emplace_back([&clones, i] { clones[static_cast<std::size_t>(i)].append(-i); });
    }
    for (int i = 0; i < threads; ++i) {
      running[static_cast<std::size_t>(i)].join();
    }
    for (int i = 0; i < threads; ++i) {
      const Ints& clone = clones[static_cast<std::size_t>(i)];
      ASSERT_EQ(clone.size(), 1001U);
      EXPECT_EQ(clone.back(), -i);
      EXPECT_EQ(clone[999], 999);
      EXPECT_TRUE(clone.buffer().is_unique());
    }
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

TEST(SharedArrayInPages, is_resized_within_its_pages_by_an_overlay) {
  constexpr std::size_t size = 4 * least_paged_nbytes / sizeof(int);
  Ints ints = numbers(size, paged_allocator());
  const Ints clone = ints;
  Ints written = ints;
  written.mutable_data();
  if (written.buffer().origin() != Origin::overlay) {
    GTEST_SKIP() << "the system provides no pages";
  }
  const Counted counted;
  ints.resize(size - 5000);
  EXPECT_EQ(ints.buffer().origin(), Origin::overlay);
  ints.append(-1);
  EXPECT_EQ(ints.size(), size - 4999);
  EXPECT_EQ(ints.back(), -1);
  EXPECT_EQ(clone, numbers(size));
  EXPECT_EQ(counted.since().bytes_copied, 0);
  const Ints other = ints;
  const Counted growth;
  ints.resize(2 * size);
  EXPECT_EQ(growth.since().overlays, 0) << "all bytes are copied, so an overlay would be in vain";
  EXPECT_EQ(ints[size - 5000], -1);
  EXPECT_EQ(ints[size - 5001], static_cast<int>(size - 5001));
  EXPECT_EQ(ints.back(), 0);
}

TEST(ReadOnlyArray, is_copied_by_a_resize) {
  static const int elements[] = {1, 2, 3};
  Ints ints = Ints::from(Buffer::borrow(static_cast<const void*>(elements), sizeof elements));
  EXPECT_EQ(ints.data(), elements);
  ints.resize(2);
  EXPECT_NE(ints.data(), elements);
  ints.append(4);
  EXPECT_EQ(ints, (Ints{1, 2, 4}));
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

}  // namespace
}  // namespace byre::test
