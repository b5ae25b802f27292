// SPDX-License-Identifier: BSL-1.0
// A checked build ends the program if shared data is written through a pointer that was taken
// before a lazy clone, and reports both call sites. Compiled only in checked builds. The random
// programs of storages also test valid writes, at which a trap must not end the program.
#include <byre/memory/host_allocators.hpp>
#include <byre/memory/pages.hpp>
#include <byre/memory/pool.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/atomic_buffer.hpp>
#include <byre/storage/storage.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>
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

TEST(WriteTrapDeathTest, a_report_of_a_write_to_pages_names_byte_pointer_and_clone) {
  StalePointer stale(Storage::allocate(paged));
  EXPECT_DEATH(stale.pointer[0] = {}, fault_report(0, paged, StalePointer::lines));
  EXPECT_DEATH(stale.pointer[4321] = {}, fault_report(4321, paged, StalePointer::lines));
  EXPECT_DEATH(stale.pointer[paged - 1] = {}, fault_report(paged - 1, paged, StalePointer::lines));

  StalePointer with_room(Storage::allocate(paged + 1));
  constexpr std::size_t last = paged + page_nbytes - 1;
  EXPECT_DEATH(with_room.pointer[last] = {}, fault_report(last, paged + 1, StalePointer::lines));

  stale.clone = Storage();
  EXPECT_DEATH(*stale.pointer = {}, fault_report(0, paged, StalePointer::lines))
      << "expected a report, although no clone remains";
}

TEST(WriteTrapDeathTest, a_write_through_a_pointer_from_before_version_is_reported) {
  for (const std::size_t nbytes : {small, paged}) {
    Storage storage = Storage::allocate(nbytes);
    const Lines lines{__LINE__ + 1, __LINE__ + 2};
    std::byte* const stale = storage.mutable_data();
    storage.version();
    EXPECT_DEATH((change(*stale), storage.mutable_data()),
                 "before the lazy clone or version\\(\\) " + at_line(lines.cloned));
    change(*storage.mutable_data());
    storage.version();
    EXPECT_DEATH((change(*stale), storage = Storage()), "through a stale pointer");
    storage.resize(nbytes / 2);
    change(*storage.mutable_data());
  }
}

TEST(WriteTrapDeathTest, a_stale_write_to_small_data_is_found_by_the_next_write) {
  for (const std::size_t byte : {std::size_t{0}, small / 2, small - 1}) {
    StalePointer stale(Storage::allocate(small));
    const int found = __LINE__ + 1;
    const auto write = [](Storage& storage) { storage.materialize(); };
    const auto report = change_report(small, at_line(found), StalePointer::lines);
    EXPECT_DEATH((change(stale.pointer[byte]), write(stale.storage)), report);
    EXPECT_DEATH((change(stale.pointer[byte]), write(stale.clone)), report);
    // After the clone has copied, the storage is the only owner.
    EXPECT_DEATH((stale.clone.materialize(), change(stale.pointer[byte]), write(stale.storage)),
                 report);
  }
}

TEST(WriteTrapDeathTest, a_stale_write_to_small_data_is_found_by_destroying_an_owner) {
  const auto report = change_report(small, "when an owner was destroyed", StalePointer::lines);
  StalePointer stale(Storage::allocate(small));
  EXPECT_DEATH((change(*stale.pointer), stale.storage = Storage()), report);
  EXPECT_DEATH((change(*stale.pointer), stale.clone = Storage()), report);
  EXPECT_DEATH((stale.clone = Storage(), change(*stale.pointer), stale.storage = Storage()),
               report);
}

TEST(WriteTrapDeathTest, a_stale_write_to_a_stored_buffer_is_reported) {
  Buffer buffer = Buffer::allocate(paged);
  Lines lines{__LINE__ + 1, __LINE__ + 2};
  std::byte* const pointer = buffer.mutable_data();
  AtomicBuffer place(std::move(buffer));
  EXPECT_DEATH(*pointer = {}, fault_report(0, paged, lines));

  buffer = place.exchange(Buffer());
  change(*buffer.mutable_data());
  lines = {__LINE__ - 1, __LINE__ + 1};
  place.store(std::move(buffer));
  EXPECT_DEATH(*pointer = {}, fault_report(0, paged, lines));
}

TEST(WriteTrap, a_lender_may_write_memory_in_an_atomic_buffer) {
  std::byte memory[small] = {};
  AtomicBuffer place(Buffer::borrow(memory, small));
  change(memory[0]);
  EXPECT_EQ(*place.load().data(), memory[0]);
  place.store(Buffer());
}

