// SPDX-License-Identifier: BSL-1.0
/// sync::Boost: its atomics, lock and objects without a destructor do what the seam says.
#include <byre/sync/boost.hpp>
#include <byre/sync/detail/boost_mutex.hpp>
#include <byre/sync/detail/no_destructor.hpp>

#include <gtest/gtest.h>
#include <boost/thread/barrier.hpp>
#include <boost/thread/thread.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "support/at_once.hpp"

namespace byre::test {
namespace {

using std::memory_order;
using sync::Step;

constexpr sync::Site somewhere{"test.somewhere", sync::Operation::load, memory_order::relaxed};

constexpr Step in(memory_order order) {
  return {&somewhere, order};
}
constexpr Step relaxed = in(memory_order::relaxed);

template <class Value>
class BoostAtomic : public testing::Test {};
using Values = testing::Types<std::uint32_t, std::uint64_t, std::int64_t>;
TYPED_TEST_SUITE(BoostAtomic, Values);

TYPED_TEST(BoostAtomic, starts_with_its_value_and_keeps_what_is_stored) {
  sync::Boost::Atomic<TypeParam> atomic(5);
  EXPECT_EQ(atomic.load(relaxed), TypeParam{5});
  const TypeParam largest = std::numeric_limits<TypeParam>::max();
  atomic.store(largest, in(memory_order::release));
  EXPECT_EQ(atomic.load(in(memory_order::acquire)), largest);
}

TYPED_TEST(BoostAtomic, answers_an_add_and_a_subtract_with_the_value_before) {
  sync::Boost::Atomic<TypeParam> atomic(5);
  EXPECT_EQ(atomic.fetch_add(3, relaxed), TypeParam{5});
  EXPECT_EQ(atomic.fetch_sub(2, in(memory_order::acq_rel)), TypeParam{8});
  EXPECT_EQ(atomic.load(relaxed), TypeParam{6});
}

TYPED_TEST(BoostAtomic, exchanges_only_what_was_expected) {
  sync::Boost::Atomic<TypeParam> atomic(5);
  TypeParam expected = 4;
  EXPECT_FALSE(atomic.compare_exchange_weak(expected, 9, in(memory_order::acq_rel)));
  EXPECT_EQ(expected, TypeParam{5}) << "it learns what is there";
  EXPECT_EQ(atomic.load(relaxed), TypeParam{5});
  while (!atomic.compare_exchange_weak(expected, 9, in(memory_order::acq_rel))) {
    EXPECT_EQ(expected, TypeParam{5}) << "a spurious failure";
  }
  EXPECT_EQ(atomic.load(relaxed), TypeParam{9});
}

TYPED_TEST(BoostAtomic, works_with_every_order_an_operation_can_have) {
  sync::Boost::Atomic<TypeParam> atomic(0);
  const memory_order all[] = {memory_order::relaxed, memory_order::acquire, memory_order::release,
                              memory_order::acq_rel, memory_order::seq_cst};
  for (const memory_order order : all) {
    atomic.fetch_add(2, in(order));
    atomic.fetch_sub(1, in(order));
    TypeParam expected = atomic.load(relaxed);
    while (!atomic.compare_exchange_weak(expected, expected + 1, in(order))) {
    }
  }
  EXPECT_EQ(atomic.load(in(memory_order::seq_cst)), TypeParam{10});
  EXPECT_EQ(atomic.load(in(memory_order::consume)), TypeParam{10});
}

TYPED_TEST(BoostAtomic, loses_no_step_of_eight_threads) {
  sync::Boost::Atomic<TypeParam> added(0);
  sync::Boost::Atomic<TypeParam> subtracted(100000);
  sync::Boost::Atomic<TypeParam> exchanged(0);
  at_once(8, [&](std::size_t) {
    for (int i = 0; i < 5000; ++i) {
      added.fetch_add(1, relaxed);
      subtracted.fetch_sub(1, relaxed);
      TypeParam now = exchanged.load(relaxed);
      while (!exchanged.compare_exchange_weak(now, now + 1, relaxed)) {
      }
    }
  });
  EXPECT_EQ(added.load(relaxed), TypeParam{40000});
  EXPECT_EQ(subtracted.load(relaxed), TypeParam{60000});
  EXPECT_EQ(exchanged.load(relaxed), TypeParam{40000});
}

TYPED_TEST(BoostAtomic, hands_data_over_by_release_and_acquire) {
  // A data race if the orders did not reach the atomic: ThreadSanitizer's to see.
  for (int round = 0; round < 200; ++round) {
    int data = 0;
    sync::Boost::Atomic<TypeParam> ready(0);
    boost::thread giver([&] {
      data = round;
      ready.store(1, in(memory_order::release));
    });
    await([&] { return ready.load(in(memory_order::acquire)) == 1; });
    EXPECT_EQ(data, round);
    data = -1;
    giver.join();
  }
}

TEST(BoostSharedMutex, is_shared_by_two_at_once) {
  sync::Boost::SharedMutex mutex;
  boost::barrier both_inside(2);  // never passed if one excluded the other
  at_once(2, [&](std::size_t) {
    mutex.lock_shared(relaxed);
    both_inside.wait();
    mutex.unlock_shared(relaxed);
  });
}

TEST(BoostSharedMutex, excludes_all_others_when_locked_exclusively) {
  sync::Boost::SharedMutex mutex;
  int left = 0;
  int right = 0;
  at_once(8, [&](std::size_t thread) {
    for (int i = 0; i < 2000; ++i) {
      if (thread % 2 == 0) {
        mutex.lock(relaxed);
        ++left;
        ++right;
        mutex.unlock(relaxed);
      } else {
        mutex.lock_shared(relaxed);
        ASSERT_EQ(left, right);
        mutex.unlock_shared(relaxed);
      }
    }
  });
  EXPECT_EQ(left, 8000);
}

TEST(BoostPlain, keeps_what_is_set) {
  sync::Boost::Plain<int> plain(3);
  EXPECT_EQ(plain.get(), 3);
  plain.set(4);
  EXPECT_EQ(plain.get(), 4);
}

struct Monument {
  int inscription = 7;
};
struct OtherMonument {};

TEST(NoDestructor, is_one_object_of_its_type_whoever_asks) {
  Monument& monument = sync::no_destructor<Monument>();
  EXPECT_EQ(monument.inscription, 7);
  std::vector<Monument*> seen(8);
  at_once(8, [&](std::size_t thread) { seen[thread] = &sync::no_destructor<Monument>(); });
  EXPECT_EQ(seen, std::vector<Monument*>(8, &monument));
  EXPECT_NE(static_cast<void*>(&sync::no_destructor<OtherMonument>()),
            static_cast<void*>(&monument));
}

}  // namespace
}  // namespace byre::test
