// SPDX-License-Identifier: BSL-1.0
/// Messages that are damaged, hostile, or of another version.
#include <byre/ipc/detail/transfers.hpp>
#include <byre/ipc/send.hpp>
#include <byre/memory/pages.hpp>
#include <byre/pages/paged_allocator.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "changed_messages.hpp"
#include "peer.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace {

using detail::PatchRun;

TEST(Messages, an_unchanged_message_is_accepted) {
  EXPECT_EQ(whole().import(Accept::sealed_files).nbytes(), paged_nbytes);
  EXPECT_EQ(written().import(Accept::sealed_files).data()[paged_nbytes / 2], std::byte{2});
}

TEST(Messages, a_message_of_another_version_is_refused_by_number) {
  Changed<> changed = whole();
  changed.message.version = 7;
  EXPECT_NE(changed.error().find("version 7, required 1"), std::string::npos) << changed.error();
}

TEST(Messages, foreign_bytes_are_refused) {
  Changed<> changed = whole();
  changed.message.magic[0] = 'B';
  EXPECT_NE(changed.error().find("byre did not write"), std::string::npos) << changed.error();
}

TEST(Messages, a_message_of_another_size_is_refused) {
  const Changed<> changed = whole();
  const auto bytes = changed.exported.message();
  EXPECT_THROW(import_pages(bytes.first(bytes.size() - 1), changed.numbers), TransferError);
  EXPECT_THROW(import_pages({}, changed.numbers), TransferError);
}

TEST(Messages, another_type_is_refused_by_name) {
  Changed<> changed = whole();
  try {
    import_pages<Storage>(changed.exported.message(), changed.numbers);
    FAIL();
  } catch (const TransferError& error) {
    EXPECT_NE(std::string(error.what()).find("type Buffer, required Storage"), std::string::npos);
  }
  changed.message.kind = static_cast<detail::DataKind>(1000);
  EXPECT_NE(changed.error().find("unknown type"), std::string::npos) << changed.error();
}

TEST(Messages, sizes_that_contradict_are_refused) {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  const std::function<void(TransferMessage&)> changes[] = {
      [](TransferMessage& message) { message.nbytes = message.file_nbytes + 1; },
      [](TransferMessage& message) { message.nbytes = message.file_nbytes = most; },
      [](TransferMessage& message) { message.file_nbytes += 1 << 20; },
      [](TransferMessage& message) { message.file_nbytes = message.nbytes = 0; },
      [](TransferMessage& message) { message.patch_nbytes = 4096; },
  };
  for (std::size_t index = 0; index < std::size(changes); ++index) {
    Changed<> changed = whole();
    changes[index](changed.message);
    EXPECT_NE(changed.error(), "no error") << index;
  }
}

TEST(Messages, missing_and_surplus_descriptors_are_refused) {
  for (const std::size_t count : {0U, 2U, 3U}) {
    Changed<> changed = whole();
    changed.numbers.resize(count, changed.numbers[0]);
    EXPECT_NE(changed.error().find("descriptors came"), std::string::npos) << changed.error();
  }
}

TEST(Messages, a_descriptor_that_is_no_file_is_refused) {
  const SocketPair sockets;
  Changed<> changed = whole();
  changed.numbers[0] = sockets[0];
  EXPECT_NE(changed.error().find("does not belong to a file of ordinary pages"), std::string::npos);
  changed.numbers[0] = 12345;
  EXPECT_NE(changed.error().find("duplicate a descriptor"), std::string::npos) << changed.error();
}

TEST(Messages, a_file_that_is_too_short_is_refused) {
  const HostileFile file(paged_nbytes - page_nbytes);
  Changed<> changed = whole();
  changed.numbers[0] = file.number();
  EXPECT_NE(changed.error().find("required 8388608"), std::string::npos) << changed.error();
}

TEST(Messages, a_file_that_may_shrink_is_refused_on_request) {
  const HostileFile file(paged_nbytes);
  Changed<> changed = whole();
  changed.numbers[0] = file.number();
  EXPECT_EQ(changed.import().nbytes(), paged_nbytes);
  EXPECT_THROW(changed.import(Accept::sealed_files), TransferError);
  file.seal(F_SEAL_SHRINK);
  EXPECT_EQ(changed.import(Accept::sealed_files).nbytes(), paged_nbytes);
}

TEST(Messages, written_pages_that_may_change_are_refused) {
  for (const int seals : {0, F_SEAL_SHRINK, F_SEAL_WRITE}) {
    Changed<> changed = written();
    const HostileFile file(changed.message.patch_nbytes, seals);
    changed.numbers[1] = file.number();
    EXPECT_NE(changed.error().find("lacks the seals"), std::string::npos) << seals;
  }
}

