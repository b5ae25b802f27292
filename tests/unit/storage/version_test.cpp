// SPDX-License-Identifier: BSL-1.0
// Storage::version(): each write access changes it, and nothing else shows that it was asked.
#include <byre/observe/counters.hpp>
#include <byre/storage/atomic_storage.hpp>
#include <byre/storage/explain.hpp>
#include <byre/storage/pin.hpp>
#include <byre/storage/storage.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "storage/text.hpp"
#include "support/at_once.hpp"
#include "support/failing_allocator.hpp"
#include "support/queued_device.hpp"

namespace byre::test {
namespace {

struct WriteAccess {
  const char* name;
  void (*request)(Storage&);
};

constexpr WriteAccess write_accesses[] = {
    {"mutable_data", [](Storage& storage) { storage.mutable_data(); }},
    {"mutable_range", [](Storage& storage) { storage.mutable_range(1, 2); }},
    {"materialize", [](Storage& storage) { storage.materialize(); }},
    {"pin", [](Storage& storage) { const Pin pin = storage.pin(); }},
    {"writable_clone", [](Storage& storage) { const Storage clone = storage.writable_clone(); }},
    {"mutable_data_in_parallel", [](Storage& storage) { storage.mutable_data_in_parallel(); }},
    {"mutable_range_in_parallel",
     [](Storage& storage) { storage.mutable_range_in_parallel(1, 2); }},
    {"materialize_in_parallel", [](Storage& storage) { storage.materialize_in_parallel(); }},
};

constexpr WriteAccess changes_of_size[] = {
    {"resize", [](Storage& storage) { storage.resize(2); }},
    {"resize to more", [](Storage& storage) { storage.resize(1000); }},
    {"shrink_to_fit", [](Storage& storage) { storage.shrink_to_fit(); }},
};

/// Expects that `write` changes the version of the storage, and leaves it with one owner.
void expect_changed_by(const WriteAccess& write, Storage storage) {
  SCOPED_TRACE(write.name);
  const std::uint64_t before = storage.version();
  EXPECT_NE(before, 0U);
  const std::string text = text_of(storage).substr(0, 2);
  write.request(storage);
  const std::uint64_t after = storage.version();
  EXPECT_NE(after, before);
  EXPECT_EQ(storage.version(), after);
  write.request(storage);
  EXPECT_NE(storage.version(), after);
  EXPECT_NE(storage.version(), before);
  EXPECT_TRUE(storage.is_unique());
  EXPECT_EQ(storage.use_count(), 1U);
  EXPECT_EQ(text_of(storage).substr(0, 2), text);
}

TEST(Version, changes_with_each_kind_of_write_access) {
  for (const WriteAccess& write : write_accesses) {
    expect_changed_by(write, of_text<Storage>("cow"));
    const Storage shared = of_text<Storage>("cow");
    shared.version();
    expect_changed_by(write, shared.lazy_clone());
    EXPECT_EQ(text_of(shared), "cow");
    EXPECT_TRUE(shared.is_unique());
  }
  for (const WriteAccess& write : changes_of_size) {
    expect_changed_by(write, of_text<Storage>("cow"));
  }
}

TEST(Version, is_constant_without_a_write_access) {
  const Storage storage = of_text<Storage>("cow");
  const std::uint64_t version = storage.version();
  EXPECT_NE(version, 0U);
  EXPECT_EQ(text_of(storage), "cow");
  const Pin reader = storage.pin_to_read();
  Storage clone = storage.lazy_clone();
  const Storage alias = storage;
  EXPECT_EQ(explain(alias), explain(storage));
  clone.mutable_data()[0] = std::byte{'n'};
  EXPECT_EQ(storage.version(), version);
  EXPECT_EQ(alias.version(), version);
  EXPECT_EQ(text_of(reader), "cow");
}

TEST(Version, is_shared_by_the_handles_of_a_storage) {
  Storage storage = of_text<Storage>("cow");
  Storage alias = storage;
  const std::uint64_t version = alias.version();
  storage.mutable_data();
  EXPECT_NE(alias.version(), version);
  EXPECT_EQ(alias.version(), storage.version());
}

TEST(Version, numbers_are_never_used_twice) {
  std::set<std::uint64_t> numbers;
  std::size_t asked = 0;
  const auto ask = [&](const Storage& storage) {
    numbers.insert(storage.version());
    ++asked;
  };
  for (int round = 0; round < 3; ++round) {
    Storage storage = of_text<Storage>("cow");
    Storage clone = storage.lazy_clone();
    ask(storage);
    ask(clone);
    ask(clone.lazy_clone());
    clone.mutable_data();
    ask(clone);
    storage.mutable_data();
    ask(storage);
  }
  EXPECT_EQ(numbers.size(), asked);
  EXPECT_FALSE(numbers.contains(0));
}

TEST(Version, without_bytes_is_0) {
  EXPECT_EQ(Storage().version(), 0U);
  Storage storage{Buffer()};
  EXPECT_EQ(storage.version(), 0U);
  storage.resize(8);
  EXPECT_NE(storage.version(), 0U);
  EXPECT_NE(Storage::allocate(0).version(), 0U);
}

TEST(Version, of_memory_with_other_writers_is_new_at_each_call) {
  std::array<char, 3> memory = {'c', 'o', 'w'};
  const auto keep = [](void*) {};
  Storage pinned = of_text<Storage>("cow");
  const std::uint64_t before = pinned.version();
  const Pin pin = pinned.pin();
  for (const Storage& storage : {Storage(Buffer::borrow(memory.data(), 3)),
                                 Storage(Buffer::borrow(std::as_const(memory).data(), 3)),
                                 Storage(Buffer::adopt_aliased(memory.data(), 3, keep)), pinned}) {
    const std::uint64_t first = storage.version();
    EXPECT_NE(first, before);
    EXPECT_NE(storage.version(), first);
    EXPECT_EQ(storage.use_count(), 1U) << "a watch would be another owner";
    EXPECT_TRUE(storage.is_unique());
  }
}

TEST(Version, of_memory_that_was_pinned_is_constant_again) {
  Storage storage = of_text<Storage>("cow");
  Pin pin = storage.pin();
  const std::uint64_t pinned = storage.version();
  pin = Pin();
  const std::uint64_t version = storage.version();
  EXPECT_NE(version, pinned);
  EXPECT_EQ(storage.version(), version);
}

TEST(Version, does_not_show_in_results_and_counters) {
  FailingAllocator allocator;
  Storage storage = of_text<Storage>("cow", allocator);
  const std::byte* const data = std::as_const(storage).data();
  const std::string explained = explain(storage);
  storage.version();
  EXPECT_TRUE(storage.is_unique());
  EXPECT_EQ(storage.use_count(), 1U);
  EXPECT_EQ(storage.handle_count(), 1U);
  EXPECT_FALSE(storage.is_pinned());
  EXPECT_EQ(explain(storage), explained);

  const stats::Counters before = stats::snapshot();
  EXPECT_EQ(storage.materialize(), Materialized::already_unique);
  storage.version();
  EXPECT_EQ(storage.materialize_in_parallel(), Materialized::already_unique);
  storage.version();
  EXPECT_EQ(storage.mutable_data(Wait::never), data);
  storage.version();
  EXPECT_EQ(storage.pin().data(), data);
  storage.version();
  storage.resize(2);
  EXPECT_EQ(std::as_const(storage).data(), data);
  EXPECT_EQ(stats::snapshot() - before, stats::Counters());
  EXPECT_EQ(allocator.copies(), 0);
}

TEST(Version, leaves_shared_data_shared) {
  const Storage storage = of_text<Storage>("cow");
  Storage clone = storage.lazy_clone();
  storage.version();
  EXPECT_FALSE(storage.is_unique());
  EXPECT_FALSE(clone.is_unique());
  EXPECT_TRUE(clone.shares_data_with(storage));
  EXPECT_EQ(storage.use_count(), 2U);
  EXPECT_EQ(clone.use_count(), 3U) << "documented: another storage with a version counts as two";
  clone.version();
  EXPECT_FALSE(storage.is_unique());
  EXPECT_FALSE(clone.is_unique());
}

/// Two storages that share data. The first has a version, and the second has one if `both`.
class SharedVersions : public testing::TestWithParam<bool> {
 protected:
  SharedVersions() {
    first.version();
    if (GetParam()) {
      second.version();
    }
  }
  void write_both() {
    EXPECT_EQ(first.materialize(), Materialized::copied);
    EXPECT_EQ(second.materialize(), Materialized::already_unique);
    EXPECT_EQ(allocator.copies(), 1);
  }

