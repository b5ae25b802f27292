// SPDX-License-Identifier: BSL-1.0
/// Messages that are damaged, hostile, or of another version, and sockets that fail.
#include <byre/ipc/detail/transfers.hpp>
#include <byre/ipc/send.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/system/detail/sockets.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "../pages/children.hpp"
#include "../pages/paged_buffers.hpp"
#include "peer.hpp"
#include "support/temporary_folder.hpp"
#include "support/watched_system.hpp"

namespace byre::test {
namespace {

using detail::PatchRun;
using detail::TransferMessage;

/// Exported data whose message a test changes.
template <class Data = Buffer>
struct Changed {
  explicit Changed(const Data& data) : exported(export_pages(data)) {
    std::memcpy(&message, exported.message().data(), sizeof message);
    numbers.assign(exported.descriptors().begin(), exported.descriptors().end());
  }

  Data import(Accept accept = Accept::any_file) const {
    return import_pages<Data>(std::as_bytes(std::span(&message, 1)), numbers, accept);
  }
  /// The text of the error of import().
  std::string error() const {
    try {
      import();
    } catch (const TransferError& error) {
      return error.what();
    }
    return "no error";
  }

  ExportedPages exported;
  TransferMessage message;
  std::vector<int> numbers;
};

/// Sends a message with any number of descriptors.
void send_with(int socket, std::span<const std::byte> message, std::span<const int> descriptors) {
  EXPECT_EQ(system::send_message(socket, message, descriptors), system::Transfer::done);
}

Changed<> whole() {
  return Changed(filled(std::byte{1}));
}

/// An overlay with two written pages.
Changed<> written() {
  const Buffer base = filled(std::byte{1});
  Buffer overlay = base;
  overlay.mutable_data()[0] = overlay.mutable_data()[paged_nbytes / 2] = std::byte{2};
  return Changed(overlay);
}

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

/// A memory file of a hostile process.
class HostileFile {
 public:
  explicit HostileFile(std::size_t nbytes, int seals = 0)
      : number_(::memfd_create("hostile", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    EXPECT_EQ(::ftruncate(number_, static_cast<off_t>(nbytes)), 0);
    seal(seals);
  }
  ~HostileFile() { ::close(number_); }
  HostileFile(const HostileFile&) = delete;
  HostileFile& operator=(const HostileFile&) = delete;

  int number() const noexcept { return number_; }
  void seal(int seals) const { EXPECT_EQ(::fcntl(number_, F_ADD_SEALS, seals), 0); }
  template <class Value>
  void write(std::size_t at, const Value& value) const {
    EXPECT_EQ(::pwrite(number_, &value, sizeof value, static_cast<off_t>(at)),
              ssize_t{sizeof value});
  }

 private:
  int number_;
};

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

TEST(Messages, an_importer_cannot_change_the_exporters_data) {
  const Buffer buffer = filled(std::byte{1});
  const ExportedPages exported = export_pages(buffer);
  const int received = exported.descriptors()[0];
  const std::string path = "/proc/self/fd/" + std::to_string(received);
  const int writable = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  for (const int file : {received, writable}) {
    const std::byte value{2};
    EXPECT_EQ(::pwrite(file, &value, 1, 0), -1);
    EXPECT_EQ(::mmap(nullptr, page_nbytes, PROT_WRITE, MAP_SHARED, file, 0), MAP_FAILED);
    EXPECT_EQ(::ftruncate(file, 0), -1);
    EXPECT_EQ(::ftruncate(file, 2 * paged_nbytes), -1);
    EXPECT_EQ(::fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, page_nbytes), -1);
  }
  EXPECT_EQ(::fcntl(received, F_GETFL) & O_ACCMODE, O_RDONLY);
  EXPECT_EQ(::fcntl(writable, F_ADD_SEALS, F_SEAL_SEAL), 0);
  ::close(writable);
  EXPECT_TRUE(is_all(buffer, std::byte{1}));
  EXPECT_EQ(export_pages(buffer).copied_nbytes(), 0U);
}

TEST(Messages, an_importer_that_locks_the_file_delays_no_export) {
  const Buffer buffer = filled(std::byte{1});
  const ExportedPages exported = export_pages(buffer);
  ASSERT_EQ(::flock(exported.descriptors()[0], LOCK_EX), 0);
  const ExportedPages copied = export_pages(buffer);
  EXPECT_EQ(copied.copied_nbytes(), paged_nbytes);
  EXPECT_TRUE(is_all(import_pages(copied.message(), copied.descriptors()), std::byte{1}));
}

TEST(Messages, an_exported_file_has_no_other_data) {
  const Buffer buffer = filled(std::byte{1}, least_paged_nbytes);
  const Buffer other = filled(std::byte{2}, least_paged_nbytes);
  const ExportedPages exported = export_pages(buffer);
  struct ::stat about {};
  ASSERT_EQ(::fstat(exported.descriptors()[0], &about), 0);
  std::vector<std::byte> contents(static_cast<std::size_t>(about.st_size));
  ASSERT_EQ(::pread(exported.descriptors()[0], contents.data(), contents.size(), 0), about.st_size);
  EXPECT_EQ(std::ranges::count(contents, std::byte{2}), 0);
}

TEST(Messages, a_socket_that_ends_early_is_reported) {
  for (const std::size_t nbytes : {0U, 1U, 2047U}) {
    SocketPair sockets;
    const std::vector<std::byte> bytes(nbytes);
    ASSERT_EQ(::write(sockets[0], bytes.data(), nbytes), static_cast<ssize_t>(nbytes));
    sockets.close(0);
    try {
      receive(sockets[1]);
      FAIL();
    } catch (const TransferError& error) {
      const std::string text = "ended after " + std::to_string(nbytes) + " bytes, required 2048";
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  }
}

TEST(Messages, a_short_packet_is_not_completed_by_the_next) {
  const SocketPair sockets(SOCK_SEQPACKET);
  ASSERT_EQ(::send(sockets[0], "x", 1, 0), 1);
  send(sockets[0], filled(std::byte{1}));
  EXPECT_THROW(receive(sockets[1]), TransferError);
  EXPECT_EQ(receive(sockets[1]).nbytes(), paged_nbytes);
}

TEST(Messages, a_message_with_three_descriptors_is_refused) {
  const SocketPair sockets;
  const Changed<> changed = written();
  const std::array three = {changed.numbers[0], changed.numbers[1], changed.numbers[0]};
  const std::size_t files = open_files().size();
  send_with(sockets[0], changed.exported.message(), std::span(three).first(2));
  EXPECT_EQ(receive(sockets[1]).nbytes(), paged_nbytes);
  send_with(sockets[0], changed.exported.message(), three);
  EXPECT_THROW(receive(sockets[1]), TransferError);
  EXPECT_EQ(open_files().size(), files);
}

TEST(Messages, sockets_that_pass_credentials_receive) {
  const SocketPair sockets;
  const int yes = 1;
  ASSERT_EQ(::setsockopt(sockets[1], SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes), 0);
  const std::size_t files = open_files().size();
  send_with(sockets[0], written().exported.message(), written().numbers);
  const Changed<> changed = written();
  send(sockets[0], changed.exported);
  EXPECT_THROW(receive<Storage>(sockets[1]), TransferError);
  EXPECT_EQ(receive(sockets[1]).data()[0], std::byte{2});
  EXPECT_EQ(open_files().size(), files + 2);
}

TEST(Messages, sockets_of_the_network_are_refused) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const Buffer buffer = filled(std::byte{1});
  EXPECT_THROW(send(listener, buffer), TransferError);
  ::close(listener);
}

TEST(Messages, a_non_blocking_socket_waits_for_the_rest_of_a_message) {
  const SocketPair sockets(SOCK_STREAM | SOCK_NONBLOCK);
  const ExportedPages exported = export_pages(Buffer::allocate(0));
  ASSERT_EQ(::send(sockets[0], exported.message().data(), 64, 0), 64);
  std::thread rest([&] {
    const auto left = exported.message().subspan(64);
    EXPECT_EQ(::send(sockets[0], left.data(), left.size(), 0), static_cast<ssize_t>(left.size()));
  });
  EXPECT_EQ(receive(sockets[1]).nbytes(), 0U);
  rest.join();
}

TEST(Messages, a_message_in_parts_arrives) {
  const SocketPair sockets;
  const ExportedPages exported = export_pages(Buffer::allocate(0));
  for (std::size_t at = 0; at < exported.message().size(); at += 64) {
    ASSERT_EQ(::send(sockets[0], exported.message().data() + at, 64, 0), 64);
  }
  EXPECT_EQ(receive(sockets[1]).nbytes(), 0U);
}

TEST(Messages, a_closed_socket_and_a_file_are_refused) {
  SocketPair sockets;
  sockets.close(1);
  const Buffer buffer = filled(std::byte{1});
  EXPECT_THROW(send(sockets[0], buffer), TransferError);
  EXPECT_THROW(send(-1, buffer), TransferError);
  const HostileFile file(100);
  EXPECT_THROW(send(file.number(), buffer), TransferError);
  EXPECT_THROW(receive(file.number()), TransferError);
  collect();
  EXPECT_TRUE(buffer.is_unique());
}

TEST(Messages, a_full_non_blocking_socket_sends_nothing) {
  const SocketPair sockets(SOCK_STREAM | SOCK_NONBLOCK);
  EXPECT_THROW(receive(sockets[1]), TransferError);
  const Buffer buffer = filled(std::byte{1});
  int sent = 0;
  try {
    for (;; ++sent) {
      send(sockets[0], buffer);
    }
  } catch (const TransferError& error) {
    EXPECT_NE(std::string(error.what()).find("send"), std::string::npos);
  }
  EXPECT_GT(sent, 10);
  for (; sent != 0; --sent) {
    EXPECT_EQ(receive(sockets[1]).nbytes(), paged_nbytes);
  }
  EXPECT_THROW(receive(sockets[1]), TransferError);
}

TEST(Messages, a_receiver_without_descriptors_is_told_so) {
  in_a_child([] {
    const SocketPair sockets;
    send(sockets[0], filled(std::byte{1}));
    const rlim_t before = set_limit(RLIMIT_NOFILE, 0);
    try {
      receive(sockets[1]);
      ADD_FAILURE();
    } catch (const TransferError& error) {
      EXPECT_NE(std::string(error.what()).find("descriptors of the message were lost"),
                std::string::npos);
    }
    set_limit(RLIMIT_NOFILE, before);
  });
}

TEST(Messages, a_process_without_descriptors_exports_nothing) {
  in_a_child([] {
    const Buffer paged = filled(std::byte{1});
    const Buffer ordinary = filled(std::byte{1}, 100, default_allocator());
    const rlim_t before = set_limit(RLIMIT_NOFILE, 0);
    for (const Buffer* const buffer : {&paged, &ordinary}) {
      try {
        export_pages(*buffer);
        ADD_FAILURE();
      } catch (const TransferError& error) {
        EXPECT_NE(std::string(error.what()).find("limit of open files"), std::string::npos);
      }
    }
    set_limit(RLIMIT_NOFILE, before);
    EXPECT_EQ(export_pages(paged).copied_nbytes(), 0U);
  });
}

TEST(Messages, a_file_that_takes_the_number_during_an_export_is_not_sent) {
  in_a_child([] {
    const Buffer buffer = filled(std::byte{1});
    const HostileFile other(paged_nbytes);
    WatchedSystem system;
    system.before_opening = [&] {
      for (const auto& [number, name] : open_files()) {
        if (is_memory_file(name)) {
          ::dup2(other.number(), number);
        }
      }
      system.before_opening = [] {};
    };
    const ExportedPages exported = export_pages(buffer);
    EXPECT_EQ(exported.copied_nbytes(), paged_nbytes);
    EXPECT_TRUE(is_all(import_pages(exported.message(), exported.descriptors()), std::byte{1}));
  });
}

TEST(Messages, a_file_size_limit_is_named) {
  in_a_child([] {
    const Buffer ordinary = filled(std::byte{1}, 100, default_allocator());
    set_limit(RLIMIT_FSIZE, 0);
    errno = ENOMEM;
    try {
      export_pages(ordinary);
      ADD_FAILURE();
    } catch (const TransferError& error) {
      EXPECT_NE(std::string(error.what()).find("File too large"), std::string::npos);
    }
  });
}

TEST(Messages, a_descriptor_that_other_code_closed_is_not_sent) {
  in_a_child([] {
    const SocketPair sockets;
    const ExportedPages exported = export_pages(filled(std::byte{1}));
    ::close(exported.descriptors()[0]);
    ASSERT_EQ(::dup(sockets[1]), exported.descriptors()[0]);
    EXPECT_THROW(send(sockets[0], exported), TransferError);
  });
}

}  // namespace
}  // namespace byre::test
