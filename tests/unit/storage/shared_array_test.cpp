// SPDX-License-Identifier: BSL-1.0
// Array<T> whose elements are shared or read-only: which operations copy, and the causes that are
// reported.
#include <byre/memory/host_allocators.hpp>
#include <byre/observe/recording.hpp>
#include <byre/pages/paged_allocator.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <initializer_list>
#include <span>
#include <thread>
#include <vector>

#include "ints.hpp"
#include "support/complaint.hpp"
#include "support/counted.hpp"
#include "support/failing_allocator.hpp"

namespace byre::test {
namespace {

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
  FailingAllocator allocator;
  Ints ints = numbers(1000, allocator);
  Ints clone = ints;
  allocator.during_copy([&] {
    allocator.during_copy(nullptr);
    ints.append(1000);
  });
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

TEST_F(SharedArray, writable_clone_copies_rather_than_wait_for_a_pending_copy) {
  FailingAllocator allocator;
  Ints ints = numbers(1000, allocator);
  Ints clone = ints;
  const Recorder recorder;
  allocator.during_copy([&] {
    allocator.during_copy(nullptr);
    EXPECT_EQ(ints.writable_clone(Wait::never, CallSite{"user.cpp", 7}), numbers(1000));
  });
  clone.mutable_data();
  const auto events = recorder.events();
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].cause, stats::CopyCause::pending);
  EXPECT_EQ(events[0].site, (CallSite{"user.cpp", 7}));
  EXPECT_EQ(events[1].cause, stats::CopyCause::writable);
  EXPECT_EQ(events[1].site, (CallSite{"user.cpp", 7}));
}

TEST(SharedArrayThreads, clones_that_append_at_once_get_arrays_of_their_own) {
  constexpr int writers = 4, rounds = 50;
  for (int round = 0; round < rounds; ++round) {
    std::vector<Ints> clones(writers, numbers(1000));
    std::vector<std::thread> running;
    for (int i = 0; i < writers; ++i) {
      running.emplace_back([&clones, i] { clones[static_cast<std::size_t>(i)].append(-i); });
    }
    for (int i = 0; i < writers; ++i) {
      running[static_cast<std::size_t>(i)].join();
    }
    for (int i = 0; i < writers; ++i) {
      const Ints& clone = clones[static_cast<std::size_t>(i)];
      ASSERT_EQ(clone.size(), 1001U);
      EXPECT_EQ(clone.back(), -i);
      EXPECT_EQ(clone[999], 999);
      EXPECT_TRUE(clone.buffer().is_unique());
    }
  }
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

TEST_F(SharedArray, every_copying_member_reports_the_line_of_the_caller) {
  static constexpr CallSite here{"user.cpp", 7};
  static const int elements[] = {1, 2, 3};
  struct Arrays {
    Ints ints = numbers(1000, aligned_allocator());
    Ints clone = ints;
    Ints borrowed = Ints::from(Buffer::borrow(static_cast<const void*>(elements), sizeof elements));
  };
  using Call = void (*)(Arrays&);
  const Call calls[] = {
      [](Arrays& a) { a.ints.mutable_span(Wait::allowed, here); },
      [](Arrays& a) { a.ints.mutable_data(Wait::allowed, here); },
      [](Arrays& a) { a.ints.append(1, here); },
      [](Arrays& a) { a.ints.append(std::span<const int>(elements), here); },
      [](Arrays& a) { a.ints.resize(2000, 0, here); },
      [](Arrays& a) { a.ints.reserve(2000, here); },
      [](Arrays& a) { const Ints copy(a.borrowed, here); },
      [](Arrays& a) { (void)a.borrowed.lazy_clone(here); },
      [](Arrays& a) {
        a.clone = Ints();
        a.ints.resize(10);
        a.ints.shrink_to_fit(here);
      },
  };
  for (const Call& call : calls) {
    Arrays arrays;
    const Recorder recorder;
    call(arrays);
    const auto events = recorder.events();
    ASSERT_EQ(events.size(), 1U) << "call " << &call - calls;
    EXPECT_EQ(events[0].site, here) << "call " << &call - calls;
  }
}

TEST_F(SharedArray, a_write_that_must_not_wait_copies_during_a_pending_copy) {
  for (const bool is_span : {false, true}) {
    FailingAllocator allocator;
    Ints ints = numbers(1000, allocator);
    Ints clone = ints;
    const Recorder recorder;
    allocator.during_copy([&] {
      allocator.during_copy(nullptr);
      is_span ? (void)ints.mutable_span(Wait::never) : (void)ints.mutable_data(Wait::never);
    });
    clone.mutable_data();
    const auto events = recorder.events();
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[0].cause, stats::CopyCause::pending);
  }
}

TEST_F(SharedArray, resize_of_read_only_elements_has_cause_read_only) {
  static const int elements[] = {1, 2, 3};
  Ints ints = Ints::from(Buffer::adopt_read_only(elements, sizeof elements, [](void*) noexcept {}));
  const Recorder recorder;
  ints.resize(2);
  const auto events = recorder.events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].cause, stats::CopyCause::read_only);
  EXPECT_EQ(events[0].nbytes, 2 * sizeof(int));
}

}  // namespace
}  // namespace byre::test
