// SPDX-License-Identifier: BSL-1.0
// What AtomicBuffer, AtomicStorage and AtomicTiles have in common. atomic_cell_test.cpp compares
// random steps with a model, with small stocks and with the lock.
#include <byre/storage/atomic_buffer.hpp>
#include <byre/storage/atomic_storage.hpp>
#include <byre/storage/tiles/atomic_tiles.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/at_once.hpp"
#include "support/counted.hpp"
#include "support/failing_allocator.hpp"
#include "text.hpp"
#include "tiles/tiles.hpp"

namespace byre::test {
namespace {

static_assert(sizeof(AtomicBuffer) == 24);
static_assert(noexcept(std::declval<AtomicBuffer&>().notify()));

template <class Value>
Value value_of(std::string_view text, Allocator& allocator = default_allocator()) {
  return of_text<Value>(text, allocator);
}
template <>
TiledBuffer value_of<TiledBuffer>(std::string_view text, Allocator& allocator) {
  return tiled_of<TiledBuffer>(text, allocator);
}

template <class Value>
void overwrite(Value& value, char letter) {
  value.mutable_data()[0] = static_cast<std::byte>(letter);
}
void overwrite(TiledBuffer& value, char letter) {
  put(value, 0, letter);
}

template <class Value>
class Atomic : public testing::Test {
 protected:
  static Value of(std::string_view text) { return value_of<Value>(text); }

