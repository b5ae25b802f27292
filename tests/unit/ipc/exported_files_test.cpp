// SPDX-License-Identifier: BSL-1.0
/// The files and descriptors of exported data.
#include <byre/ipc/send.hpp>
#include <byre/memory/pages.hpp>
#include <byre/pages/paged_allocator.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <exception>
#include <string>
#include <vector>

#include "../pages/children.hpp"
#include "../pages/paged_buffers.hpp"
#include "changed_messages.hpp"
#include "patterns.hpp"
#include "peer.hpp"
#include "support/temporary_folder.hpp"
#include "support/watched_system.hpp"

namespace byre::test {
namespace {

TEST(ExportedFiles, an_importer_cannot_change_the_exporters_data) {
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

TEST(ExportedFiles, an_importer_that_locks_the_file_delays_no_export) {
  const Buffer buffer = filled(std::byte{1});
  const ExportedPages exported = export_pages(buffer);
  ASSERT_EQ(::flock(exported.descriptors()[0], LOCK_EX), 0);
  const ExportedPages copied = export_pages(buffer);
  EXPECT_EQ(copied.copied_nbytes(), paged_nbytes);
  EXPECT_TRUE(is_all(import_pages(copied.message(), copied.descriptors()), std::byte{1}));
}

TEST(ExportedFiles, an_exported_file_has_no_other_data) {
  const Buffer buffer = filled(std::byte{1}, least_paged_nbytes);
  const Buffer other = filled(std::byte{2}, least_paged_nbytes);
  const ExportedPages exported = export_pages(buffer);
  struct ::stat about {};
  ASSERT_EQ(::fstat(exported.descriptors()[0], &about), 0);
  std::vector<std::byte> contents(static_cast<std::size_t>(about.st_size));
  ASSERT_EQ(::pread(exported.descriptors()[0], contents.data(), contents.size(), 0), about.st_size);
  EXPECT_EQ(std::ranges::count(contents, std::byte{2}), 0);
}

bool says_that_files_are_limited(const std::exception_ptr& error) {
  if (error == nullptr) {
    return false;
  }
  try {
    std::rethrow_exception(error);
  } catch (const TransferError& refused) {
    return std::string(refused.what()).find("limit of open files") != std::string::npos;
  }
}

TEST(ExportedFiles, a_process_without_descriptors_exports_nothing) {
  in_a_child([] {
    const Buffer paged = filled(std::byte{1});
    const Buffer ordinary = filled(std::byte{1}, 100, default_allocator());
    for (const Buffer* const buffer : {&paged, &ordinary}) {
      std::exception_ptr error;  // read later: sanitizers need descriptors for calls of its members
      const rlim_t before = set_limit(RLIMIT_NOFILE, 0);
      try {
        export_pages(*buffer);
      } catch (const TransferError&) {
        error = std::current_exception();
      }
      set_limit(RLIMIT_NOFILE, before);
      EXPECT_TRUE(says_that_files_are_limited(error));
    }
    EXPECT_EQ(export_pages(paged).copied_nbytes(), 0U);
  });
}

TEST(ExportedFiles, a_file_that_takes_the_number_during_an_export_is_not_sent) {
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

TEST(ExportedFiles, a_file_size_limit_is_named) {
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

TEST(ExportedFiles, a_descriptor_that_other_code_closed_is_not_sent) {
  in_a_child([] {
    const SocketPair sockets;
    const ExportedPages exported = export_pages(filled(std::byte{1}));
    ::close(exported.descriptors()[0]);
    ASSERT_EQ(::dup(sockets[1]), exported.descriptors()[0]);
    EXPECT_THROW(send(sockets[0], exported), TransferError);
  });
}

TEST(ExportedFiles, a_memory_file_is_sealed) {
  const ExportedPages exported = export_pages(patterned(paged_nbytes));
  const Buffer imported =
      import_pages(exported.message(), exported.descriptors(), Accept::sealed_files);
  EXPECT_EQ(first_difference(imported.data(), paged_nbytes), paged_nbytes);
}

TEST(ExportedFiles, a_system_without_the_seal_of_execution_exports_pages) {
  WatchedSystem system;
  system.has_noexec_seal = false;
  EXPECT_EQ(copied_by_export(patterned(paged_nbytes)), 0U);
}

TEST(ExportedFiles, exports_take_a_quarter_of_the_descriptors) {
  in_a_child([] {
    const rlim_t before = set_limit(RLIMIT_NOFILE, 64);
    const auto open_one = [] { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); };
    const auto is_exported = [] { return copied_by_export(filled(std::byte{1})) == 0; };
    int last = open_one();
    while (last < 15) {
      last = open_one();
    }
    ASSERT_EQ(last, 15);
    ::close(last);
    EXPECT_TRUE(is_exported());
    collect();
    EXPECT_EQ(open_one(), last);
    EXPECT_FALSE(is_exported());
    set_limit(RLIMIT_NOFILE, before);
    const Buffer buffer = filled(std::byte{1});
    const auto files = open_files();
    EXPECT_EQ(std::ranges::any_of(files,
                                  [](const auto& file) {
                                    return file.first >= 1024 && is_memory_file(file.second);
                                  }),
              before > 4096);
  });
}

TEST(ExportedFiles, descriptors_close_on_exec_and_are_at_least_3) {
  in_a_child([] {
    ::close(0);
    ::close(1);
    const SocketPair sockets;  // takes these numbers
    const Buffer buffer = patterned(least_paged_nbytes);
    const ExportedPages exported = export_pages(buffer);
    send(sockets[0], exported);
    ::close(sockets[0]);
    const Buffer imported = receive(sockets[1]);
    const ExportedPages again = export_pages(imported);
    const Buffer duplicate = import_pages(again.message(), again.descriptors());
    for (const auto& [number, name] : open_files()) {
      if (is_memory_file(name)) {
        EXPECT_GE(number, 3);
        EXPECT_EQ(::fcntl(number, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC) << number;
      }
    }
  });
}

TEST(ExportedFiles, no_descriptor_and_no_mapping_is_left) {
  const TemporaryFolder folder;
  write_file(folder / "file", std::string(huge_page_nbytes + 7, 'f'));  // ends within a page
  const Buffer mapped = Buffer::map_file(folder / "file");
  const auto transfer = [&mapped] {
    Buffer of_file = transferred(mapped);
    of_file.mutable_data()[0] = std::byte{1};
    Buffer imported = transferred(patterned(paged_nbytes));
    imported.mutable_data()[0] = std::byte{1};
    transferred(imported);
    transferred(patterned(100, default_allocator()));
  };
  transfer();
  collect();
  const std::size_t files = open_files().size();
  const std::size_t nbytes = address_space_nbytes();
  for (int times = 0; times < 20; ++times) {
    transfer();
  }
  collect();
  EXPECT_EQ(open_files().size(), files);
  EXPECT_LT(address_space_nbytes(), nbytes + paged_nbytes);
}

/// A child with a mapping that can write the file would prevent the seal. The copy touches an
/// inaccessible page, so the process forks in the middle of the export.
TEST(ExportedFiles, a_fork_during_the_copy_leaves_the_file_sealed) {
  in_a_child([] {
    static void* const page =
        ::mmap(nullptr, page_nbytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    static pid_t child = 0;
    std::signal(SIGSEGV, [](int) {
      ::mprotect(page, page_nbytes, PROT_READ);
      child = ::fork();
      while (child == 0) {
        ::pause();
      }
    });
    const Buffer source = Buffer::adopt(page, page_nbytes, [](void*) {});
    EXPECT_EQ(transferred(source).data()[0], std::byte{0});
    EXPECT_GT(child, 0);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  });
}

}  // namespace
}  // namespace byre::test
