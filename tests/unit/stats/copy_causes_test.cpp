// SPDX-License-Identifier: BSL-1.0
/// What copy sinks are told of each cause of a copy: bytes, cause, and the user's own line.
#include <byre/memory/host_allocators.hpp>
#include <byre/observe/events.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/storage.hpp>

#include <gtest/gtest.h>
#include <unistd.h>
#include <boost/thread/thread.hpp>

#include <array>
#include <string>

#include "support/at_once.hpp"
#include "support/counted.hpp"
#include "support/failing_allocator.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace {

using stats::CopyCause;
using stats::CopyEvent;

Buffer of(std::size_t nbytes) {
  return Buffer::allocate(nbytes, aligned_allocator());
}

/// That `action` makes one copy, of `nbytes` and from `line` of this file.
template <class Action>
void expect_copy(CopyCause cause, std::size_t nbytes, unsigned line, Action action) {
  const Recorder recorder;
  action();
  const auto events = recorder.events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_STREQ(to_string(events[0].cause), to_string(cause));
  EXPECT_EQ(events[0].nbytes, nbytes);
  EXPECT_STREQ(events[0].site.file, __FILE__);
  EXPECT_EQ(events[0].site.line, line);
}

class CopyCauses : public WithStats {};

TEST(CopyCause, is_written_as_it_is_spelled) {
  const char* const names[] = {"shared", "pending",  "read_only", "borrowed",
                               "pinned", "writable", "resized"};
  const CopyCause causes[] = {CopyCause::shared,   CopyCause::pending, CopyCause::read_only,
                              CopyCause::borrowed, CopyCause::pinned,  CopyCause::writable,
                              CopyCause::resized};
  for (std::size_t index = 0; index < std::size(causes); ++index) {
    EXPECT_STREQ(to_string(causes[index]), names[index]);
  }
}

TEST_F(CopyCauses, shared_is_a_write_to_data_with_other_owners) {
  const Buffer buffer = Buffer::allocate(100);  // whose block is larger
  Buffer clones[] = {buffer, buffer, buffer, buffer};
  Storage storages[] = {Storage(buffer), Storage(buffer)};
  const auto expect_shared = [](unsigned line, auto write) {
    expect_copy(CopyCause::shared, 100, line, write);
  };
  expect_shared(__LINE__, [&] { clones[0].mutable_data(); });
  expect_shared(__LINE__, [&] { clones[1].materialize(); });
  expect_shared(__LINE__, [&] { clones[2].materialize(Wait::never); });
  expect_shared(4711, [&] { clones[3].mutable_data(Wait::allowed, CallSite{__FILE__, 4711}); });
  expect_shared(__LINE__, [&] { storages[0].mutable_data(); });
  expect_shared(__LINE__, [&] { const Pin pin = storages[1].pin(); });
}

TEST_F(CopyCauses, pending_is_a_write_by_the_last_owner_that_would_not_wait) {
  Halt first_copy;
  FailingAllocator allocator;
  allocator.halt_copy(first_copy);
  Buffer buffer = Buffer::allocate(100, allocator);
  Buffer clone = buffer;
  boost::thread copier([&] { clone.mutable_data(); });
  first_copy.await_entry();
  expect_copy(CopyCause::pending, 100, __LINE__, [&] { buffer.mutable_data(Wait::never); });
  first_copy.let_go();
  copier.join();
}

TEST_F(CopyCauses, read_only_is_a_write_to_lent_memory_or_a_mapped_file) {
  const std::array<std::byte, 40> lent{};
  const TemporaryFolder folder;
  write_file(folder / "file", "a file of 21 bytes...");
  Buffer buffer = Buffer::borrow(lent.data(), lent.size(), aligned_allocator());
  Buffer mapped = Buffer::map_file(folder / "file");
  expect_copy(CopyCause::read_only, 40, __LINE__, [&] { buffer.mutable_data(); });
  expect_copy(CopyCause::read_only, 21, __LINE__, [&] { mapped.mutable_data(); });
}

TEST_F(CopyCauses, borrowed_is_a_clone_of_lent_or_aliased_memory) {
  std::array<std::byte, 40> lent{};
  const Buffer buffer = Buffer::borrow(lent.data(), lent.size());  // whose copy has a larger block
  const Buffer aliased = Buffer::adopt_aliased(lent.data(), lent.size(), [](void*) {});
  const Storage storage(Buffer::borrow(lent.data(), lent.size()));
  const auto expect_borrowed = [](unsigned line, auto clone) {
    expect_copy(CopyCause::borrowed, 40, line, clone);
  };
  expect_borrowed(__LINE__, [&] { const Buffer clone = buffer.lazy_clone(); });
  expect_borrowed(__LINE__, [&] { const Buffer clone = buffer; });
  expect_borrowed(__LINE__, [&] { const Storage clone = storage.lazy_clone(); });
  expect_borrowed(__LINE__, [&] { const Buffer clone = aliased; });
}

