// SPDX-License-Identifier: BSL-1.0
/// The atomics of all seams, and the lock and no_destructor() of sync::Default, meet the
/// specification of a seam.
#include <byre/sync/default.hpp>
#include <byre/sync/detail/mutex.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/sync/single_thread.hpp>
#include <byre/sync/standard.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <limits>
#include <thread>
#include <utility>
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

#if BYRE_SYNC == 1
constexpr boost::memory_order of_boost(memory_order order) {
  return sync::detail::BoostAtomics::order(order);
}
static_assert(of_boost(memory_order::relaxed) == boost::memory_order_relaxed);
static_assert(of_boost(memory_order::consume) == boost::memory_order_acquire);
static_assert(of_boost(memory_order::acquire) == boost::memory_order_acquire);
static_assert(of_boost(memory_order::release) == boost::memory_order_release);
static_assert(of_boost(memory_order::acq_rel) == boost::memory_order_acq_rel);
static_assert(of_boost(memory_order::seq_cst) == boost::memory_order_seq_cst);
#endif

constexpr bool standard_passes_orders_on() {
  for (const memory_order order :
       {memory_order::relaxed, memory_order::consume, memory_order::acquire, memory_order::release,
        memory_order::acq_rel, memory_order::seq_cst}) {
    if (sync::detail::StandardAtomics::order(order) != order) {
      return false;
    }
  }
  return true;
}
static_assert(standard_passes_orders_on());

template <class Seam>
class SeamAtomics : public testing::Test {};
using Seams = testing::Types<sync::Default, sync::Standard, sync::SingleThread>;
TYPED_TEST_SUITE(SeamAtomics, Seams);

template <class Seam, class Value>
void expect_values_of_each_operation() {
  typename Seam::template Atomic<Value> atomic(5);
  EXPECT_EQ(atomic.load(relaxed), Value{5});
  const Value largest = std::numeric_limits<Value>::max();
  for (const memory_order order :
       {memory_order::relaxed, memory_order::release, memory_order::seq_cst}) {
    atomic.store(largest, in(order));
  }
  for (const memory_order order : {memory_order::relaxed, memory_order::consume,
                                   memory_order::acquire, memory_order::seq_cst}) {
    EXPECT_EQ(atomic.load(in(order)), largest);
  }
  for (const memory_order order :
       {memory_order::relaxed, memory_order::acquire, memory_order::release, memory_order::acq_rel,
        memory_order::seq_cst}) {
    atomic.store(5, relaxed);
    EXPECT_EQ(atomic.fetch_add(3, in(order)), Value{5});
    EXPECT_EQ(atomic.fetch_sub(2, in(order)), Value{8});
    Value expected = 4;
    EXPECT_FALSE(atomic.compare_exchange_weak(expected, 9, in(order)));
    EXPECT_EQ(expected, Value{6}) << "expected the current value after a failure";
    while (!atomic.compare_exchange_weak(expected, 9, in(order))) {
      EXPECT_EQ(expected, Value{6}) << "expected the current value after a spurious failure";
    }
    EXPECT_EQ(atomic.exchange(7, in(order)), Value{9});
    EXPECT_EQ(atomic.load(relaxed), Value{7});
  }
}

TYPED_TEST(SeamAtomics, support_each_operation_with_every_valid_memory_order) {
  expect_values_of_each_operation<TypeParam, std::uint32_t>();
  expect_values_of_each_operation<TypeParam, std::uint64_t>();
  expect_values_of_each_operation<TypeParam, std::int64_t>();
}

TEST(SharedMutex, two_threads_may_hold_a_shared_lock_concurrently) {
  sync::Default::SharedMutex mutex;
  Barrier both_inside(2);  // never passed if one thread excluded the other
  at_once(2, [&](std::size_t) {
    mutex.lock_shared(relaxed);
    both_inside.arrive_and_wait();
    mutex.unlock_shared(relaxed);
  });
}

TEST(SharedMutex, an_exclusive_lock_excludes_all_other_threads) {
  sync::Default::SharedMutex mutex;
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

struct Monument {
  int inscription = 7;
};
struct OtherMonument {};

/// Its constructor lets other threads run.
template <int>
struct SlowMonument {
  SlowMonument() {
    for (int i = 0; i < 10; ++i) {
      std::this_thread::yield();
    }
    ++constructions;
  }
  inline static std::atomic<int> constructions = 0;
};

template <int... numbers>
int constructions_by_threads(std::integer_sequence<int, numbers...>) {
  at_once(4, [](std::size_t) {
    (static_cast<void>(sync::no_destructor<SlowMonument<numbers>>()), ...);
  });
  return (SlowMonument<numbers>::constructions + ...);
}

TEST(NoDestructor, all_threads_get_the_single_object_of_a_type) {
  Monument& monument = sync::no_destructor<Monument>();
  EXPECT_EQ(monument.inscription, 7);
  std::vector<Monument*> seen(8);
  at_once(8, [&](std::size_t thread) { seen[thread] = &sync::no_destructor<Monument>(); });
  EXPECT_EQ(seen, std::vector<Monument*>(8, &monument));
  EXPECT_NE(static_cast<void*>(&sync::no_destructor<OtherMonument>()),
            static_cast<void*>(&monument));
}

TEST(NoDestructor, concurrent_first_uses_construct_one_object) {
  EXPECT_EQ(constructions_by_threads(std::make_integer_sequence<int, 16>()), 16);
}

}  // namespace
}  // namespace byre::test
