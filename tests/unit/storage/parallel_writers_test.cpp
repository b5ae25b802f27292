// SPDX-License-Identifier: BSL-1.0
// Threads of a parallel loop that all ask one storage for write access.
#include <byre/observe/counters.hpp>
#include <byre/observe/events.hpp>
#include <byre/storage/storage.hpp>

#include <gtest/gtest.h>
#include <boost/atomic/atomic.hpp>
#include <boost/thread/thread.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>
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

/// What each thread of a loop was told, and where it wrote its number.
struct Loop {
  std::array<std::byte*, threads> data{};
  std::array<Materialized, threads> how{};

  /// By each thread: its own part.
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

TEST(ParallelWriters, are_told_of_a_copy_once_the_storage_may_be_asked_again) {
  if (!BYRE_STATS) {
    GTEST_SKIP() << "nobody is told";
  }
  Storage storage = filled(std::byte{7});
  const Storage clone = storage.lazy_clone();
  std::byte* asked_again = nullptr;
  const stats::InstalledSink sink(
      [&](const stats::CopyEvent&) { asked_again = storage.mutable_data_in_parallel(); });
  EXPECT_EQ(storage.mutable_data_in_parallel(), asked_again);
}

TEST(ParallelWriters, of_shared_data_make_one_copy_and_each_writes_its_part_of_it) {
  FailingAllocator allocator;
  Storage storage;
  Storage clone;
  Loop loop;
  int copies = 0;
  run_rounds(
      threads, 2000,
      [&](std::size_t) {
        storage = filled(std::byte{7}, allocator);
        clone = storage.lazy_clone();
        copies = allocator.copies();
      },
      [&](std::size_t thread) { loop.write(storage, thread); },
      [&](std::size_t) {
        EXPECT_EQ(allocator.copies() - copies, 1);
        EXPECT_EQ(loop.number_of(Materialized::copied), 1);
        EXPECT_EQ(loop.number_of(Materialized::already_unique), threads - 1);
        loop.expect_written(storage);
        EXPECT_TRUE(is_filled(clone, std::byte{7}));
        EXPECT_TRUE(clone.is_unique());
      });
}

TEST(ParallelWriters, may_ask_by_a_handle_of_their_own_each) {
  std::vector<Storage> handles;
  Storage clone;
  Loop loop;
  run_rounds(
      threads, 2000,
      [&](std::size_t) {
        handles.assign(threads, filled(std::byte{7}));
        clone = handles[0].lazy_clone();
      },
      [&](std::size_t thread) {
        Storage another = handles[thread];
        loop.write(another, thread);
      },
      [&](std::size_t) {
        EXPECT_EQ(handles[0].handle_count(), threads);
        EXPECT_EQ(loop.number_of(Materialized::copied), 1);
        loop.expect_written(handles[1]);
        EXPECT_TRUE(is_filled(clone, std::byte{7}));
      });
}

TEST(ParallelWriters, of_data_that_nobody_shares_copy_nothing) {
  FailingAllocator allocator;
  Storage storage = filled(std::byte{7}, allocator);
  const std::byte* const before = storage.data();
  Loop loop;
  at_once(threads, [&](std::size_t thread) { loop.write(storage, thread); });
  EXPECT_EQ(allocator.copies(), 0);
  EXPECT_EQ(loop.number_of(Materialized::already_unique), threads);
  EXPECT_EQ(storage.data(), before);
  loop.expect_written(storage);
}

TEST(ParallelWriters, keep_the_original_or_copy_once_while_the_other_owner_leaves) {
  FailingAllocator allocator;
  Storage storage;
  Storage clone;
  Loop loop;
  int copies = 0;
  run_rounds(
      threads + 1, 2000,
      [&](std::size_t) {
        storage = filled(std::byte{7}, allocator);
        clone = storage.lazy_clone();
        copies = allocator.copies();
      },
      [&](std::size_t thread) {
        if (thread < threads) {
          loop.write(storage, thread);
        } else {
          clone = Storage();
        }
      },
      [&](std::size_t) {
        EXPECT_EQ(allocator.copies() - copies, loop.number_of(Materialized::copied));
        EXPECT_GE(loop.number_of(Materialized::already_unique), std::ptrdiff_t{threads} - 1);
        loop.expect_written(storage);
        EXPECT_EQ(allocator.blocks_out(), 1U);
      });
  storage = Storage();
  EXPECT_EQ(allocator.blocks_out(), 0U);
}

// Two loops over storages that share data: of all their threads one copies, and one keeps it.
TEST(ParallelWriters, of_two_storages_that_share_data_are_two_writers) {
  FailingAllocator allocator;
  std::array<Storage, 2> storages;
  int copies = 0;
  run_rounds(
      threads, 2000,
      [&](std::size_t) {
        storages[0] = filled(std::byte{7}, allocator);
        storages[1] = storages[0].lazy_clone();
        copies = allocator.copies();
      },
      [&](std::size_t thread) {
        storages[thread % 2].mutable_data_in_parallel()[thread] = static_cast<std::byte>(thread);
      },
      [&](std::size_t) {
        EXPECT_EQ(allocator.copies() - copies, 1);
        for (std::size_t thread = 0; thread < threads; ++thread) {
          EXPECT_EQ(storages[thread % 2].data()[thread], static_cast<std::byte>(thread));
          EXPECT_EQ(storages[1 - thread % 2].data()[thread], std::byte{7});
        }
      });
}

TEST(ParallelWriters, try_one_after_another_where_copies_fail) {
  FailingAllocator allocator;
  Storage storage = filled(std::byte{7}, allocator);
  const Storage clone = storage.lazy_clone();
  std::array<bool, threads> has_failed{};
  const auto write = [&](std::size_t thread) {
    try {
      storage.mutable_data_in_parallel()[thread] = static_cast<std::byte>(thread);
    } catch (const OutOfMemory&) {
      has_failed[thread] = true;
    }
  };

  allocator.fail_allocation(0);
  at_once(threads, write);
  EXPECT_EQ(std::count(has_failed.begin(), has_failed.end(), true), 1);
  EXPECT_EQ(allocator.copies(), 1);
  for (std::size_t at = 0; at < storage_nbytes; ++at) {
    const bool is_written = at < threads && !has_failed[at];
    EXPECT_EQ(storage.data()[at], is_written ? static_cast<std::byte>(at) : std::byte{7});
  }
  EXPECT_TRUE(is_filled(clone, std::byte{7}));
}

TEST(ParallelWriters, that_all_fail_leave_the_storage_a_lazy_clone_that_can_be_written) {
  FailingAllocator allocator;
  Storage storage = filled(std::byte{7}, allocator);
  const Storage clone = storage.lazy_clone();
  boost::atomic<int> failures{0};
  allocator.during_copy([] { throw FailingAllocator::CopyFailed(); });
  at_once(threads, [&](std::size_t) {
    try {
      storage.mutable_data_in_parallel();
    } catch (const FailingAllocator::CopyFailed&) {
      ++failures;
    }
  });
  allocator.during_copy(nullptr);
  EXPECT_EQ(failures, int{threads});
  EXPECT_EQ(storage.use_count(), 2U);
  EXPECT_TRUE(storage.shares_data_with(clone));
  EXPECT_EQ(storage.materialize_in_parallel(), Materialized::copied);
  EXPECT_EQ(storage.materialize(), Materialized::already_unique);
}

TEST(ParallelWriters, come_after_the_one_that_copies) {
  FailingAllocator allocator;
  Storage storage = filled(std::byte{7}, allocator);
  const Storage clone = storage.lazy_clone();
  Halt copy;
  allocator.halt_copy(copy);
  boost::thread first([&] { storage.mutable_data_in_parallel(); });
  copy.await_entry();
  boost::atomic<int> arrived{0};
  Materialized how{};
  boost::thread second([&] {
    how = storage.materialize_in_parallel();
    ++arrived;
  });
  for (int i = 0; i < 1000; ++i) {
    boost::this_thread::yield();
    ASSERT_EQ(arrived, 0);
  }
  copy.let_go();
  first.join();
  second.join();
  EXPECT_EQ(how, Materialized::already_unique);
  EXPECT_EQ(allocator.copies(), 1);
}

/// Whoever waits for the copy of another storage that shares the data.
class UnfinishedCopy : public testing::Test {
 protected:
  UnfinishedCopy() {
    allocator_.halt_copy(copy_);
    copier_ = boost::thread([this] { copied_.mutable_data(); });
    copy_.await_entry();
  }
  ~UnfinishedCopy() override { copier_.join(); }

