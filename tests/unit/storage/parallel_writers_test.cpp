// SPDX-License-Identifier: BSL-1.0
// Threads of a parallel loop that request write access to one storage.
#include <byre/observe/counters.hpp>
#include <byre/observe/events.hpp>
#include <byre/storage/storage.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "support/at_once.hpp"
#include "support/complaint.hpp"
#include "support/failing_allocator.hpp"

namespace byre::test {
namespace {

constexpr std::size_t threads = 4;
constexpr std::size_t storage_nbytes = 64;

Storage filled(std::byte value, Allocator& allocator = default_allocator()) {
  Storage storage = Storage::allocate(storage_nbytes, allocator);
  std::memset(storage.mutable_data(), static_cast<int>(value), storage_nbytes);
  return storage;
}

bool is_filled(const Storage& storage, std::byte value) {
  return std::count(storage.data(), storage.data() + storage_nbytes, value) ==
         std::ptrdiff_t{storage_nbytes};
}

/// A storage and a clone that shares its data.
class ParallelWriters : public testing::Test {
 protected:
  void share() {
    storage = filled(std::byte{7}, allocator);
    clone = storage.lazy_clone();
    copies_before = allocator.copies();
  }
  int copies() const { return allocator.copies() - copies_before; }
  ParallelWriters() { share(); }

  FailingAllocator allocator;
  Storage storage;
  Storage clone;
  int copies_before = 0;
};

/// The results of the threads of a loop. Each thread writes its number into a separate part of the
/// storage.
struct Loop {
  std::array<std::byte*, threads> data{};
  std::array<Materialized, threads> how{};

  /// Each thread calls this for its own part.
  void write(Storage& storage, std::size_t thread) {
    how[thread] = storage.materialize_in_parallel();
    data[thread] = storage.mutable_data_in_parallel();
    std::memset(data[thread] + part_nbytes * thread, static_cast<int>(thread), part_nbytes);
  }
  std::ptrdiff_t number_of(Materialized what) const {
    return std::count(how.begin(), how.end(), what);
  }
  void expect_written(const Storage& storage) const {
    for (std::size_t thread = 0; thread < threads; ++thread) {
      EXPECT_EQ(data[thread], storage.data());
    }
    for (std::size_t at = 0; at < storage_nbytes; ++at) {
      ASSERT_EQ(storage.data()[at], static_cast<std::byte>(at / part_nbytes)) << at;
    }
    EXPECT_TRUE(storage.is_unique());
  }

  static constexpr std::size_t part_nbytes = storage_nbytes / threads;
};

TEST_F(ParallelWriters, a_sink_of_the_copy_may_request_parallel_access_again) {
  if (!BYRE_STATS) {
    GTEST_SKIP() << "a build without stats calls no sink";
  }
  std::byte* asked_again = nullptr;
  const stats::InstalledSink sink(
      [&](const stats::CopyEvent&) { asked_again = storage.mutable_data_in_parallel(); });
  EXPECT_EQ(storage.mutable_data_in_parallel(), asked_again);
}

TEST_F(ParallelWriters, make_one_copy_of_shared_data_for_all_threads) {
  for (const bool has_handles : {false, true}) {
    Loop loop;
    run_rounds(
        threads, 2000, [&](std::size_t) { share(); },
        [&](std::size_t thread) {
          Storage another = has_handles ? storage : Storage();
          Storage& asked = has_handles ? another : storage;
          loop.write(asked, thread);
          // As in real programs, this thread reads while another one still requests access.
          EXPECT_EQ(asked.data(), loop.data[thread]);
          EXPECT_EQ(asked.nbytes(), storage_nbytes);
          EXPECT_TRUE(asked.is_unique());
          EXPECT_FALSE(asked.shares_data_with(clone));
        },
        [&](std::size_t) {
          EXPECT_EQ(copies(), 1);
          EXPECT_EQ(loop.number_of(Materialized::copied), 1);
          EXPECT_EQ(loop.number_of(Materialized::already_unique), threads - 1);
          loop.expect_written(storage);
          EXPECT_TRUE(is_filled(clone, std::byte{7}));
          EXPECT_TRUE(clone.is_unique());
        });
  }
}

TEST_F(ParallelWriters, make_at_most_one_copy_if_the_other_owner_is_dropped) {
  Loop loop;
  run_rounds(
      threads + 1, 2000, [&](std::size_t) { share(); },
      [&](std::size_t thread) {
        if (thread < threads) {
          loop.write(storage, thread);
        } else {
          clone = Storage();
        }
      },
      [&](std::size_t) {
        EXPECT_EQ(copies(), loop.number_of(Materialized::copied));
        loop.expect_written(storage);
        EXPECT_EQ(allocator.blocks_out(), 1U);
      });
}

TEST_F(ParallelWriters, copy_unshared_data_once_if_read_only_and_else_never) {
  const std::array<std::byte, storage_nbytes> borrowed{};
  for (const bool is_borrowed : {false, true}) {
    clone = Storage();
    storage = is_borrowed ? Storage(Buffer::borrow(borrowed.data(), storage_nbytes, allocator))
                          : filled(std::byte{7}, allocator);
    Loop loop;
    at_once(threads, [&](std::size_t thread) { loop.write(storage, thread); });
    EXPECT_EQ(copies(), is_borrowed ? 1 : 0);
    EXPECT_EQ(loop.number_of(Materialized::copied), is_borrowed ? 1 : 0);
    loop.expect_written(storage);
    EXPECT_EQ(borrowed[storage_nbytes - 1], std::byte{0});
  }
}

TEST_F(ParallelWriters, each_thread_attempts_the_copy_until_one_succeeds) {
  for (const bool all_fail : {false, true}) {
    share();
    std::array<bool, threads> has_failed{};
    if (all_fail) {
      allocator.during_copy([] { throw FailingAllocator::CopyFailed(); });
    } else {
      allocator.fail_allocation(0);
    }
    at_once(threads, [&](std::size_t thread) {
      try {
        storage.mutable_data_in_parallel()[thread] = static_cast<std::byte>(thread);
      } catch (const std::exception&) {
        has_failed[thread] = true;
      }
    });
    allocator.during_copy(nullptr);
    EXPECT_EQ(std::count(has_failed.begin(), has_failed.end(), true),
              all_fail ? std::ptrdiff_t{threads} : 1);
    EXPECT_EQ(copies(), all_fail ? int{threads} : 1);
    EXPECT_EQ(storage.shares_data_with(clone), all_fail);
    for (std::size_t at = 0; at < storage_nbytes; ++at) {
      const bool is_written = at < threads && !has_failed[at];
      EXPECT_EQ(storage.data()[at], is_written ? static_cast<std::byte>(at) : std::byte{7});
    }
    EXPECT_TRUE(is_filled(clone, std::byte{7}));
    EXPECT_EQ(storage.materialize_in_parallel(),
              all_fail ? Materialized::copied : Materialized::already_unique);
  }
}

/// A copy by a writer of `clone` is halted; `storage` is the last owner of the source.
class UnfinishedCopy : public ParallelWriters {
 protected:
  UnfinishedCopy() {
    allocator.halt_copy(copy_);
    copier_ = std::thread([this] { clone.mutable_data(); });
    copy_.await_entry();
  }
  ~UnfinishedCopy() override {
    copy_.let_go();
    copier_.join();
  }