  const Value cow_ = of("cow");
  const Value ox_ = of("ox");
};
using Values = testing::Types<Buffer, Storage, TiledBuffer>;
TYPED_TEST_SUITE(Atomic, Values);

TYPED_TEST(Atomic, the_default_content_is_empty) {
  const basic_atomic<TypeParam> place;
  EXPECT_EQ(place.load().nbytes(), 0U);
  EXPECT_TRUE(place.holds(TypeParam()));
  EXPECT_FALSE(place.holds(this->cow_));
  EXPECT_EQ(place.version(), 0U);
}

TYPED_TEST(Atomic, a_load_shares_data_with_what_was_stored_last) {
  basic_atomic<TypeParam> place(this->cow_);
  EXPECT_TRUE(place.load().shares_data_with(this->cow_));
  place.store(this->ox_);
  EXPECT_TRUE(place.load().shares_data_with(this->ox_));
  place.store(TypeParam());
  EXPECT_EQ(place.load().nbytes(), 0U);
  place.store(this->cow_);
  EXPECT_TRUE(place.load().shares_data_with(this->cow_));
}

TYPED_TEST(Atomic, writes_to_loaded_and_stored_values_do_not_show) {
  TypeParam value = this->cow_;
  basic_atomic<TypeParam> place(value);
  overwrite(value, 'n');
  TypeParam loaded = place.load();
  EXPECT_EQ(text_of(loaded), "cow");
  overwrite(loaded, 'r');
  EXPECT_EQ(text_of(place.load()), "cow");
  EXPECT_EQ(text_of(value), "now");
}

TYPED_TEST(Atomic, exchange_returns_the_former_content) {
  basic_atomic<TypeParam> place;
  EXPECT_EQ(place.exchange(this->cow_).nbytes(), 0U);
  EXPECT_TRUE(place.exchange(this->ox_).shares_data_with(this->cow_));
  EXPECT_TRUE(place.exchange(TypeParam()).shares_data_with(this->ox_));
  EXPECT_EQ(place.load().nbytes(), 0U);
}

TYPED_TEST(Atomic, a_stored_value_without_other_owners_comes_back_unshared) {
  basic_atomic<TypeParam> place(this->of("calf"));
  { const TypeParam loaded = place.load(); }
  TypeParam former = place.exchange(this->cow_);
  Counted counted;
  overwrite(former, 'h');
  EXPECT_EQ(counted.since().copies, 0U);
  EXPECT_EQ(text_of(former), "half");
}

TYPED_TEST(Atomic, compare_exchange_stores_if_the_expected_data_is_there) {
  basic_atomic<TypeParam> place(this->cow_);
  TypeParam expected = this->cow_;
  TypeParam desired = this->ox_;
  EXPECT_TRUE(place.compare_exchange(expected, desired));
  EXPECT_TRUE(expected.shares_data_with(this->cow_));
  EXPECT_TRUE(place.load().shares_data_with(this->ox_));
  EXPECT_TRUE(desired.shares_data_with(this->ox_));
}

TYPED_TEST(Atomic, compare_exchange_returns_the_content_if_it_is_not_expected) {
  basic_atomic<TypeParam> place(this->cow_);
  TypeParam expected = this->of("cow");  // equal bytes, other data
  TypeParam desired = this->of("ox");
  EXPECT_FALSE(place.compare_exchange(expected, std::move(desired)));
  EXPECT_TRUE(expected.shares_data_with(this->cow_));
  EXPECT_EQ(text_of(desired), "ox");
  EXPECT_TRUE(place.load().shares_data_with(this->cow_));
  EXPECT_TRUE(place.compare_exchange(expected, std::move(desired)));
}

TYPED_TEST(Atomic, compare_exchange_takes_two_empty_values_as_equal) {
  basic_atomic<TypeParam> place;
  TypeParam expected = this->cow_;
  EXPECT_FALSE(place.compare_exchange(expected, this->ox_));
  EXPECT_EQ(expected.nbytes(), 0U);
  EXPECT_TRUE(place.compare_exchange(expected, this->ox_));
  EXPECT_FALSE(place.compare_exchange(expected, this->cow_));
  EXPECT_TRUE(place.compare_exchange(expected, TypeParam()));
  EXPECT_TRUE(place.holds(TypeParam()));
}

TYPED_TEST(Atomic, version_counts_completed_stores) {
  basic_atomic<TypeParam> place(this->cow_);
  EXPECT_EQ(place.version(), 0U);
  place.store(this->ox_);
  EXPECT_EQ(place.version(), 1U);
  static_cast<void>(place.exchange(this->ox_));
  EXPECT_EQ(place.version(), 2U);
  TypeParam expected = this->cow_;
  EXPECT_FALSE(place.compare_exchange(expected, this->cow_));
  static_cast<void>(place.load());
  EXPECT_EQ(place.version(), 2U);
  EXPECT_TRUE(place.compare_exchange(expected, this->cow_));
  EXPECT_EQ(place.version(), 3U);
}

TYPED_TEST(Atomic, holds_tells_whether_a_loaded_value_is_still_there) {
  basic_atomic<TypeParam> place(this->cow_);
  TypeParam loaded = place.load();
  EXPECT_TRUE(place.holds(loaded));
  EXPECT_FALSE(place.holds(this->of("cow")));
  EXPECT_FALSE(place.holds(TypeParam()));
  overwrite(loaded, 'n');
  EXPECT_FALSE(place.holds(loaded));
  place.store(this->ox_);
  EXPECT_FALSE(place.holds(this->cow_));
  EXPECT_TRUE(place.holds(this->ox_));
}

TYPED_TEST(Atomic, wait_returns_at_once_if_the_content_differs) {
  basic_atomic<TypeParam> place(this->cow_);
  place.wait(this->ox_);
  place.wait(TypeParam());
  place.store(TypeParam());
  place.wait(this->cow_);
}

TYPED_TEST(Atomic, threads_in_wait_return_after_a_store_and_notify) {
  basic_atomic<TypeParam> place;
  at_once(3, [&](std::size_t thread) {
    if (thread == 0) {
      for (const TypeParam* next : {&this->cow_, &this->ox_}) {
        place.store(*next);
        place.notify();
      }
    } else {
      place.wait(TypeParam());
      place.wait(this->cow_);
      EXPECT_TRUE(place.holds(this->ox_));
    }
  });
}

/// A store of equal tiles replaces the box in which the cell keeps them.
TYPED_TEST(Atomic, a_store_of_the_expected_value_does_not_end_a_wait) {
  basic_atomic<TypeParam> place(this->cow_);
  std::atomic<bool> is_about_to_wait(false);
  at_once(2, [&](std::size_t thread) {
    if (thread == 0) {
      is_about_to_wait = true;
      place.wait(this->cow_);
      EXPECT_TRUE(place.holds(this->ox_));
    } else {
      await([&] { return is_about_to_wait.load(); });
      for (int store = 0; store < 10'000; ++store) {
        place.store(this->cow_);
        place.notify();
      }
      place.store(this->ox_);
      place.notify();
    }
  });
}

TYPED_TEST(Atomic, the_content_is_dropped_with_the_object_and_at_a_store) {
  FailingAllocator allocator;
  {
    basic_atomic<TypeParam> place(value_of<TypeParam>("cow", allocator));
    EXPECT_EQ(allocator.blocks_out(), 1U);
    const TypeParam loaded = place.load();
    place.store(this->ox_);
    EXPECT_EQ(allocator.blocks_out(), 1U) << "the loaded value owns the data";
    EXPECT_EQ(text_of(loaded), "cow");
    place.store(loaded);
  }
  EXPECT_EQ(allocator.blocks_out(), 0U);
}

TYPED_TEST(Atomic, loads_are_counted_as_lazy_clones) {
  if (!BYRE_STATS) {
    GTEST_SKIP() << "built without stats";
  }
  basic_atomic<TypeParam> place(this->of("calves"));
  const Counted counted;
  const TypeParam loaded = place.load();
  EXPECT_EQ(counted.since().lazy_clones, 1U);
  EXPECT_EQ(counted.since().bytes_not_copied, 6U);
  EXPECT_TRUE(place.holds(loaded));
  place.wait(this->cow_);
  TypeParam expected = this->of("other"), desired = this->of("calf");
  const Counted loads;
  EXPECT_FALSE(place.compare_exchange(expected, std::move(desired)));
  EXPECT_EQ(loads.since().lazy_clones, 1U) << "of the content, into `expected`";
  EXPECT_EQ(counted.since().lazy_clones, 2U);
  static_cast<void>(place.exchange(this->cow_));
  EXPECT_EQ(counted.since().copies, 0U);
}

/// Each thread loads 3 * 2^15 times: several refills of the stock of a slot.
TYPED_TEST(Atomic, loads_beyond_the_stock_lose_no_owner) {
  FailingAllocator allocator;
  {
    basic_atomic<TypeParam> place(value_of<TypeParam>("cow", allocator));
    std::vector<TypeParam> kept[2];
    at_once(2, [&](std::size_t thread) {
      for (int load = 0; load < 3 << 15; ++load) {
        TypeParam loaded = place.load();
        if (load % 1000 == 0) {
          kept[thread].push_back(std::move(loaded));
        }
      }
    });
    place.store(TypeParam());
    EXPECT_EQ(allocator.blocks_out(), 1U);
    kept[0].clear();
    EXPECT_EQ(allocator.blocks_out(), 1U);
    EXPECT_EQ(text_of(kept[1].back()), "cow");
  }
  EXPECT_EQ(allocator.blocks_out(), 0U);
}

/// Values whose bytes are all equal: a load that reads two versions, or freed bytes, finds others.
TYPED_TEST(Atomic, loads_during_stores_read_one_version) {
  FailingAllocator allocator;
  {
    basic_atomic<TypeParam> place(value_of<TypeParam>(std::string(64, 'a'), allocator));
    at_once(4, [&](std::size_t thread) {
      for (int step = 0; step < 3000; ++step) {
        if (thread < 2) {
          place.store(
              value_of<TypeParam>(std::string(64, static_cast<char>('a' + step % 26)), allocator));
        } else {
          TypeParam loaded = place.load();
          const std::string text = text_of(loaded);
          ASSERT_EQ(text, std::string(64, text[0]));
          overwrite(loaded, '!');
        }
      }
    });
  }
  EXPECT_EQ(allocator.blocks_out(), 0U);
  EXPECT_EQ(allocator.wrong_releases(), 0);
}

TYPED_TEST(Atomic, a_compare_exchange_never_fails_spuriously) {
  basic_atomic<TypeParam> place(this->cow_);
  at_once(2, [&](std::size_t thread) {
    for (int step = 0; step < 10'000; ++step) {
      if (thread == 0) {
        place.store(step % 2 == 0 ? this->ox_ : this->cow_);
      } else if (TypeParam expected = this->cow_; !place.compare_exchange(expected, this->cow_)) {
        ASSERT_TRUE(expected.shares_data_with(this->ox_));
      }
    }
  });
}

TYPED_TEST(Atomic, compare_exchanges_lose_no_update) {
  constexpr int updates = 500;
  basic_atomic<TypeParam> place(this->of("0"));
  at_once(2, [&](std::size_t) {
    for (int update = 0; update < updates; ++update) {
      TypeParam expected = place.load();
      TypeParam next;
      do {
        next = this->of(std::to_string(std::stoi(text_of(expected)) + 1));
      } while (!place.compare_exchange(expected, std::move(next)));
    }
  });
  EXPECT_EQ(text_of(place.load()), std::to_string(2 * updates));
  EXPECT_EQ(place.version(), 2U * updates);
}

}  // namespace
}  // namespace byre::test
