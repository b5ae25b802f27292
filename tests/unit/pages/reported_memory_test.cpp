// SPDX-License-Identifier: BSL-1.0
/// Paged data and overlays in memory reports.
#include <byre/byre.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/system/page_nbytes.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "../observe/tagged.hpp"
#include "paged_buffers.hpp"
#include "support/failing_new.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace {

Buffer tagged_pages(const char* tag) {
  return in(tag, [] { return filled(std::byte{1}); });
}
void touch_pages(Buffer& buffer, std::size_t count) {
  std::byte* const data = buffer.mutable_data();
  for (std::size_t at = 0; at < count; ++at) {
    data[at * page_nbytes] = std::byte{2};
  }
}

class ReportedPages : public WithStats {};

TEST_F(ReportedPages, count_a_file_once_and_the_pages_written_in_overlays) {
  const BytesByOrigin before = memory_report().nbytes;
  {
    Buffer source = tagged_pages("source");
    EXPECT_EQ(bytes_tagged("source"), "8388608 paged");
    const ScopedTag scope("elsewhere");
    Buffer clone = source;
    touch_pages(clone, 3);
    EXPECT_EQ(bytes_tagged("source"), "8388608 paged, 12288 overlay");
    Buffer second = clone;
    touch_pages(second, 5);  // begins with copies of three pages
    EXPECT_EQ(bytes_tagged("source"), "8388608 paged, 32768 overlay");
    EXPECT_EQ(bytes_tagged("elsewhere"), "");
    const MemoryReport report = memory_report();
    EXPECT_EQ(report.nbytes.paged, before.paged + paged_nbytes);
    EXPECT_EQ(report.nbytes.overlay, before.overlay + 32768);
    EXPECT_EQ(report.nbytes.allocated, before.allocated);
    EXPECT_EQ(report.pinned, 0U);
    source = Buffer();
    clone = Buffer();
    EXPECT_EQ(bytes_tagged("source"), "8388608 paged, 20480 overlay");
    EXPECT_EQ(memory_report().pinned, paged_nbytes);
  }
  EXPECT_EQ(by_origin(memory_report().nbytes), by_origin(before));
  EXPECT_FALSE(is_listening());
}

TEST_F(ReportedPages, an_overlay_of_a_released_overlay_keeps_its_tag) {
  static std::optional<Buffer> other;
  Buffer source = tagged_pages("source");
  Buffer clone = source;
  touch_pages(clone, 3);
  other = clone;
  const ScopedTag scope("elsewhere");
  before_next_new = [] { other.reset(); };  // within the write, which then releases the overlay
  clone.mutable_data();
  EXPECT_FALSE(other);
  EXPECT_EQ(bytes_tagged("source"), "8388608 paged, 12288 overlay");
  EXPECT_EQ(bytes_tagged("elsewhere"), "");
}

TEST_F(ReportedPages, writable_clones_have_the_tag_of_their_source) {
  Buffer source = tagged_pages("source");
  const ScopedTag scope("elsewhere");
  Buffer clone = source.writable_clone();
  EXPECT_EQ(bytes_tagged("source"), "8388608 paged");
  touch_pages(clone, 2);
  touch_pages(source, 1);
  EXPECT_EQ(bytes_tagged("source"), "8388608 paged, 12288 overlay");
  Buffer third = source.writable_clone();
  EXPECT_EQ(bytes_tagged("elsewhere"), "");
  EXPECT_EQ(bytes_tagged("source"), "8388608 paged, 16384 overlay");
  EXPECT_EQ(left_of("source"), "");
}

TEST_F(ReportedPages, a_new_file_for_a_writable_clone_keeps_the_tag) {
  Buffer source = tagged_pages("source");
  const ScopedTag scope("elsewhere");
  std::optional<Buffer> clone = source.writable_clone();
  touch_pages(source, paged_nbytes / page_nbytes);
  Buffer second = source.writable_clone();  // too many written pages for another clone of the file
  EXPECT_EQ(bytes_tagged("source"), "16777216 paged");
  clone.reset();
  touch_pages(source, 1);
  EXPECT_EQ(bytes_tagged("source"), "8388608 paged, 4096 overlay");
  EXPECT_EQ(bytes_tagged("elsewhere"), "");
  source = Buffer();
  second = Buffer();
  EXPECT_EQ(bytes_tagged("source"), "");
}

TEST_F(ReportedPages, an_overlay_of_a_mapped_file_is_counted_with_its_tag) {
  const TemporaryFolder folder;
  write_file(folder / "file", std::string(least_paged_nbytes, 'x'));
  Buffer file = in("file", [&] { return Buffer::map_file(folder / "file"); });
  EXPECT_EQ(bytes_tagged("file"), "262144 mapped");
  const Buffer clone = file;
  const ScopedTag scope("elsewhere");
  touch_pages(file, 2);
  EXPECT_EQ(bytes_tagged("file"), "8192 overlay, 262144 mapped");
  file = Buffer();
  EXPECT_EQ(bytes_tagged("file"), "262144 mapped");
}

TEST_F(ReportedPages, untagged_overlays_are_untagged) {
  const auto untagged_overlay = [] {
    for (const auto& [name, nbytes] : memory_report().tags) {
      if (name == "untagged") {
        return nbytes.overlay;
      }
    }
    return std::uint64_t{0};
  };
  Buffer source = filled(std::byte{1});
  const Buffer clone = source;
  touch_pages(source, 4);
  EXPECT_EQ(untagged_overlay(), 16384U);
  EXPECT_FALSE(is_listening());
}

TEST_F(ReportedPages, shared_pages_and_overlays_name_their_sharers) {
  Buffer source = tagged_pages("source");
  Buffer clone = in("reader", [&] { return source.lazy_clone(); });
  EXPECT_EQ(shared_of("source"), "1 of 8388608 bytes in reader");
  touch_pages(clone, 1);
  EXPECT_EQ(shared_of("source"), "");
  EXPECT_EQ(left_of("source"), "1 of 8388608 bytes in reader");
  const Buffer second = in("writer", [&] { return clone.lazy_clone(); });
  EXPECT_EQ(shared_of("source"), "1 of 8388608 bytes in writer");
  source = Buffer();  // the overlay still shows its pages
  EXPECT_EQ(left_of("source"), "");
}

}  // namespace
}  // namespace byre::test