  FailingAllocator allocator;
  Storage first = of_text<Storage>("cow", allocator);
  Storage second = first.lazy_clone();
};
INSTANTIATE_TEST_SUITE_P(OfOneOrBoth, SharedVersions, testing::Bool());

TEST_P(SharedVersions, the_first_writer_copies_and_the_last_does_not) {
  write_both();
}

TEST_P(SharedVersions, a_writer_without_a_version_copies_as_before) {
  std::swap(first, second);
  write_both();
}

TEST_P(SharedVersions, a_released_storage_leaves_the_other_unique) {
  first = Storage();
  EXPECT_TRUE(second.is_unique());
  EXPECT_EQ(second.use_count(), 1U);
  EXPECT_EQ(second.materialize(), Materialized::already_unique);
  EXPECT_EQ(allocator.copies(), 0);
}

TEST_P(SharedVersions, are_freed_with_their_last_storage) {
  first = Storage();
  second = Storage();
  EXPECT_EQ(allocator.blocks_out(), 0U);
  EXPECT_EQ(allocator.wrong_releases(), 0);
}

TEST_P(SharedVersions, a_failed_copy_leaves_the_storage_as_it_was) {
  for (const bool fails_to_allocate : {true, false}) {
    fails_to_allocate ? allocator.fail_allocation(0) : allocator.fail_copy(0);
    EXPECT_ANY_THROW(first.materialize());
    EXPECT_EQ(text_of(first), "cow");
    EXPECT_TRUE(first.shares_data_with(second));
    const std::uint64_t version = first.version();
    EXPECT_EQ(first.version(), version);
    EXPECT_EQ(first.use_count(), GetParam() ? 3U : 2U);
  }
  const int failed = allocator.copies();
  EXPECT_EQ(first.materialize(), Materialized::copied);
  EXPECT_EQ(second.materialize(), Materialized::already_unique);
  EXPECT_EQ(allocator.copies(), failed + 1);
}

TEST_P(SharedVersions, a_storage_of_shared_data_cannot_be_resized) {
  EXPECT_THROW(first.resize(1), NotUnique);
  EXPECT_THROW(first.shrink_to_fit(), NotUnique);
  EXPECT_EQ(text_of(first), "cow");
}

TEST(Version, writers_with_versions_make_one_copy_fewer_than_owners) {
  constexpr std::size_t thread_count = 4;
  FailingAllocator allocator;
  std::vector<Storage> storages(thread_count);
  int copies_before = 0;
  run_rounds(
      thread_count, 1000,
      [&](std::size_t) {
        storages.assign(thread_count, Storage());
        storages[0] = of_text<Storage>("cow", allocator);
        for (std::size_t thread = 1; thread < thread_count; ++thread) {
          storages[thread] = storages[0].lazy_clone();
        }
        copies_before = allocator.copies();
      },
      [&](std::size_t thread) {
        Storage& storage = storages[thread];
        const std::uint64_t before = thread == 0 ? 0 : storage.version();
        storage.mutable_data()[0] = static_cast<std::byte>(thread);
        EXPECT_NE(storage.version(), before);
        storage.mutable_data()[1] = static_cast<std::byte>(thread);
      },
      [&](std::size_t) {
        EXPECT_EQ(allocator.copies() - copies_before, int{thread_count} - 1);
        for (std::size_t thread = 0; thread < thread_count; ++thread) {
          EXPECT_EQ(storages[thread].data()[0], static_cast<std::byte>(thread));
          EXPECT_EQ(storages[thread].data()[2], std::byte{'w'});
          EXPECT_TRUE(storages[thread].is_unique());
        }
      });
  storages.clear();
  EXPECT_EQ(allocator.blocks_out(), 0U);
}

TEST(Version, threads_that_ask_concurrently_get_one_number) {
  constexpr std::size_t thread_count = 4;
  Storage storage;
  std::array<std::uint64_t, thread_count> numbers{};
  std::uint64_t former = 0;
  run_rounds(
      thread_count, 2000,
      [&](std::size_t round) {
        if (round % 100 == 0) {
          storage = of_text<Storage>("cow");
        } else {
          EXPECT_EQ(storage.materialize(), Materialized::already_unique);
        }
      },
      [&](std::size_t thread) {
        numbers[thread] = storage.version();
        Storage clone = storage.lazy_clone();
        EXPECT_NE(clone.version(), numbers[thread]);
        EXPECT_FALSE(clone.is_unique());
        EXPECT_FALSE(storage.is_unique());
      },
      [&](std::size_t) {
        EXPECT_EQ(std::ranges::count(numbers, storage.version()), std::ptrdiff_t{thread_count});
        EXPECT_NE(storage.version(), std::exchange(former, storage.version()));
        EXPECT_TRUE(storage.is_unique());
        EXPECT_EQ(storage.use_count(), 1U);
      });
}

TEST(Version, is_ended_once_by_a_parallel_loop) {
  constexpr std::size_t thread_count = 4;
  FailingAllocator allocator;
  Storage storage;
  std::array<Materialized, thread_count> how{};
  run_rounds(
      thread_count, 1000,
      [&](std::size_t round) {
        if (round % 100 == 0) {
          storage = of_text<Storage>("cows", allocator);
        }
        storage.version();
      },
      [&](std::size_t thread) {
        how[thread] = storage.materialize_in_parallel();
        storage.mutable_data_in_parallel()[thread] = static_cast<std::byte>(thread);
      },
      [&](std::size_t) {
        EXPECT_EQ(std::ranges::count(how, Materialized::already_unique),
                  std::ptrdiff_t{thread_count});
        EXPECT_TRUE(storage.is_unique());
        EXPECT_EQ(storage.use_count(), 1U);
      });
  EXPECT_EQ(allocator.copies(), 0);
}

TEST(Version, a_loop_over_shared_data_copies_once) {
  FailingAllocator allocator;
  Storage storage = of_text<Storage>("cow", allocator);
  const Storage clone = storage.lazy_clone();
  storage.version();
  EXPECT_EQ(storage.materialize_in_parallel(), Materialized::copied);
  EXPECT_EQ(storage.materialize_in_parallel(), Materialized::already_unique);
  EXPECT_TRUE(clone.is_unique());
  EXPECT_EQ(allocator.copies(), 1);
}

TEST(Version, a_pending_copy_makes_is_unique_false) {
  FailingAllocator allocator;
  Storage storage = of_text<Storage>("cow", allocator);
  Storage copied = storage.lazy_clone();
  storage.version();
  bool is_unique = true;
  allocator.during_copy([&] { is_unique = storage.is_unique(); });
  copied.mutable_data();
  EXPECT_FALSE(is_unique);
  EXPECT_TRUE(storage.is_unique());
}

TEST(Version, a_writer_that_must_not_wait_copies_data_with_a_pending_copy) {
  FailingAllocator allocator;
  Storage storage = of_text<Storage>("cow", allocator);
  Storage copied = storage.lazy_clone();
  storage.version();
  Materialized how{};
  allocator.during_copy([&] {
    allocator.during_copy(nullptr);
    how = storage.materialize(Wait::never);
  });
  copied.mutable_data();
  EXPECT_EQ(how, Materialized::copied);
  EXPECT_EQ(text_of(storage), "cow");
}

TEST(Version, a_device_in_order_steals_as_without_a_version) {
  for (const CopiesEnd copies_end : {CopiesEnd::in_order, CopiesEnd::later}) {
    QueuedDevice device(copies_end);
    Storage storage = Storage::allocate(64, device);
    Storage clone = storage.lazy_clone();
    const std::byte* const data = std::as_const(storage).data();
    storage.version();
    clone.version();
    EXPECT_EQ(clone.materialize(), Materialized::copied);
    if (copies_end == CopiesEnd::later) {
      device.run();
      EXPECT_EQ(storage.materialize(), Materialized::already_unique);
    } else {
      EXPECT_EQ(storage.materialize(), Materialized::stole) << "the copy is pending";
      storage.version();
      storage.resize(32);
      device.run();
    }
    EXPECT_EQ(std::as_const(storage).data(), data);
    EXPECT_TRUE(storage.is_unique());
  }
}

TEST(Version, of_read_only_memory_changes_with_the_copy) {
  static constexpr char memory[] = "cow";
  int releases = 0;
  Storage storage(Buffer::adopt_read_only(memory, 3, [&](void*) { ++releases; }));
  const Storage clone = storage.lazy_clone();
  const std::uint64_t version = storage.version();
  EXPECT_EQ(storage.version(), version);
  EXPECT_FALSE(storage.is_unique());
  EXPECT_EQ(storage.materialize(), Materialized::copied);
  EXPECT_NE(storage.version(), version);
  EXPECT_TRUE(clone.is_unique());
  const std::uint64_t of_clone = clone.version();
  EXPECT_EQ(clone.version(), of_clone);
  EXPECT_TRUE(clone.is_unique());
  EXPECT_EQ(releases, 0);
}

TEST(Version, of_the_last_owner_of_read_only_memory_counts_no_sharing) {
  static constexpr char memory[] = "cow";
  int releases = 0;
  Storage storage(Buffer::adopt_read_only(memory, 3, [&](void*) { ++releases; }));
  storage.version();
  std::vector<stats::CopyCause> causes;
  {
    const stats::InstalledSink sink(
        [&](const stats::CopyEvent& copy) { causes.push_back(copy.cause); });
    EXPECT_EQ(storage.materialize(), Materialized::copied);
  }
  EXPECT_EQ(releases, 1);
  if (BYRE_STATS) {
    EXPECT_EQ(causes, std::vector{stats::CopyCause::read_only});
  }
}

TEST(Version, ends_when_an_atomic_storage_takes_the_data) {
  FailingAllocator allocator;
  {
    Storage storage = of_text<Storage>("cow", allocator);
    const std::byte* const data = std::as_const(storage).data();
    const std::uint64_t version = storage.version();
    AtomicStorage place(std::move(storage));
    Storage former = place.exchange(Storage());
    EXPECT_NE(former.version(), version);
    EXPECT_EQ(former.use_count(), 1U);
    EXPECT_EQ(former.mutable_data(), data);
    former.version();
    Storage expected = of_text<Storage>("ox", allocator);
    EXPECT_FALSE(place.compare_exchange(expected, std::move(former)));
    EXPECT_EQ(former.use_count(), 1U);
    EXPECT_EQ(former.mutable_data(), data);
  }
  EXPECT_EQ(allocator.blocks_out(), 0U);
}

}  // namespace
}  // namespace byre::test
