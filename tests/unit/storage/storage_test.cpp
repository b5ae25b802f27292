// SPDX-License-Identifier: BSL-1.0
// Promises about storages by name. stress/programs compares all else with a model: storage/random_programs_test.cpp.
#include <byre/memory/pool.hpp>
#include <byre/storage/storage.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <type_traits>
#include <vector>

#include "support/at_once.hpp"
#include "support/failing_allocator.hpp"
#include "support/scattered_bytes.hpp"

namespace byre::test {
namespace {

static_assert(sizeof(Storage) == sizeof(void*));
static_assert(std::is_nothrow_copy_constructible_v<Storage>);
static_assert(std::is_nothrow_move_constructible_v<Storage>);

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

}  // namespace
}  // namespace byre::test