TEST(WriteTrap, a_buffer_that_was_not_stored_may_be_written) {
  for (const std::size_t nbytes : {small, paged}) {
    AtomicBuffer place;
    Buffer desired = Buffer::allocate(nbytes);
    std::byte* const pointer = desired.mutable_data();
    Buffer expected = Buffer::allocate(1);
    ASSERT_FALSE(place.compare_exchange(expected, std::move(desired)));
    change(*pointer);
    desired.mutable_data();
  }
}

TEST(WriteTrap, a_pointer_taken_after_a_lazy_clone_may_write) {
  for (const std::size_t nbytes : {small, paged}) {
    StalePointer last(Storage::allocate(nbytes));
    last.clone = Storage();
    change(*last.storage.mutable_data());  // the only owner

    StalePointer both(Storage::allocate(nbytes));
    change(*both.storage.mutable_data());  // copies
    change(*both.clone.mutable_data());    // steals
    const Storage again = both.clone.lazy_clone();
    change(*both.clone.mutable_data());
  }
}

TEST(WriteTrapDeathTest, a_report_names_the_last_pointer_and_the_first_clone) {
  Storage storage = Storage::allocate(paged);
  storage.mutable_data();
  Lines lines{__LINE__ + 1, __LINE__ + 2};
  std::byte* pointer = storage.mutable_data();
  Storage first = storage.lazy_clone();
  const Storage second = first.lazy_clone();
  EXPECT_DEATH(*pointer = {}, fault_report(0, paged, lines));

  StalePointer checksummed(Storage::allocate(small));
  const Storage third = checksummed.storage.lazy_clone();
  EXPECT_DEATH((change(*checksummed.pointer), checksummed.clone = Storage()),
               change_report(small, "when an owner was destroyed", StalePointer::lines));

  lines = {__LINE__ + 1, __LINE__ + 2};
  pointer = storage.mutable_data();  // a copy
  const Storage of_copy = storage.lazy_clone();
  EXPECT_DEATH(*pointer = {}, fault_report(0, paged, lines));

  Storage sole = Storage::allocate(paged);
  { const Storage gone = sole.lazy_clone(); }
  lines = {__LINE__ + 1, __LINE__ + 2};
  pointer = sole.mutable_data();
  const Storage of_sole = sole.lazy_clone();
  EXPECT_DEATH(*pointer = {}, fault_report(0, paged, lines));

  const std::vector<std::byte> bytes(paged);
  Storage read_only = Storage(Buffer::borrow(bytes.data(), bytes.size()));
  lines = {__LINE__ + 1, __LINE__ + 2};
  pointer = read_only.mutable_data();
  const Storage of_read_only = read_only.lazy_clone();
  EXPECT_DEATH(*pointer = {}, fault_report(0, paged, lines));
}

TEST(WriteTrapDeathTest, a_write_through_a_const_pointer_is_reported) {
  const Storage storage = Storage::allocate(paged);
  const Storage clone = storage.lazy_clone();
  EXPECT_DEATH(*const_cast<std::byte*>(storage.data()) = {},
               "The pointer was not returned by mutable_data\\(\\)\\. The lazy clone or "
               "version\\(\\) was called at");
}

TEST(WriteTrap, a_pointer_taken_after_a_steal_may_write) {
  for (bool has_stolen = false; !has_stolen;) {  // repeats if the copy ends before the steal
    FailingAllocator allocator;
    Storage storage = Storage::allocate(small, allocator);
    Storage clone = storage.lazy_clone();
    Halt copy;
    allocator.halt_copy(copy);
    std::thread copier([&] { clone.mutable_data(); });
    copy.await_entry();
    std::thread ends_copy([&] { copy.let_go(); });
    has_stolen = storage.materialize() == Materialized::stole;
    change(const_cast<std::byte&>(*storage.data()));  // as through a pointer from mutable_data()
    storage.materialize();
    ends_copy.join();
    copier.join();
  }
}

TEST(WriteTrap, many_threads_may_make_the_first_clone_concurrently) {
  for (int round = 0; round < 8; ++round) {
    Storage storage = Storage::allocate(std::size_t{1} << 20, aligned_allocator());
    std::memset(storage.mutable_data(), 1, storage.nbytes());  // large: the checksum takes long
    at_once(4, [&](std::size_t) { (void)storage.lazy_clone(); });
    change(*storage.mutable_data());
  }
}

TEST(WriteTrapDeathTest, two_equal_changes_do_not_cancel_in_the_checksum) {
  StalePointer stale(Storage::allocate(small));
  for (std::size_t byte = 0; byte < 8; ++byte) {
    for (const auto bit : {std::byte{0x01}, std::byte{0x80}}) {
      EXPECT_DEATH(
          (stale.pointer[byte] ^= bit, stale.pointer[byte + 8] ^= bit, stale.storage.materialize()),
          "changed while it was shared");
    }
  }
}

