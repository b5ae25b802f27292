// SPDX-License-Identifier: BSL-1.0
// A checked build ends the program where shared data is written through a pointer from before a lazy clone,
// and says where that was taken and where the clone was made. Compiled in checked builds only. The random programs of
// storages write what a trap must leave alone.
#include <byre/memory/host_allocators.hpp>
#include <byre/memory/pages.hpp>
#include <byre/memory/pool.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/storage.hpp>

#include <gtest/gtest.h>
#include <boost/thread/thread.hpp>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stale_pointer.hpp"
#include "support/at_once.hpp"
#include "support/failing_allocator.hpp"
#include "support/fake_pages.hpp"
#include "support/temporary_folder.hpp"
#include "support/user_allocators.hpp"

namespace byre::test {
namespace {

void change(std::byte& byte) {
  byte ^= std::byte{1};
}

TEST(WriteTrapDeathTest, a_write_to_shared_pages_names_byte_pointer_and_clone) {
  StalePointer stale(Storage::allocate(paged));
  EXPECT_DEATH(stale.pointer[0] = {}, fault(0, paged, StalePointer::lines));
  EXPECT_DEATH(stale.pointer[4321] = {}, fault(4321, paged, StalePointer::lines));
  EXPECT_DEATH(stale.pointer[paged - 1] = {}, fault(paged - 1, paged, StalePointer::lines));

  StalePointer with_room(Storage::allocate(paged + 1));
  constexpr std::size_t last = paged + page_nbytes - 1;
  EXPECT_DEATH(with_room.pointer[last] = {}, fault(last, paged + 1, StalePointer::lines));

  stale.clone = Storage();
  EXPECT_DEATH(*stale.pointer = {}, fault(0, paged, StalePointer::lines)) << "stale without clones";
}

TEST(WriteTrapDeathTest, a_write_to_few_shared_bytes_is_found_by_the_next_write) {
  for (const std::size_t byte : {std::size_t{0}, small / 2, small - 1}) {
    StalePointer stale(Storage::allocate(small));
    const int found = __LINE__ + 1;
    const auto write = [](Storage& storage) { storage.materialize(); };
    const auto report = change_found(small, at_line(found), StalePointer::lines);
    EXPECT_DEATH((change(stale.pointer[byte]), write(stale.storage)), report);
    EXPECT_DEATH((change(stale.pointer[byte]), write(stale.clone)), report);
    // The one that copies, then the one that is left.
    EXPECT_DEATH((stale.clone.materialize(), change(stale.pointer[byte]), write(stale.storage)),
                 report);
  }
}

TEST(WriteTrapDeathTest, a_write_to_few_shared_bytes_is_found_where_an_owner_leaves) {
  const auto report = change_found(small, "where an owner is destroyed", StalePointer::lines);
  StalePointer stale(Storage::allocate(small));
  EXPECT_DEATH((change(*stale.pointer), stale.storage = Storage()), report);
  EXPECT_DEATH((change(*stale.pointer), stale.clone = Storage()), report);
  EXPECT_DEATH((stale.clone = Storage(), change(*stale.pointer), stale.storage = Storage()),
               report);
}

TEST(WriteTrap, a_pointer_that_is_asked_for_again_is_good) {
  for (const std::size_t nbytes : {small, paged}) {
    StalePointer last(Storage::allocate(nbytes));
    last.clone = Storage();
    change(*last.storage.mutable_data());  // found alone

    StalePointer both(Storage::allocate(nbytes));
    change(*both.storage.mutable_data());  // copied
    change(*both.clone.mutable_data());    // stole
    const Storage again = both.clone.lazy_clone();
    change(*both.clone.mutable_data());
  }
}

TEST(WriteTrapDeathTest, the_last_pointer_before_the_first_clone_is_named) {
  Storage storage = Storage::allocate(paged);
  storage.mutable_data();
  Lines lines{__LINE__ + 1, __LINE__ + 2};
  std::byte* pointer = storage.mutable_data();
  Storage first = storage.lazy_clone();
  const Storage second = first.lazy_clone();
  EXPECT_DEATH(*pointer = {}, fault(0, paged, lines));

  StalePointer summed(Storage::allocate(small));
  const Storage third = summed.storage.lazy_clone();
  EXPECT_DEATH((change(*summed.pointer), summed.clone = Storage()),
               change_found(small, "where an owner is destroyed", StalePointer::lines));

  lines = {__LINE__ + 1, __LINE__ + 2};
  pointer = storage.mutable_data();  // a copy
  const Storage of_copy = storage.lazy_clone();
  EXPECT_DEATH(*pointer = {}, fault(0, paged, lines));

  Storage sole = Storage::allocate(paged);
  { const Storage gone = sole.lazy_clone(); }
  lines = {__LINE__ + 1, __LINE__ + 2};
  pointer = sole.mutable_data();
  const Storage of_sole = sole.lazy_clone();
  EXPECT_DEATH(*pointer = {}, fault(0, paged, lines));

  const std::vector<std::byte> bytes(paged);
  Storage read_only = Storage(Buffer::borrow(bytes.data(), bytes.size()));
  lines = {__LINE__ + 1, __LINE__ + 2};
  pointer = read_only.mutable_data();
  const Storage of_read_only = read_only.lazy_clone();
  EXPECT_DEATH(*pointer = {}, fault(0, paged, lines));
}

TEST(WriteTrapDeathTest, a_pointer_that_nobody_asked_for_is_said_to_be_one) {
  const Storage storage = Storage::allocate(paged);
  const Storage clone = storage.lazy_clone();
  EXPECT_DEATH(*const_cast<std::byte*>(storage.data()) = {},
               "The pointer was taken by no call of mutable_data\\(\\), the clone made at");
}

TEST(WriteTrap, a_pointer_that_was_stolen_is_good) {
  for (bool has_stolen = false; !has_stolen;) {  // it may come late, and is alone then
    FailingAllocator allocator;
    Storage storage = Storage::allocate(small, allocator);
    Storage clone = storage.lazy_clone();
    Halt copy;
    allocator.halt_copy(copy);
    boost::thread copier([&] { clone.mutable_data(); });
    copy.await_entry();
    boost::thread ends_copy([&] { copy.let_go(); });
    has_stolen = storage.materialize() == Materialized::stole;
    change(const_cast<std::byte&>(*storage.data()));  // as by a pointer from mutable_data()
    storage.materialize();
    ends_copy.join();
    copier.join();
  }
}

TEST(WriteTrap, many_threads_clone_at_once_from_the_first_clone_on) {
  for (int round = 0; round < 8; ++round) {
    Storage storage = Storage::allocate(std::size_t{1} << 20, aligned_allocator());
    std::memset(storage.mutable_data(), 1, storage.nbytes());  // a sum takes a while
    at_once(4, [&](std::size_t) { (void)storage.lazy_clone(); });
    change(*storage.mutable_data());
  }
}

TEST(WriteTrapDeathTest, two_changes_that_are_alike_do_not_cancel_out) {
  StalePointer stale(Storage::allocate(small));
  for (std::size_t byte = 0; byte < 8; ++byte) {
    for (const auto bit : {std::byte{0x01}, std::byte{0x80}}) {
      EXPECT_DEATH(
          (stale.pointer[byte] ^= bit, stale.pointer[byte + 8] ^= bit, stale.storage.materialize()),
          "has changed since");
    }
  }
}

TEST(WriteTrap, looks_at_no_byte_of_others) {
  const std::unique_ptr<std::byte[]> bytes(new std::byte[small]);
  StalePointer stale(Storage(Buffer::adopt(bytes.get(), small - 3, [](void*) {})));
  change(bytes[small - 3]);
  change(*stale.storage.mutable_data());

  DeviceAllocator device;
  const Storage there = Storage::allocate(paged, device);
  EXPECT_TRUE(there.lazy_clone().shares_data_with(there));
}

TEST(WriteTrap, a_mapped_file_may_change) {
  const TemporaryFolder folder;
  write_file(folder / "file", "before");
  const Storage mapped = Storage::map_file(folder / "file");
  Storage clone = mapped.lazy_clone();
  std::FILE* const file = std::fopen((folder / "file").c_str(), "r+");
  std::fputs("after!", file);
  std::fclose(file);
  EXPECT_EQ(*clone.mutable_data(), std::byte{'a'});
}

TEST(WriteTrapDeathTest, a_place_outlives_the_library_that_it_is_in) {
  std::string file(100, 'x');
  file += "/taken.cpp";
  Storage storage = Storage::allocate(paged);
  std::byte* const pointer = storage.mutable_data(Wait::allowed, {file.c_str(), 7});
  file.replace(file.find("taken"), 5, "freed");
  const Storage clone = storage.lazy_clone({"cloned.cpp", 8});
  EXPECT_DEATH(*pointer = {}, "taken at x{81}/taken.cpp:7, the clone made at cloned.cpp:8\\.");
}

TEST(WriteTrapDeathTest, memory_of_others_is_summed_and_never_protected) {
  alignas(page_nbytes) static std::byte bytes[paged];
  FakePages pages;
  RecyclingPool pool(0, pages);
  StalePointer of_others[] = {
      StalePointer(Storage(Buffer::adopt(bytes, sizeof bytes, [](void*) {}))),
      StalePointer(Storage::allocate(paged, aligned_allocator())),
      StalePointer(Storage::allocate(paged, pool))};
  for (StalePointer& stale : of_others) {
    EXPECT_DEATH((change(*stale.pointer), stale.clone = Storage()),
                 change_found(paged, "where an owner is destroyed", StalePointer::lines));
  }
}

TEST(WriteTrapDeathTest, more_than_a_megabyte_of_others_is_not_watched) {
  constexpr std::size_t most = std::size_t{1} << 20;
  StalePointer summed(Storage::allocate(most, aligned_allocator()));
  EXPECT_DEATH((change(summed.pointer[most - 1]), summed.clone = Storage()), "has changed since");

  StalePointer unwatched(Storage::allocate(most + 1, aligned_allocator()));
  change(*unwatched.pointer);
}

TEST(WriteTrapDeathTest, what_is_compared_is_what_was_cloned) {
  StalePointer stale(Storage::allocate(small));
  stale.clone = Storage();
  stale.storage.resize(small / 2);
  EXPECT_DEATH((change(*stale.pointer), stale.storage.materialize()),
               change_found(small, "at .*", StalePointer::lines));
  stale.storage.materialize();
}

TEST(WriteTrapDeathTest, data_in_pages_is_protected_and_so_are_overlays) {
  constexpr std::size_t nbytes = 2 * least_paged_nbytes - 3;  // the last page is all its own
  const StalePointer stale(Storage::allocate(nbytes, paged_allocator()));
  EXPECT_DEATH(stale.pointer[5] = std::byte{1}, fault(5, nbytes, StalePointer::lines));
  const StalePointer overlay(stale.storage.lazy_clone());
  ASSERT_EQ(overlay.storage.origin(), Origin::overlay);
  EXPECT_DEATH(overlay.pointer[7] = std::byte{1}, fault(7, nbytes, StalePointer::lines));
}

TEST(WriteTrapDeathTest, pointers_to_a_source_are_good_until_it_is_shared) {
  Storage source = Storage::allocate(least_paged_nbytes, paged_allocator());
  std::byte* const pointer = source.mutable_data();
  std::vector<Storage> clones;
  for (int round = 0; round < 3; ++round) {  // the last one moves both sides to a new file
    clones.push_back(source.writable_clone());
    std::memset(pointer, round, least_paged_nbytes);
    std::memset(clones.back().mutable_data(), round, page_nbytes);
  }
  const Lines lines{__LINE__ + 1, __LINE__ + 2};
  clones.push_back(source.writable_clone());
  std::optional<Storage> lazy = source.lazy_clone();
  EXPECT_DEATH(*pointer = {}, fault(0, least_paged_nbytes, lines));
  lazy.reset();
  EXPECT_EQ(source.mutable_data(), pointer);
  change(*pointer);
}

}  // namespace
}  // namespace byre::test