/// Imports data with written pages that `count` and `runs` describe.
std::string error_of_patch(std::uint64_t count, const std::vector<PatchRun>& runs,
                           std::size_t patch_nbytes) {
  Changed<> changed = written();
  const HostileFile file(patch_nbytes);
  if (patch_nbytes >= sizeof count) {
    file.write(0, count);
  }
  for (std::size_t index = 0; index < runs.size(); ++index) {
    file.write(sizeof count + index * sizeof(PatchRun), runs[index]);
  }
  EXPECT_EQ(::ftruncate(file.number(), static_cast<off_t>(patch_nbytes)), 0);
  file.seal(F_SEAL_SHRINK | F_SEAL_WRITE);
  changed.message.patch_nbytes = patch_nbytes;
  changed.numbers[1] = file.number();
  return changed.error();
}

TEST(Messages, written_pages_that_do_not_fit_are_refused) {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  constexpr std::size_t table = page_nbytes;
  constexpr std::size_t page = page_nbytes;
  EXPECT_EQ(error_of_patch(1, {{paged_nbytes - page, page}}, table + page), "no error");
  EXPECT_EQ(error_of_patch(2, {{0, page}, {page, page}}, table + 2 * page), "no error");
  constexpr std::uint64_t most_runs = paged_nbytes / page + 1;
  constexpr std::size_t long_table = 64 * page;
  EXPECT_EQ(error_of_patch(most_runs, {}, long_table), "no error");
  const struct {
    std::uint64_t count;
    std::vector<PatchRun> runs;
    std::size_t nbytes;
  } refused[] = {
      {1, {{paged_nbytes - page + 1, page}}, table + page},
      {1, {{paged_nbytes, page}}, table + page},
      {1, {{most - page + 1, page}}, table + page},
      {1, {{0, page + 1}}, table + page},
      {1, {{0, most}}, table + page},
      {2, {{0, page}, {page, page}}, table + page},
      {1, {{0, page}}, 2 * sizeof(PatchRun)},
      {most, {{0, page}}, table + page},
      {most, {{0, 0}}, table + page},
      {most / sizeof(PatchRun), {{0, page}}, table + page},
      {most / sizeof(PatchRun) + 1, {{0, 0}}, table + page},
      {1, {{0, page}}, table},
      {1, {}, 7},
      {most_runs + 1, {}, long_table},
  };
  for (const auto& [count, runs, nbytes] : refused) {
    EXPECT_NE(error_of_patch(count, runs, nbytes), "no error") << count << ' ' << nbytes;
  }
}

TEST(Messages, tiles_that_do_not_fit_their_file_are_refused) {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  TiledBuffer tiles(3000, default_allocator(), 1000);
  tiles.write(0, std::vector(3000, std::byte{1}));
  const Changed<TiledBuffer> right(tiles);
  EXPECT_EQ(right.error(), "no error");
  for (const std::uint64_t tile_nbytes : {std::uint64_t{0}, std::uint64_t{1}, most, most / 2 + 2}) {
    Changed<TiledBuffer> changed(tiles);
    std::memcpy(changed.message.details.data(), &tile_nbytes, sizeof tile_nbytes);
    EXPECT_NE(changed.error(), "no error") << tile_nbytes;
  }
  Changed<TiledBuffer> longer(tiles);
  longer.message.nbytes = longer.message.file_nbytes;
  EXPECT_NE(longer.error(), "no error");
}

TEST(Messages, a_file_of_reserved_huge_pages_is_refused) {
  Changed<> changed = whole();
  const int file = ::memfd_create("huge", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
  if (file < 0) {
    GTEST_SKIP() << "the system has no such files";
  }
  ASSERT_EQ(::ftruncate(file, 4 << 20), 0);
  ASSERT_EQ(::fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK), 0);
  changed.message.nbytes = changed.message.file_nbytes = (2 << 20) + page_nbytes;
  changed.numbers[0] = file;
  EXPECT_NE(changed.error().find("ordinary pages"), std::string::npos);
  ::close(file);
}

TEST(Messages, every_receive_can_require_sealed_files) {
  const TemporaryFolder folder;
  write_file(folder / "file", std::string(least_paged_nbytes, '\0'));
  const Buffer mapped = Buffer::map_file(folder / "file");
  const SocketPair sockets;
  send(sockets[0], mapped);
  EXPECT_THROW(receive(sockets[1], Accept::sealed_files), TransferError);
  send(sockets[0], Storage(mapped));
  EXPECT_THROW(receive<Storage>(sockets[1], Accept::sealed_files), TransferError);
  const ExportedPages storage = export_pages(Storage(mapped));
  EXPECT_THROW(
      import_pages<Storage>(storage.message(), storage.descriptors(), Accept::sealed_files),
      TransferError);
  const TiledBuffer contents(least_paged_nbytes);
  Changed<TiledBuffer> tiles(contents);
  const ExportedPages file = export_pages(mapped);
  tiles.numbers[0] = file.descriptors()[0];
  EXPECT_NO_THROW(tiles.import());
  EXPECT_THROW(tiles.import(Accept::sealed_files), TransferError);
  send_with(sockets[0], std::as_bytes(std::span(&tiles.message, 1)), tiles.numbers);
  EXPECT_THROW(receive<TiledBuffer>(sockets[1], Accept::sealed_files), TransferError);
  EXPECT_NO_THROW(Changed<>(Buffer::allocate(0)).import(Accept::sealed_files));
}

}  // namespace
}  // namespace byre::test
