// SPDX-License-Identifier: BSL-1.0
/// Exports and imports of storages, tiled buffers and exported data.
#include <byre/byre.hpp>
#include <byre/ipc/send.hpp>
#include <byre/storage/tiles/tiled_buffer.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "../pages/paged_buffers.hpp"
#include "patterns.hpp"
#include "peer.hpp"

namespace byre::test {
namespace {

TEST(TransferredTypes, a_storage_arrives_with_its_bytes) {
  const Storage storage(patterned(paged_nbytes));
  const Storage imported = transferred(storage);
  EXPECT_EQ(first_difference(imported.data(), imported.nbytes()), paged_nbytes);
  EXPECT_EQ(export_pages(storage).copied_nbytes(), 0U);
  EXPECT_EQ(transferred(Storage()).nbytes(), 0U);
}

TEST(TransferredTypes, a_pinned_storage_is_copied) {
  Storage storage(patterned(paged_nbytes));
  const auto pin = storage.pin();
  const ExportedPages exported = export_pages(storage);
  pin.mutable_data()[3] = std::byte{255};
  const Storage imported = import_pages<Storage>(exported.message(), exported.descriptors());
  EXPECT_EQ(imported.data()[3], pattern(3));
  EXPECT_EQ(exported.copied_nbytes(), paged_nbytes);
}

TEST(TransferredTypes, a_tiled_buffer_arrives_with_its_tiles) {
  for (const std::size_t tile_nbytes : {std::size_t{1000}, std::size_t{64} << 10}) {
    for (const std::size_t nbytes : {std::size_t{0}, std::size_t{1}, std::size_t{1'000'003}}) {
      TiledBuffer tiles(nbytes, default_allocator(), tile_nbytes);
      std::vector<std::byte> bytes(nbytes);
      fill(bytes.data(), nbytes);
      tiles.write(0, bytes);
      TiledBuffer imported = transferred(tiles);
      ASSERT_EQ(imported.nbytes(), nbytes);
      EXPECT_EQ(imported.tile_nbytes(), tile_nbytes);
      std::vector<std::byte> there(nbytes);
      imported.read(0, there);
      EXPECT_EQ(there, bytes);
      imported.append(std::vector(3, std::byte{1}));
      if (nbytes != 0) {
        imported.mutable_tile(0)[0] = std::byte{255};
      }
      tiles.read(0, there);
      EXPECT_EQ(there, bytes);
      EXPECT_EQ(imported.nbytes(), nbytes + 3);
    }
  }
}

TEST(TransferredTypes, tiles_count_with_their_own_bytes) {
  const ExportedPages exported = export_pages(TiledBuffer(5));
  EXPECT_EQ(exported.nbytes(), 5U);
  EXPECT_EQ(exported.copied_nbytes(), 5U);
  EXPECT_EQ(&transferred(TiledBuffer(5)).allocator(), &default_allocator());
}

TEST(TransferredTypes, tiles_of_an_import_are_copied_one_by_one) {
  TiledBuffer tiles(1 << 20, default_allocator(), 1 << 10);
  tiles.write(0, std::vector(1 << 20, std::byte{1}));
  TiledBuffer imported = transferred(tiles);
  const auto before = stats::snapshot();
  imported.mutable_tile(7)[0] = std::byte{2};
  EXPECT_EQ((stats::snapshot() - before).bytes_copied, BYRE_STATS * (1 << 10));
}

TEST(TransferredTypes, sends_report_their_copies_at_the_line_of_the_caller) {
  std::vector<unsigned> lines;
  const stats::InstalledSink sink(
      [&](const stats::CopyEvent& event) { lines.push_back(event.site.line); });
  const SocketPair sockets;
  const Buffer buffer = patterned(100, default_allocator());
  const unsigned line = __LINE__;
  send(sockets[0], buffer);
  send(sockets[0], Storage(buffer));
  send(sockets[0], TiledBuffer(5));
  if (BYRE_STATS) {
    EXPECT_EQ(lines, (std::vector{line + 1, line + 2, line + 3}));
  }
}

TEST(TransferredTypes, a_moved_from_object_has_no_descriptors) {
  ExportedPages first = export_pages(patterned(paged_nbytes));
  ExportedPages second = std::move(first);
  EXPECT_EQ(first.descriptors().size(), 0U);
  EXPECT_EQ(second.descriptors().size(), 1U);
  EXPECT_EQ(import_pages(second.message(), second.descriptors()).nbytes(), paged_nbytes);
}

TEST(TransferredTypes, exported_data_is_sent_on_without_an_import) {
  const SocketPair first;
  const SocketPair second;
  const Buffer buffer = patterned(paged_nbytes);
  send(first[0], buffer);
  {
    const ExportedPages exported = receive<ExportedPages>(first[1]);
    EXPECT_EQ(exported.nbytes(), paged_nbytes);
    EXPECT_EQ(exported.copied_nbytes(), 0U);
    send(second[0], exported);
    EXPECT_THROW(import_pages<Storage>(exported.message(), exported.descriptors()), TransferError);
    EXPECT_EQ(import_pages(exported.message(), exported.descriptors()).nbytes(), paged_nbytes);
  }
  EXPECT_FALSE(buffer.is_unique());
  EXPECT_EQ(first_difference(receive(second[1]).data(), paged_nbytes), paged_nbytes);
}

}  // namespace
}  // namespace byre::test
