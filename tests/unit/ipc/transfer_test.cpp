// SPDX-License-Identifier: BSL-1.0
/// What export and import of a buffer copy, and what the importer reads.
#include <byre/byre.hpp>
#include <byre/ipc/exported_pages.hpp>
#include <byre/memory/pages.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/explain.hpp>
#include <byre/system/detail/memory.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "../pages/paged_buffers.hpp"
#include "patterns.hpp"
#include "peer.hpp"
#include "support/temporary_folder.hpp"
#include "support/user_allocators.hpp"
#include "support/watched_system.hpp"

namespace byre::test {
namespace {

class Sizes : public testing::TestWithParam<std::size_t> {};

TEST_P(Sizes, a_buffer_arrives_with_its_bytes) {
  for (Allocator* const allocator : {&paged_allocator(), &default_allocator()}) {
    const Buffer buffer = patterned(GetParam(), *allocator);
    Buffer imported = transferred(buffer);
    ASSERT_EQ(imported.nbytes(), GetParam());
    EXPECT_EQ(first_difference(imported.data(), GetParam()), GetParam());
    EXPECT_EQ(&imported.allocator(), &paged_allocator());
    if (GetParam() != 0) {
      imported.mutable_data()[GetParam() - 1] ^= std::byte{1};
      EXPECT_EQ(first_difference(imported.data(), GetParam()), GetParam() - 1);
      EXPECT_EQ(first_difference(buffer.data(), GetParam()), GetParam());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OfData, Sizes,
                         testing::Values(0, 1, page_nbytes - 1, page_nbytes, page_nbytes + 1,
                                         least_paged_nbytes - 1, least_paged_nbytes,
                                         least_paged_nbytes + 1, paged_nbytes - 5, paged_nbytes),
                         testing::PrintToStringParamName());

TEST(Transfer, data_in_pages_is_not_copied) {
  const Buffer buffer = patterned(paged_nbytes);
  const auto before = stats::snapshot();
  const ExportedPages exported = export_pages(buffer);
  const Buffer imported = import_pages(exported.message(), exported.descriptors());
  EXPECT_EQ(exported.copied_nbytes(), 0U);
  EXPECT_EQ(exported.nbytes(), paged_nbytes);
  EXPECT_EQ(exported.descriptors().size(), 1U);
  EXPECT_EQ(stats::snapshot() - before, stats::Counters{});
  EXPECT_EQ(imported.origin(), Origin::mapped);
}

TEST(Transfer, a_write_to_an_import_maps_an_overlay) {
  Buffer imported = transferred(patterned(paged_nbytes));
  Buffer clone = imported;
  EXPECT_EQ(imported.materialize(), Materialized::overlaid);
  EXPECT_EQ(clone.materialize(), Materialized::overlaid);
  clone.mutable_data()[0] = std::byte{99};
  EXPECT_EQ(first_difference(imported.data(), paged_nbytes), paged_nbytes);
}

TEST(Transfer, the_bytes_of_an_import_cannot_be_written_by_mistake) {
  const Buffer imported = transferred(patterned(paged_nbytes));
  const SocketPair sockets;
  ASSERT_EQ(::write(sockets[0], "x", 1), 1);
  EXPECT_EQ(::read(sockets[1], const_cast<std::byte*>(imported.data()), 1), -1);
}

TEST(Transfer, ordinary_data_is_copied_once) {
  constexpr std::size_t nbytes = 100'000;
  const Buffer buffer = patterned(nbytes, default_allocator());
  std::vector<std::pair<std::size_t, stats::CopyCause>> copies;
  const stats::InstalledSink sink([&](const stats::CopyEvent& event) {
    copies.emplace_back(event.nbytes, event.cause);
    EXPECT_NE(std::string(event.site.file).find("transfer_test"), std::string::npos);
  });
  const auto before = stats::snapshot();
  const ExportedPages exported = export_pages(buffer);
  for (int times = 0; times < 3; ++times) {
    const Buffer imported = import_pages(exported.message(), exported.descriptors());
    EXPECT_EQ(first_difference(imported.data(), nbytes), nbytes);
  }
  EXPECT_EQ(exported.copied_nbytes(), nbytes);
  if (BYRE_STATS) {
    EXPECT_EQ((stats::snapshot() - before).bytes_copied, std::int64_t{nbytes});
    ASSERT_EQ(copies.size(), 1U);
    EXPECT_EQ(copies[0], std::pair(nbytes, stats::CopyCause::exported));
  }
}

TEST(Transfer, an_overlay_is_exported_by_its_written_pages) {
  const Buffer base = patterned(paged_nbytes);
  Buffer overlay = base;
  for (const std::size_t page : {0U, 1U, 7U, 500U}) {
    overlay.mutable_data()[page * 4096 + 3] ^= std::byte{1};
  }
  overlay.mutable_data()[paged_nbytes - 1] ^= std::byte{1};
  const auto before = stats::snapshot();
  const Buffer imported = transferred(overlay);
  EXPECT_EQ((stats::snapshot() - before).bytes_copied,
            static_cast<std::int64_t>(BYRE_STATS * 2 * 5 * system::actual_page_nbytes()));
  EXPECT_EQ(imported.origin(), Origin::overlay);
  EXPECT_EQ(std::memcmp(imported.data(), overlay.data(), paged_nbytes), 0);
  EXPECT_EQ(copied_by_export(overlay), 5 * system::actual_page_nbytes());
  EXPECT_EQ(copied_by_export(base), 0U);
  EXPECT_EQ(first_difference(base.data(), paged_nbytes), paged_nbytes);
}

TEST(Transfer, an_unwritten_overlay_is_exported_as_its_file) {
  const Buffer base = patterned(paged_nbytes);
  Buffer overlay = base;
  overlay.materialize();
  const auto before = stats::snapshot();
  EXPECT_EQ(export_pages(overlay).descriptors().size(), 1U);
  EXPECT_EQ(stats::snapshot() - before, stats::Counters{});
}

TEST(Transfer, an_eighth_of_the_pages_is_the_most_that_is_sent_apart) {
  constexpr std::size_t odd_nbytes = paged_nbytes - 5;
  const std::size_t page = system::actual_page_nbytes();
  const Buffer base = patterned(odd_nbytes);
  Buffer overlay = base;
  for (std::size_t at = paged_nbytes - page; at >= 8 * page; at -= 8 * page) {
    overlay.mutable_data()[at] ^= std::byte{1};
  }
  overlay.mutable_data()[0] ^= std::byte{1};
  EXPECT_EQ(copied_by_export(overlay), paged_nbytes / 8);
  EXPECT_EQ(std::memcmp(transferred(overlay).data(), overlay.data(), odd_nbytes), 0);
  overlay.mutable_data()[page] ^= std::byte{1};
  EXPECT_EQ(copied_by_export(overlay), odd_nbytes);
  EXPECT_EQ(std::memcmp(transferred(overlay).data(), overlay.data(), odd_nbytes), 0);
}

TEST(Transfer, an_overlay_with_many_written_pages_is_copied) {
  const Buffer base = patterned(paged_nbytes);
  Buffer overlay = base;
  std::memset(overlay.mutable_data(), 5, paged_nbytes / 4);
  EXPECT_EQ(std::memcmp(transferred(overlay).data(), overlay.data(), paged_nbytes), 0);
  EXPECT_EQ(copied_by_export(overlay), paged_nbytes);
}

TEST(Transfer, an_import_is_sent_on_without_a_copy) {
  const Buffer first = patterned(paged_nbytes);
  Buffer second = transferred(first);
  EXPECT_EQ(copied_by_export(second), 0U);
  Buffer third = transferred(second);
  second.mutable_data()[9] = std::byte{255};
  EXPECT_EQ(copied_by_export(second), system::actual_page_nbytes());
  const Buffer fourth = transferred(second);
  third.mutable_data()[10] = std::byte{255};
  EXPECT_EQ(fourth.data()[9], std::byte{255});
  EXPECT_EQ(fourth.data()[10], pattern(10));
  EXPECT_EQ(first_difference(first.data(), paged_nbytes), paged_nbytes);
}

class MappedFiles : public testing::TestWithParam<bool> {};

TEST_P(MappedFiles, are_exported_as_they_are) {
  WatchedSystem system;
  system.has_pagemap_scan = GetParam();
  const TemporaryFolder folder;
  const std::string contents(least_paged_nbytes + 7, 'f');
  write_file(folder / "file", contents);
  Buffer mapped = Buffer::map_file(folder / "file");
  EXPECT_EQ(copied_by_export(mapped), 0U);
  const ExportedPages exported = export_pages(mapped);
  Buffer imported = import_pages(exported.message(), exported.descriptors());
  EXPECT_EQ(std::memcmp(imported.data(), contents.data(), contents.size()), 0);
  imported.mutable_data()[contents.size() - 1] = std::byte{1};
  const Buffer again = transferred(imported);
  EXPECT_EQ(again.data()[contents.size() - 1], std::byte{1});
  EXPECT_EQ(again.data()[0], std::byte{'f'});
  EXPECT_EQ(read_file(folder / "file"), contents);
  EXPECT_THROW(import_pages(exported.message(), exported.descriptors(), Accept::sealed_files),
               TransferError);
}

INSTANTIATE_TEST_SUITE_P(WithPagemapScan, MappedFiles, testing::Bool());

/// Written pages are not reported.
TEST(Transfer, data_that_is_never_written_is_not_searched) {
  const Buffer imported = transferred(patterned(paged_nbytes));
  WatchedSystem system;
  system.has_pagemap_scan = system.has_pagemap = false;
  EXPECT_EQ(copied_by_export(imported), 0U);
}

TEST(Transfer, data_in_a_file_with_other_data_is_copied) {
  WatchedSystem system;
  system.has_many_descriptors = false;
  const Buffer other = filled(std::byte{255});
  const Buffer buffer = patterned(paged_nbytes);
  EXPECT_EQ(copied_by_export(buffer), paged_nbytes);
  EXPECT_EQ(first_difference(transferred(buffer).data(), paged_nbytes), paged_nbytes);
  EXPECT_NE(explain(buffer).find(
                "the paged allocator, in a file with other data, so an export copies them, shared"),
            std::string::npos);
}

TEST(Transfer, bytes_beyond_the_size_are_not_a_part_of_the_import) {
  Buffer buffer = filled(std::byte{1});
  buffer.resize(least_paged_nbytes);
  Buffer imported = transferred(buffer);
  EXPECT_EQ(imported.nbytes(), least_paged_nbytes);
  imported.materialize();
  imported.resize(paged_nbytes);
  EXPECT_NE(imported.data()[least_paged_nbytes + page_nbytes], std::byte{1});
}

TEST(Transfer, memory_that_others_write_is_copied) {
  std::vector<std::byte> memory(paged_nbytes, std::byte{1});
  const auto nothing = [](void*) {};
  for (const Buffer& buffer : {Buffer::borrow(memory.data(), paged_nbytes),
                               Buffer::adopt(memory.data(), paged_nbytes, nothing),
                               Buffer::adopt_aliased(memory.data(), paged_nbytes, nothing)}) {
    const ExportedPages exported = export_pages(buffer);
    memory[5] = std::byte{2};
    const Buffer imported = import_pages(exported.message(), exported.descriptors());
    EXPECT_EQ(imported.data()[5], std::byte{1});
    EXPECT_EQ(exported.copied_nbytes(), paged_nbytes);
    memory[5] = std::byte{1};
  }
}

TEST(Transfer, data_on_a_device_is_refused) {
  DeviceAllocator device;
  EXPECT_THROW(export_pages(Buffer::allocate(8, device)), InvalidArgument);
  EXPECT_THROW(export_pages(TiledBuffer(8, device)), InvalidArgument);
}

}  // namespace
}  // namespace byre::test