  FailingAllocator allocator_;
  Storage storage_ = filled(std::byte{7}, allocator_);
  Storage copied_ = storage_.lazy_clone();
  Halt copy_;
  boost::thread copier_;
};

TEST_F(UnfinishedCopy, is_awaited_by_parallel_writers_of_which_one_steals) {
  const std::byte* const original = storage_.data();
  Loop loop;
  const auto waits = stats::snapshot().waits;
  boost::thread writers(
      [&] { at_once(threads, [&](std::size_t thread) { loop.write(storage_, thread); }); });
  if (BYRE_STATS) {
    await([&] { return stats::snapshot().waits != waits; });
  }
  copy_.let_go();
  writers.join();
  // Without stats nobody knows whether a writer came before the copy ended.
  EXPECT_EQ(loop.number_of(Materialized::stole) + loop.number_of(Materialized::already_unique),
            threads);
  EXPECT_LE(loop.number_of(Materialized::stole), 1);
  if (BYRE_STATS) {
    EXPECT_EQ(loop.number_of(Materialized::stole), 1);
  }
  EXPECT_EQ(storage_.data(), original);
  loop.expect_written(storage_);
}

TEST_F(UnfinishedCopy, is_not_awaited_by_parallel_writers_that_may_not_wait) {
  at_once(threads, [&](std::size_t thread) {
    if (thread % 2 == 0) {
      storage_.mutable_data_in_parallel(Wait::never)[thread] = std::byte{1};
    } else {
      storage_.mutable_range_in_parallel(thread, 1, Wait::never)[0] = std::byte{1};
    }
  });
  EXPECT_EQ(allocator_.copies(), 2);
  EXPECT_EQ(std::count(storage_.data(), storage_.data() + storage_nbytes, std::byte{1}), 4);
  copy_.let_go();
}

TEST(ParallelWriters, may_have_an_allocator_that_writes_other_storages_in_parallel) {
  FailingAllocator allocator;
  Storage storage = filled(std::byte{7}, allocator);
  const Storage clone = storage.lazy_clone();
  std::vector<Storage> others;  // enough for some to be next to it in whatever there is for locks
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
  EXPECT_EQ(allocator.copies(), 1);
  EXPECT_EQ(others.back().data()[0], std::byte{1});
  EXPECT_EQ(clones.back().data()[0], std::byte{6});
}

TEST(ParallelWriters, take_ranges_that_are_the_storage_s) {
  FailingAllocator allocator;
  Storage storage = filled(std::byte{7}, allocator);
  const Storage clone = storage.lazy_clone();
  const std::string refused = complaint_of<InvalidArgument>(
      [&] { (void)storage.mutable_range_in_parallel(1, storage_nbytes); });
  EXPECT_TRUE(says(refused, "64 bytes from byte 1 on", "of 64 bytes"));
  EXPECT_TRUE(storage.shares_data_with(clone)) << "nothing has changed";

  at_once(threads, [&](std::size_t thread) {
    const auto range = storage.mutable_range_in_parallel(thread, storage_nbytes / 2);
    EXPECT_EQ(range.data(), storage.data() + thread);
    EXPECT_EQ(range.size(), storage_nbytes / 2);
    range[0] = static_cast<std::byte>(thread);
  });
  EXPECT_EQ(allocator.copies(), 1);
  EXPECT_EQ(storage.data()[3], std::byte{3});
  EXPECT_TRUE(storage.mutable_range_in_parallel(storage_nbytes, 0).empty());
}

// What natural code does beside a thread that asks late.
TEST(ParallelWriters, may_read_once_they_have_asked) {
  Storage storage;
  Storage clone;
  run_rounds(
      threads, 1000,
      [&](std::size_t) {
        storage = filled(std::byte{7});
        clone = storage.lazy_clone();
      },
      [&](std::size_t thread) {
        std::byte* const data = storage.mutable_data_in_parallel();
        EXPECT_EQ(storage.data(), data);
        EXPECT_EQ(storage.nbytes(), storage_nbytes);
        EXPECT_TRUE(storage.is_unique());
        EXPECT_FALSE(storage.shares_data_with(clone));
        EXPECT_EQ(storage.data()[thread], std::byte{7});
      },
      [](std::size_t) {});
}

TEST(ParallelWriters, of_no_storage_and_of_no_bytes_get_none) {
  Storage none;
  EXPECT_EQ(none.mutable_data_in_parallel(), nullptr);
  EXPECT_EQ(none.materialize_in_parallel(), Materialized::already_unique);
  EXPECT_TRUE(none.mutable_range_in_parallel(0, 0).empty());
  EXPECT_THROW((void)none.mutable_range_in_parallel(0, 1), InvalidArgument);
  Storage empty{Buffer()};
  at_once(threads, [&](std::size_t) {
    EXPECT_EQ(empty.mutable_data_in_parallel(), nullptr);
    EXPECT_EQ(empty.materialize_in_parallel(), Materialized::already_unique);
  });
}

TEST(ParallelWriters, may_be_the_first_to_copy_what_is_never_written_in_place) {
  const std::array<std::byte, storage_nbytes> lent{};
  Storage storage = Storage(Buffer::borrow(lent.data(), storage_nbytes));
  Loop loop;
  at_once(threads, [&](std::size_t thread) { loop.write(storage, thread); });
  EXPECT_EQ(loop.number_of(Materialized::copied), 1);
  loop.expect_written(storage);
  EXPECT_EQ(lent[storage_nbytes - 1], std::byte{0});
}

}  // namespace
}  // namespace byre::test