  Halt copy_;
  std::thread copier_;
};

TEST_F(UnfinishedCopy, makes_parallel_writers_wait_until_one_of_them_steals) {
  if (!BYRE_STATS) {
    GTEST_SKIP() << "without stats, a waiting writer cannot be detected";
  }
  const std::byte* const original = storage.data();
  Loop loop;
  const auto waits = stats::snapshot().waits;
  std::thread writers(
      [&] { at_once(threads, [&](std::size_t thread) { loop.write(storage, thread); }); });
  await([&] { return stats::snapshot().waits != waits; });
  copy_.let_go();
  writers.join();
  EXPECT_EQ(loop.number_of(Materialized::stole), 1);
  EXPECT_EQ(loop.number_of(Materialized::already_unique), threads - 1);
  EXPECT_EQ(storage.data(), original);
  loop.expect_written(storage);
}

TEST_F(UnfinishedCopy, does_not_delay_writers_with_wait_never) {
  at_once(threads, [&](std::size_t thread) {
    if (thread % 2 == 0) {
      storage.mutable_data_in_parallel(Wait::never)[thread] = std::byte{1};
    } else {
      storage.mutable_range_in_parallel(thread, 1, Wait::never)[0] = std::byte{1};
    }
  });
  EXPECT_EQ(copies(), 2);
  EXPECT_EQ(std::count(storage.data(), storage.data() + storage_nbytes, std::byte{1}), 4);
}

TEST_F(ParallelWriters, allow_allocators_that_write_other_storages_in_parallel) {
  std::vector<Storage> others;  // some share a lock with `storage`
  std::vector<Storage> clones;
  for (int i = 0; i < 1000; ++i) {
    others.push_back(filled(std::byte{6}));
    clones.push_back(others.back().lazy_clone());
  }
  allocator.during_copy([&] {
    for (Storage& other : others) {
      other.mutable_data_in_parallel()[0] = std::byte{1};
    }
  });
  at_once(threads,
          [&](std::size_t thread) { storage.mutable_data_in_parallel()[thread] = std::byte{1}; });
  EXPECT_EQ(copies(), 1);
  EXPECT_EQ(others.back().data()[0], std::byte{1});
  EXPECT_EQ(clones.back().data()[0], std::byte{6});
}

TEST_F(ParallelWriters, reject_ranges_that_exceed_the_storage) {
  const std::string refused = complaint_of<InvalidArgument>(
      [&] { (void)storage.mutable_range_in_parallel(1, storage_nbytes); });
  EXPECT_TRUE(says(refused, "64 bytes from byte 1 on", "has 64 bytes"));
  EXPECT_TRUE(storage.shares_data_with(clone)) << "a rejected call must change nothing";

  at_once(threads, [&](std::size_t thread) {
    const auto range = storage.mutable_range_in_parallel(thread, storage_nbytes / 2);
    EXPECT_EQ(range.data(), storage.data() + thread);
    EXPECT_EQ(range.size(), storage_nbytes / 2);
    range[0] = static_cast<std::byte>(thread);
  });
  EXPECT_EQ(copies(), 1);
  EXPECT_EQ(storage.data()[3], std::byte{3});
}

TEST_F(ParallelWriters, of_an_empty_storage_get_a_null_pointer) {
  for (Storage none : {Storage(), Storage(Buffer())}) {
    at_once(threads, [&](std::size_t) {
      EXPECT_EQ(none.mutable_data_in_parallel(), nullptr);
      EXPECT_EQ(none.materialize_in_parallel(), Materialized::already_unique);
    });
    EXPECT_TRUE(none.mutable_range_in_parallel(0, 0).empty());
    EXPECT_THROW((void)none.mutable_range_in_parallel(0, 1), InvalidArgument);
  }
}

}  // namespace
}  // namespace byre::test
