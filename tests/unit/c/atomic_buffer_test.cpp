// SPDX-License-Identifier: BSL-1.0
// Atomic buffers of the C interface.
#include <thread>

#include "values.hpp"

namespace byre::test {
namespace {

void make(CAtomicBuffer& place, std::string_view text) {
  CBuffer buffer;
  allocate(buffer, text);
  ASSERT_TRUE(ok(byre_atomic_buffer_create(place.result())));
  ASSERT_TRUE(ok(byre_atomic_buffer_store(place, buffer)));
  EXPECT_EQ(byre_buffer_data(buffer), nullptr) << "a store takes the bytes over";
}

TEST(CAtomicBuffers, load_is_a_clone_of_what_was_stored) {
  CAtomicBuffer place;
  make(place, "cows");
  EXPECT_EQ(byre_atomic_buffer_version(place), 1U);
  CBuffer loaded;
  ASSERT_TRUE(ok(byre_atomic_buffer_load(place, loaded)));
  EXPECT_EQ(byre_atomic_buffer_holds(place, loaded), 1);
  ASSERT_TRUE(ok(write(loaded, "m")));
  EXPECT_EQ(byre_atomic_buffer_holds(place, loaded), 0);
  CBuffer again;
  ASSERT_TRUE(ok(byre_atomic_buffer_load(place, again)));
  EXPECT_EQ(text_of(again), "cows");
}

TEST(CAtomicBuffers, exchange_swaps_with_the_content) {
  CAtomicBuffer place;
  make(place, "cows");
  CBuffer buffer, loaded;
  allocate(buffer, "oxen");
  ASSERT_TRUE(ok(byre_atomic_buffer_exchange(place, buffer)));
  EXPECT_EQ(text_of(buffer), "cows");
  ASSERT_TRUE(ok(byre_atomic_buffer_load(place, loaded)));
  EXPECT_EQ(text_of(loaded), "oxen");
}

TEST(CAtomicBuffers, compare_exchange_stores_only_over_what_is_expected) {
  CAtomicBuffer place;
  make(place, "cows");
  CBuffer expected, desired;
  allocate(expected, "cows");  // equal bytes, but not shared
  allocate(desired, "oxen");
  int stored = -1;
  ASSERT_TRUE(ok(byre_atomic_buffer_compare_exchange(place, expected, desired, &stored)));
  EXPECT_EQ(stored, 0);
  EXPECT_EQ(text_of(desired), "oxen");
  EXPECT_EQ(byre_atomic_buffer_holds(place, expected), 1);
  ASSERT_TRUE(ok(byre_atomic_buffer_compare_exchange(place, expected, desired, &stored)));
  EXPECT_EQ(stored, 1);
  EXPECT_EQ(byre_buffer_data(desired), nullptr);
  EXPECT_EQ(byre_atomic_buffer_version(place), 2U);
}

TEST(CAtomicBuffers, wait_returns_when_another_content_is_notified) {
  CAtomicBuffer place;
  make(place, "cows");
  CBuffer seen;
  ASSERT_TRUE(ok(byre_atomic_buffer_load(place, seen)));
  std::thread other([&] {
    CBuffer buffer;
    allocate(buffer, "oxen");
    EXPECT_TRUE(ok(byre_atomic_buffer_store(place, buffer)));
    byre_atomic_buffer_notify(place);
  });
  byre_atomic_buffer_wait(place, seen);
  EXPECT_EQ(byre_atomic_buffer_holds(place, seen), 0);
  other.join();
}

TEST(CAtomicBuffers, null_arguments_are_refused) {
  CAtomicBuffer place;
  make(place, "cows");
  CBuffer buffer, other, loaded;
  allocate(buffer, "oxen");
  int stored = -1;
  const auto refused = [](byre_status status, const char* name) {
    return fails(status, BYRE_INVALID_ARGUMENT, "byre_atomic_buffer_",
                 std::string("`") + name + "` is NULL");
  };
  EXPECT_TRUE(refused(byre_atomic_buffer_create(nullptr), "result"));
  EXPECT_TRUE(refused(byre_atomic_buffer_load(nullptr, buffer), "place"));
  EXPECT_TRUE(refused(byre_atomic_buffer_load(place, nullptr), "result"));
  EXPECT_TRUE(refused(byre_atomic_buffer_store(nullptr, buffer), "place"));
  EXPECT_TRUE(refused(byre_atomic_buffer_store(place, nullptr), "desired"));
  EXPECT_TRUE(refused(byre_atomic_buffer_exchange(nullptr, buffer), "place"));
  EXPECT_TRUE(refused(byre_atomic_buffer_exchange(place, nullptr), "buffer"));
  const auto compare = &byre_atomic_buffer_compare_exchange;
  EXPECT_TRUE(refused(compare(nullptr, other, buffer, &stored), "place"));
  EXPECT_TRUE(refused(compare(place, nullptr, buffer, &stored), "expected"));
  EXPECT_TRUE(refused(compare(place, other, nullptr, &stored), "desired"));
  EXPECT_TRUE(refused(compare(place, other, buffer, nullptr), "stored"));
  EXPECT_TRUE(fails(compare(place, buffer, buffer, &stored), BYRE_INVALID_ARGUMENT, "one buffer"));
  EXPECT_EQ(text_of(buffer), "oxen");
  ASSERT_TRUE(ok(byre_atomic_buffer_load(place, loaded)));
  EXPECT_EQ(text_of(loaded), "cows");
}

TEST(CAtomicBuffers, null_is_an_empty_variable) {
  CBuffer empty, buffer;
  allocate(buffer, "cows");
  EXPECT_EQ(byre_atomic_buffer_holds(nullptr, empty), 1);
  EXPECT_EQ(byre_atomic_buffer_holds(nullptr, buffer), 0);
  byre_atomic_buffer_wait(nullptr, empty);
  byre_atomic_buffer_notify(nullptr);
  EXPECT_EQ(byre_atomic_buffer_version(nullptr), 0U);
  byre_atomic_buffer_destroy(nullptr);
}

}  // namespace
}  // namespace byre::test
