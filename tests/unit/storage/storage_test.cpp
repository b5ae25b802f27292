// SPDX-License-Identifier: BSL-1.0
#include <byre/memory/pool.hpp>
#include <byre/storage/storage.hpp>

#include <gtest/gtest.h>
#include <boost/thread/thread.hpp>

#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/at_once.hpp"
#include "support/failing_allocator.hpp"
#include "support/scattered_bytes.hpp"

namespace byre::test {
namespace {

static_assert(sizeof(Storage) == sizeof(void*));
static_assert(std::is_nothrow_copy_constructible_v<Storage>);
static_assert(std::is_nothrow_move_constructible_v<Storage>);

TEST(Storage, copying_the_handle_aliases) {
  Storage storage = Storage::allocate(8);
  Storage alias = storage;
  alias.mutable_data()[0] = std::byte{42};
  EXPECT_EQ(storage.data()[0], std::byte{42});
  EXPECT_EQ(storage, alias);
  EXPECT_EQ(storage.handle_count(), 2U);
  EXPECT_TRUE(storage.is_unique());  // no other storage shares the data
  EXPECT_EQ(storage.use_count(), 1U);
}

TEST(Storage, a_lazy_clone_has_an_identity_of_its_own_and_the_same_data) {
  Storage storage = Storage::allocate(8);
  storage.mutable_data()[0] = std::byte{1};
  Storage clone = storage.lazy_clone();
  EXPECT_NE(storage, clone);
  EXPECT_TRUE(clone.shares_data_with(storage));
  EXPECT_EQ(clone.data(), storage.data());
  EXPECT_EQ(storage.use_count(), 2U);

  storage.mutable_data()[0] = std::byte{2};
  EXPECT_EQ(clone.data()[0], std::byte{1});
  EXPECT_FALSE(clone.shares_data_with(storage));
}

TEST(Storage, a_write_through_one_alias_is_seen_by_all_aliases_and_by_no_clone) {
  Storage storage = Storage::allocate(8);
  storage.mutable_data()[0] = std::byte{1};
  const Storage alias = storage;
  const Storage clone = storage.lazy_clone();
  storage.mutable_data()[0] = std::byte{2};
  EXPECT_EQ(alias.data()[0], std::byte{2});
  EXPECT_EQ(alias.data(), storage.data());
  EXPECT_EQ(clone.data()[0], std::byte{1});
}

TEST(Storage, the_first_writer_copies_and_the_last_owner_keeps_the_data) {
  Storage first = Storage::allocate(8);
  Storage second = first.lazy_clone();
  const std::byte* shared = first.data();
  EXPECT_EQ(second.materialize(), Materialized::copied);
  EXPECT_EQ(first.materialize(), Materialized::already_unique);
  EXPECT_EQ(first.data(), shared);
}

// Of 4 MiB and more a copy is made by turns, and of fresh memory otherwise than of recycled.
TEST(Storage, a_clone_of_many_bytes_is_written_without_another_byte_of_either_changed) {
  constexpr std::size_t turn = std::size_t{4} << 20;
  const std::vector<std::byte> bytes = scattered_bytes(2 * turn + 63);
  for (const std::size_t nbytes :
       {turn - 1, turn, turn + 1, turn + 63, 2 * turn - 1, 2 * turn, 2 * turn + 1, 2 * turn + 63}) {
    default_pool().trim();
    for (const char* memory : {"fresh", "recycled"}) {
      Storage storage = Storage::allocate(nbytes);
      std::memcpy(storage.mutable_data(), bytes.data(), nbytes);
      Storage clone = storage.lazy_clone();
      clone.mutable_data()[0] = bytes[1];
      EXPECT_EQ(clone.data()[0], bytes[1]);
      EXPECT_EQ(std::memcmp(clone.data() + 1, bytes.data() + 1, nbytes - 1), 0)
          << nbytes << ", " << memory;
      EXPECT_EQ(std::memcmp(storage.data(), bytes.data(), nbytes), 0) << nbytes << ", " << memory;
      std::memset(storage.mutable_data(), 0xA5, nbytes);  // what is recycled holds something else
      std::memset(clone.mutable_data(), 0xA5, nbytes);
    }
  }
}

TEST(Storage, an_empty_handle_answers_every_question_and_refuses_a_size) {
  Storage empty;
  EXPECT_FALSE(empty);
  EXPECT_EQ(empty.nbytes(), 0U);
  EXPECT_EQ(empty.data(), nullptr);
  EXPECT_EQ(empty.mutable_data(), nullptr);
  EXPECT_EQ(empty.materialize(), Materialized::already_unique);
  EXPECT_TRUE(empty.is_unique());
  EXPECT_EQ(empty.use_count(), 0U);
  EXPECT_EQ(empty.handle_count(), 0U);
  EXPECT_FALSE(empty.lazy_clone());
  EXPECT_FALSE(empty.shares_data_with(Storage()));
  EXPECT_FALSE(Storage::allocate(1).shares_data_with(empty));
  EXPECT_EQ(&empty.allocator(), &default_allocator());
  EXPECT_EQ(empty.origin(), Origin::allocated);
  EXPECT_THROW(empty.resize(1), InvalidArgument);
}

TEST(Storage, resizing_is_seen_by_every_handle) {
  Storage storage = Storage::allocate(4);
  std::memcpy(storage.mutable_data(), "cows", 4);
  const Storage alias = storage;
  storage.resize(200'000);
  EXPECT_EQ(alias.nbytes(), 200'000U);
  EXPECT_EQ(std::memcmp(alias.data(), "cows", 4), 0);
}

TEST(Storage, only_a_sole_handle_makes_it_smaller) {
  Storage storage = Storage::allocate(8);
  Storage alias = storage;
  EXPECT_THROW(storage.resize(4), NotUnique);
  EXPECT_EQ(alias.nbytes(), 8U);
  storage.resize(8);
  alias = Storage();
  storage.resize(4);
  EXPECT_EQ(storage.nbytes(), 4U);
}

TEST(Storage, resizing_is_refused_while_a_lazy_clone_shares_the_data) {
  Storage storage = Storage::allocate(4);
  Storage clone = storage.lazy_clone();
  EXPECT_THROW(storage.resize(8), NotUnique);
  clone.materialize();
  storage.resize(8);
  EXPECT_EQ(storage.nbytes(), 8U);
  EXPECT_EQ(clone.nbytes(), 4U);
}

TEST(Storage, holds_any_buffer) {
  FailingAllocator allocator;
  Storage storage(Buffer::allocate(16, allocator));
  EXPECT_EQ(&storage.allocator(), &allocator);
  int deleted = 0;
  int value = 7;
  Storage adopted = Storage(Buffer::adopt(&value, sizeof value, [&](void*) { ++deleted; }));
  EXPECT_EQ(adopted.origin(), Origin::adopted);
  EXPECT_EQ(adopted.data(), reinterpret_cast<std::byte*>(&value));
  adopted = Storage();
  EXPECT_EQ(deleted, 1);
}

TEST(Storage, the_last_handle_on_whichever_thread_releases_it) {
  FailingAllocator allocator;
  std::vector<Storage> handles(4);
  run_rounds(
      4, 3000,
      [&](std::size_t) {
        handles.assign(4, Storage::allocate(64, allocator));
        EXPECT_EQ(handles[0].handle_count(), 4U);
      },
      [&](std::size_t thread) {
        const Storage another = handles[thread];
        handles[thread] = Storage();
      },
      [&](std::size_t) { EXPECT_EQ(allocator.blocks_out(), 0U); });
  EXPECT_EQ(allocator.wrong_releases(), 0);
}

TEST(Storage, is_lazily_cloned_from_many_threads_at_once_from_the_first_clone_on) {
  Storage source;
  std::vector<Storage> clones(4);
  run_rounds(
      4, 3000,
      [&](std::size_t round) {
        clones.assign(4, Storage());
        source = Storage::allocate(32);
        std::memset(source.mutable_data(), static_cast<int>(round % 256), 32);
      },
      [&](std::size_t thread) {
        clones[thread] = source.lazy_clone();
        clones[thread].mutable_data()[0] = static_cast<std::byte>(thread);
      },
      [&](std::size_t round) {
        EXPECT_TRUE(source.is_unique());
        EXPECT_EQ(source.data()[0], static_cast<std::byte>(round % 256));
        for (std::size_t thread = 0; thread < 4; ++thread) {
          EXPECT_EQ(clones[thread].data()[0], static_cast<std::byte>(thread));
          EXPECT_EQ(clones[thread].data()[31], static_cast<std::byte>(round % 256));
        }
      });
}

TEST(Storage, a_writable_clone_that_may_not_wait_copies_pending_data) {
  FailingAllocator allocator;
  Halt copy;
  Storage slow = Storage::allocate(100, allocator);
  Storage hasty = slow.lazy_clone();
  allocator.halt_copy(copy);
  boost::thread copier([&] { slow.mutable_data(); });
  copy.await_entry();
  EXPECT_EQ(hasty.writable_clone(Wait::never).nbytes(), 100U);  // one that waits would hang
  copy.let_go();
  copier.join();
}

}  // namespace
}  // namespace byre::test
