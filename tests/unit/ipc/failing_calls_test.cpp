// SPDX-License-Identifier: BSL-1.0
/// Each call of the system fails once, during exports, imports, sends and receives. Either the
/// data arrives or an Error is thrown; nothing is lost, and nothing is left over.
#include <byre/ipc/send.hpp>
#include <byre/memory/host_allocators.hpp>
#include <byre/pages/paged_allocator.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "../pages/children.hpp"
#include "../pages/paged_buffers.hpp"
#include "peer.hpp"
#include "support/watched_system.hpp"

namespace byre::test {
namespace {

/// One buffer of each kind that is exported in a way of its own.
struct Sources {
  Sources() {
    written.mutable_data()[0] = std::byte{3};
    written.mutable_data()[paged_nbytes - 1] = std::byte{3};
  }
  void expect_unchanged() const {
    EXPECT_TRUE(is_all(paged, std::byte{1}));
    EXPECT_TRUE(is_all(ordinary, std::byte{2}));
    EXPECT_EQ(written.data()[0], std::byte{3});
    EXPECT_EQ(written.data()[1], std::byte{1});
    EXPECT_EQ(written.data()[paged_nbytes - 1], std::byte{3});
  }

  Buffer paged = filled(std::byte{1});
  Buffer ordinary = filled(std::byte{2}, 5000, aligned_allocator());
  Buffer written = paged;
  Buffer none;
};

/// The number of open files and of mapped memory files.
std::pair<std::size_t, std::size_t> usage() {
  return {open_files().size(), count_mappings(is_memory_file)};
}

/// Sends and receives `source`, or, if it is empty, data with one owner, and writes both. Throws
/// nothing but Errors.
void transfer_and_write(Buffer source) {
  if (source.nbytes() == 0) {
    source = filled(std::byte{1});
  }
  const SocketPair sockets;
  send(sockets[0], source);
  Buffer received = receive(sockets[1]);
  ASSERT_EQ(received.nbytes(), source.nbytes());
  EXPECT_EQ(std::memcmp(received.data(), source.data(), source.nbytes()), 0);
  const std::byte before = source.data()[100];
  source.mutable_data()[100] = std::byte{7};
  EXPECT_EQ(received.data()[100], before);
  received.mutable_data()[101] = std::byte{8};
  EXPECT_NE(source.data()[101], std::byte{8});
  const Buffer again = source;
  send(sockets[0], again);
}

/// Lets the calls of `work` fail one after another, until one run of `work` needs no further call.
/// Returns how often each function failed.
template <class Work>
std::map<std::string, int> with_each_call_failing(int error, const Work& work) {
  std::map<std::string, int> failed;
  for (std::size_t calls = 0;; ++calls) {
    WatchedSystem system;
    system.fail_once(calls, error);
    try {
      work();
    } catch (const Error&) {
    }
    if (system.failed() == nullptr) {
      return failed;
    }
    ++failed[system.failed()];
  }
}

class FailingCalls : public testing::TestWithParam<int> {};

TEST_P(FailingCalls, leave_the_data_and_no_resources) {
  {
    WatchedSystem system;
    system.has_many_descriptors = false;
    filled(std::byte{1});  // creates the file of data without a file of its own
  }
  const Sources sources;
  for (const Buffer* const source :
       {&sources.paged, &sources.ordinary, &sources.written, &sources.none}) {
    transfer_and_write(*source);
    collect();
    const auto before = usage();
    const auto failed = with_each_call_failing(GetParam(), [&] {
      try {
        transfer_and_write(*source);
      } catch (const Error& error) {
        EXPECT_GT(std::strlen(error.what()), 20U);
        throw;
      }
    });
    sources.expect_unchanged();
    collect();
    EXPECT_EQ(usage(), before);
    for (const char* const function : {"fcntl", "mmap", "open", "recvmsg", "sendmsg"}) {
      EXPECT_NE(failed.count(function), 0U) << function;
    }
    transfer_and_write(*source);
    collect();
  }
}

INSTANTIATE_TEST_SUITE_P(With, FailingCalls, testing::Values(ENOMEM, EMFILE, EPERM, EINTR),
                         [](const auto& test) {
                           return test.param == ENOMEM   ? "ENOMEM"
                                  : test.param == EMFILE ? "EMFILE"
                                  : test.param == EPERM  ? "EPERM"
                                                         : "EINTR";
                         });

TEST(FailingMemory, is_reported_as_such) {
  const Buffer ordinary = filled(std::byte{2}, 5000, aligned_allocator());
  Buffer written = filled(std::byte{1});
  const Buffer base = written;
  written.mutable_data()[0] = std::byte{2};
  const ExportedPages exported = export_pages(written);
  {
    WatchedSystem system;
    system.fail_after(0);
    EXPECT_THROW(export_pages(ordinary), OutOfMemory);
    EXPECT_THROW(import_pages(exported.message(), exported.descriptors()), OutOfMemory);
  }
  WatchedSystem system;
  system.fail_once(0, ENOMEM, "memfd_create");
  EXPECT_THROW(export_pages(ordinary), OutOfMemory);
  EXPECT_EQ(export_pages(ordinary).copied_nbytes(), 5000U);
}

/// There is no /proc, so no file can be opened a second time.
TEST(FailingCalls, without_a_second_descriptor_a_copy_is_sent) {
  Buffer buffer = filled(std::byte{1});
  const Buffer ordinary = filled(std::byte{2}, 5000, aligned_allocator());
  WatchedSystem system;
  for (const Buffer* const each : {&std::as_const(buffer), &ordinary}) {
    system.fail_once(0, ENOENT, "open");
    const ExportedPages exported = export_pages(*each);
    EXPECT_STREQ(system.failed(), "open");
  }
  for (const Buffer* const each : {&std::as_const(buffer), &ordinary}) {
    system.has_proc = false;
    const ExportedPages exported = export_pages(*each);
    system.has_proc = true;
    EXPECT_EQ(exported.copied_nbytes(), each->nbytes());
    const Buffer imported =
        import_pages(exported.message(), exported.descriptors(), Accept::sealed_files);
    EXPECT_TRUE(is_all(imported, each->data()[0]));
    EXPECT_EQ(buffer.materialize(), Materialized::already_unique);
  }
}

TEST(InterruptedCalls, are_repeated) {
  const SocketPair sockets;
  WatchedSystem system;
  system.fail_once(0, EINTR, "sendmsg");
  send(sockets[0], filled(std::byte{1}));
  EXPECT_STREQ(system.failed(), "sendmsg");
  system.fail_once(0, EINTR, "recvmsg");
  EXPECT_TRUE(is_all(receive(sockets[1]), std::byte{1}));
  EXPECT_STREQ(system.failed(), "recvmsg");
  const Buffer buffer = filled(std::byte{1});
  std::optional<ExportedPages> exported = export_pages(buffer);
  system.fail_once(0, EINTR, "flock");
  std::thread waiting([] { EXPECT_EQ(collect(Wait::allowed).remaining, 0U); });
  exported.reset();
  waiting.join();
  EXPECT_STREQ(system.failed(), "flock");
}

}  // namespace
}  // namespace byre::test