TEST_F(CopyCauses, pinned_is_a_clone_of_a_pinned_storage) {
  Storage storage = Storage::allocate(100);
  const Pin pin = storage.pin();
  expect_copy(CopyCause::pinned, 100, __LINE__ + 1,
              [&] { const Storage clone = storage.lazy_clone(); });
}

TEST_F(CopyCauses, writable_is_a_writable_clone_of_ordinary_memory) {
  Buffer buffer = of(100);
  expect_copy(CopyCause::writable, 100, __LINE__, [&] { buffer.writable_clone(); });
  Storage storage = Storage::allocate(100, aligned_allocator());
  expect_copy(CopyCause::writable, 100, __LINE__, [&] { (void)storage.writable_clone(); });
}

TEST_F(CopyCauses, writable_is_a_writable_clone_of_pages_written_since_the_last) {
  Buffer buffer = Buffer::allocate(least_paged_nbytes, paged_allocator());
  const Buffer clone = buffer.writable_clone();
  if (clone.origin() != Origin::overlay) {
    GTEST_SKIP() << "the system has no pages for it";
  }
  buffer.mutable_data()[0] = std::byte{1};
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  expect_copy(CopyCause::writable, page, __LINE__, [&] { buffer.writable_clone(); });
}

TEST_F(CopyCauses, resized_is_a_resize_beyond_the_capacity) {
  Buffer buffer = of(100);
  const Recorder recorder;
  buffer.resize(60);
  EXPECT_TRUE(recorder.events().empty());
  expect_copy(CopyCause::resized, 60, __LINE__, [&] { buffer.resize(300); });
}

/// With the first 20 bytes of its block for data.
Buffer shrunk(Buffer buffer) {
  buffer.resize(20);
  return buffer;
}

// Copies have larger blocks too: those of the default allocator are whole lines.
TEST_F(CopyCauses, are_told_with_the_bytes_of_the_data_not_of_its_block) {
  const TemporaryFolder folder;
  write_file(folder / "file", "a file of 21 bytes...");
  std::array<std::byte, 40> lent{};
  Buffer allocated = shrunk(Buffer::allocate(100));
  const Buffer clone = allocated;
  const Buffer borrowed = shrunk(Buffer::borrow(lent.data(), lent.size()));
  Buffer mapped = shrunk(Buffer::map_file(folder / "file"));
  const Counted counted;
  expect_copy(CopyCause::shared, 20, __LINE__, [&] { allocated.mutable_data(); });
  expect_copy(CopyCause::borrowed, 20, __LINE__, [&] { const Buffer eager = borrowed; });
  expect_copy(CopyCause::read_only, 20, __LINE__, [&] { mapped.mutable_data(); });
  expect_copy(CopyCause::resized, 20, __LINE__, [&] { allocated.resize(5000); });
  EXPECT_EQ(counted.since().bytes_copied, 4 * 20);
}

TEST_F(CopyCauses, are_told_with_more_bytes_than_32_bits_hold) {
  if constexpr (sizeof(std::size_t) > 4) {
    constexpr std::size_t nbytes = (std::size_t{5} << 30) + 7;
    const Recorder recorder;
    const Counted counted;
    stats::detail::WriteReport().copied(nullptr, nullptr,
                                        {nbytes, CopyCause::resized, CallSite::current()});
    ASSERT_EQ(recorder.events().size(), 1U);
    EXPECT_EQ(recorder.events()[0].nbytes, nbytes);
    EXPECT_EQ(counted.since().bytes_copied, static_cast<std::int64_t>(nbytes));
  }
}

TEST_F(CopyCauses, are_none_of_a_steal_a_read_a_clone_or_a_move) {
  Buffer buffer = of(100);
  const Recorder recorder;
  {
    const Buffer clone = buffer;
    (void)clone.data();
  }
  buffer.mutable_data();
  Buffer moved = std::move(buffer);
  moved.mutable_data();
  EXPECT_TRUE(recorder.events().empty());
}

}  // namespace
}  // namespace byre::test
