// SPDX-License-Identifier: BSL-1.0
/// What copy sinks and recordings report for each cause of a copy: the bytes, the cause and the
/// line of the user's code. The random programs over storages check the bytes and causes of all
/// copies.
#include <byre/memory/host_allocators.hpp>
#include <byre/observe/events.hpp>
#include <byre/observe/recording.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/storage.hpp>
#include <byre/system/detail/memory.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>

#include "support/complaint.hpp"
#include "support/counted.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace {

using stats::CopyCause;
using stats::CopyEvent;

Buffer of(std::size_t nbytes) {
  return Buffer::allocate(nbytes, aligned_allocator());
}

/// Expects that `action` copies `nbytes` once, by a full copy or for an overlay, and that byre
/// reports this cause and `line` of this file.
template <class Action>
void expect_copy(CopyCause cause, std::size_t nbytes, unsigned line, Action action) {
  const Recorder recorder;
  const trace::Recording recording;
  action();
  EXPECT_TRUE(says(recording.summary(), std::string(" bytes (") + to_string(cause) +
                                            ")\n  written at " + __FILE__ + ":" +
                                            std::to_string(line) + "\n"));
  const auto events = recorder.events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].cause, cause) << to_string(events[0].cause);
  EXPECT_EQ(events[0].nbytes, nbytes);
  EXPECT_STREQ(events[0].site.file, __FILE__);
  EXPECT_EQ(events[0].site.line, line);
}

class CopyCauses : public WithStats {};

TEST(CopyCause, to_string_returns_the_name_of_the_enumerator) {
  const std::pair<CopyCause, const char*> names[] = {
      {CopyCause::shared, "shared"},       {CopyCause::pending, "pending"},
      {CopyCause::read_only, "read_only"}, {CopyCause::borrowed, "borrowed"},
      {CopyCause::pinned, "pinned"},       {CopyCause::writable, "writable"},
      {CopyCause::resized, "resized"},     {CopyCause::exported, "exported"}};
  for (const auto& [cause, name] : names) {
    EXPECT_STREQ(to_string(cause), name);
  }
}

TEST_F(CopyCauses, a_write_to_data_with_other_owners_has_cause_shared) {
  const Buffer buffer = Buffer::allocate(100);  // the block is larger than 100 bytes
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

TEST_F(CopyCauses, copies_of_unshared_data_report_the_memory_or_call_as_cause) {
  std::array<std::byte, 40> lent{};
  const TemporaryFolder folder;
  write_file(folder / "file", "a file of 21 bytes...");
  Buffer mapped = Buffer::map_file(folder / "file");
  const void* const to_read = lent.data();
  Buffer read_only = Buffer::borrow(to_read, lent.size(), aligned_allocator());
  expect_copy(CopyCause::read_only, 40, __LINE__, [&] { read_only.mutable_data(); });
  expect_copy(CopyCause::read_only, 21, __LINE__, [&] { mapped.mutable_data(); });

  Buffer adopted = Buffer::adopt_read_only(to_read, lent.size(), [](const void*) {});
  Buffer snapshot = adopted;
  expect_copy(CopyCause::shared, 40, __LINE__, [&] { snapshot.mutable_data(); });
  expect_copy(CopyCause::read_only, 40, __LINE__, [&] { adopted.mutable_data(); });

  Storage pinned_to_read(Buffer::adopt_aliased(to_read, lent.size(), [](const void*) {}));
  const Pin reader = pinned_to_read.pin_to_read();  // the pin is an owner, but not a lazy clone
  expect_copy(CopyCause::read_only, 40, __LINE__, [&] { pinned_to_read.mutable_data(); });

  const Buffer borrowed =
      Buffer::borrow(lent.data(), lent.size());  // the block of its copy is larger than 40 bytes
  const Buffer aliased = Buffer::adopt_aliased(lent.data(), lent.size(), [](void*) {});
  expect_copy(CopyCause::borrowed, 40, __LINE__, [&] { (void)borrowed.lazy_clone(); });
  expect_copy(CopyCause::borrowed, 40, __LINE__, [&] { const Buffer clone = borrowed; });
  expect_copy(CopyCause::borrowed, 40, __LINE__, [&] { const Buffer clone = aliased; });
  const Storage of_lent(Buffer::borrow(lent.data(), lent.size()));
  expect_copy(CopyCause::borrowed, 40, __LINE__, [&] { (void)of_lent.lazy_clone(); });

  Storage pinned = Storage::allocate(100);
  const Pin pin = pinned.pin();
  expect_copy(CopyCause::pinned, 100, __LINE__, [&] { (void)pinned.lazy_clone(); });

  Buffer buffer = of(100);
  Storage storage = Storage::allocate(100, aligned_allocator());
  expect_copy(CopyCause::writable, 100, __LINE__, [&] { buffer.writable_clone(); });
  expect_copy(CopyCause::writable, 100, __LINE__, [&] { (void)storage.writable_clone(); });

  buffer.resize(60);
  expect_copy(CopyCause::resized, 60, __LINE__, [&] { buffer.resize(300); });
}

TEST_F(CopyCauses, a_writable_clone_of_written_pages_has_cause_writable) {
  Buffer buffer = Buffer::allocate(least_paged_nbytes, paged_allocator());
  const Buffer clone = buffer.writable_clone();
  if (clone.origin() != Origin::overlay) {
    GTEST_SKIP() << "the system provides no pages";
  }
  buffer.mutable_data()[0] = std::byte{1};
  const std::size_t page = system::actual_page_nbytes();
  expect_copy(CopyCause::writable, page, __LINE__, [&] { buffer.writable_clone(); });
}

}  // namespace
}  // namespace byre::test