TEST(WriteTrap, a_checksum_reads_no_byte_outside_the_data) {
  const std::unique_ptr<std::byte[]> bytes(new std::byte[small]);
  StalePointer stale(Storage(Buffer::adopt(bytes.get(), small - 3, [](void*) {})));
  change(bytes[small - 3]);
  change(*stale.storage.mutable_data());

  DeviceAllocator device;
  const Storage there = Storage::allocate(paged, device);
  EXPECT_TRUE(there.lazy_clone().shares_data_with(there));
}

TEST(WriteTrap, writing_a_mapped_file_while_it_is_shared_is_not_reported) {
  const TemporaryFolder folder;
  write_file(folder / "file", "before");
  const Storage mapped = Storage::map_file(folder / "file");
  Storage clone = mapped.lazy_clone();
  std::FILE* const file = std::fopen((folder / "file").c_str(), "r+");
  std::fputs("after!", file);
  std::fclose(file);
  EXPECT_EQ(*clone.mutable_data(), std::byte{'a'});
}

TEST(WriteTrapDeathTest, a_report_contains_file_names_that_have_been_freed) {
  std::string file(100, 'x');
  file += "/taken.cpp";
  Storage storage = Storage::allocate(paged);
  std::byte* const pointer = storage.mutable_data(Wait::allowed, {file.c_str(), 7});
  file.replace(file.find("taken"), 5, "freed");
  const Storage clone = storage.lazy_clone({"cloned.cpp", 8});
  EXPECT_DEATH(*pointer = {},
               "taken at x{81}/taken.cpp:7, before the lazy clone or version\\(\\) at "
               "cloned.cpp:8\\.");
}

TEST(WriteTrapDeathTest, foreign_memory_is_checksummed_and_never_protected) {
  alignas(page_nbytes) static std::byte bytes[paged];
  FakePages pages;
  RecyclingPool pool(0, pages);
  StalePointer of_others[] = {
      StalePointer(Storage(Buffer::adopt(bytes, sizeof bytes, [](void*) {}))),
      StalePointer(Storage::allocate(paged, aligned_allocator())),
      StalePointer(Storage::allocate(paged, pool))};
  for (StalePointer& stale : of_others) {
    EXPECT_DEATH((change(*stale.pointer), stale.clone = Storage()),
                 change_report(paged, "when an owner was destroyed", StalePointer::lines));
  }
}

TEST(WriteTrapDeathTest, foreign_memory_above_1_mib_is_not_watched) {
  constexpr std::size_t most = std::size_t{1} << 20;
  StalePointer checksummed(Storage::allocate(most, aligned_allocator()));
  EXPECT_DEATH((change(checksummed.pointer[most - 1]), checksummed.clone = Storage()),
               "changed while it was shared");

  StalePointer unwatched(Storage::allocate(most + 1, aligned_allocator()));
  change(*unwatched.pointer);
}

TEST(WriteTrapDeathTest, the_checksum_covers_the_size_at_the_time_of_the_lazy_clone) {
  StalePointer stale(Storage::allocate(small));
  stale.clone = Storage();
  stale.storage.resize(small / 2);
  EXPECT_DEATH((change(*stale.pointer), stale.storage.materialize()),
               change_report(small, "at .*", StalePointer::lines));
  stale.storage.materialize();
}

TEST(WriteTrapDeathTest, paged_data_and_overlays_are_protected) {
  constexpr std::size_t nbytes = 2 * least_paged_nbytes - 3;  // no other data is in the last page
  const StalePointer stale(Storage::allocate(nbytes, paged_allocator()));
  EXPECT_DEATH(stale.pointer[5] = std::byte{1}, fault_report(5, nbytes, StalePointer::lines));
  const StalePointer overlay(stale.storage.lazy_clone());
  ASSERT_EQ(overlay.storage.origin(), Origin::overlay);
  EXPECT_DEATH(overlay.pointer[7] = std::byte{1}, fault_report(7, nbytes, StalePointer::lines));
}

TEST(WriteTrapDeathTest, a_source_may_be_written_after_writable_but_not_lazy_clones) {
  Storage source = Storage::allocate(least_paged_nbytes, paged_allocator());
  std::byte* const pointer = source.mutable_data();
  std::vector<Storage> clones;
  for (int round = 0; round < 3; ++round) {  // the last round moves both owners to a new file
    clones.push_back(source.writable_clone());
    std::memset(pointer, round, least_paged_nbytes);
    std::memset(clones.back().mutable_data(), round, page_nbytes);
  }
  const Lines lines{__LINE__ + 1, __LINE__ + 2};
  clones.push_back(source.writable_clone());
  std::optional<Storage> lazy = source.lazy_clone();
  EXPECT_DEATH(*pointer = {}, fault_report(0, least_paged_nbytes, lines));
  lazy.reset();
  EXPECT_EQ(source.mutable_data(), pointer);
  change(*pointer);
}

}  // namespace
}  // namespace byre::test
