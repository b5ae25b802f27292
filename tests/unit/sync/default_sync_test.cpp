// SPDX-License-Identifier: BSL-1.0
/// sync::Default: its atomics, its lock and no_destructor() meet the specification of the seam.
#include <byre/sync/default.hpp>
#include <byre/sync/detail/mutex.hpp>
#include <byre/sync/detail/no_destructor.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstdint>
#include <limits>
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
class DefaultAtomic : public testing::Test {};
using Values = testing::Types<std::uint32_t, std::uint64_t, std::int64_t>;
TYPED_TEST_SUITE(DefaultAtomic, Values);

TYPED_TEST(DefaultAtomic, supports_each_operation_with_every_valid_memory_order) {
  sync::Default::Atomic<TypeParam> atomic(5);
  EXPECT_EQ(atomic.load(relaxed), TypeParam{5});
  const TypeParam largest = std::numeric_limits<TypeParam>::max();
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
    EXPECT_EQ(atomic.fetch_add(3, in(order)), TypeParam{5});
    EXPECT_EQ(atomic.fetch_sub(2, in(order)), TypeParam{8});
    TypeParam expected = 4;
    EXPECT_FALSE(atomic.compare_exchange_weak(expected, 9, in(order)));
    EXPECT_EQ(expected, TypeParam{6}) << "expected the current value after a failure";
    while (!atomic.compare_exchange_weak(expected, 9, in(order))) {
      EXPECT_EQ(expected, TypeParam{6}) << "expected the current value after a spurious failure";
    }
    EXPECT_EQ(atomic.load(relaxed), TypeParam{9});
  }
}

TEST(SharedMutex, two_threads_may_hold_a_shared_lock_concurrently) {
  sync::Default::SharedMutex mutex;
  std::barrier both_inside(2);  // never passed if one thread excluded the other
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

TEST(NoDestructor, all_threads_get_the_single_object_of_a_type) {
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
