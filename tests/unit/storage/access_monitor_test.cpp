// SPDX-License-Identifier: BSL-1.0
// A checked build ends the program where a write to one storage meets anything else on it. Compiled
// in checked builds only.
#include <byre/storage/storage.hpp>

#include <gtest/gtest.h>
#include <boost/thread/thread.hpp>

#include <optional>
#include <string>

#include "support/at_once.hpp"
#include "support/failing_allocator.hpp"

namespace byre::test {
namespace {

std::string line(int number) {
  return "access_monitor_test.cpp:" + std::to_string(number);
}

/// A storage whose write stands still in the middle, on a thread of its own. A forked child has none of its
/// parent's threads, so a death test makes its write in the child.
class WriteUnderWay {
 public:
  static constexpr int written_at = __LINE__ + 2;

  WriteUnderWay() : WriteUnderWay([](Storage& storage) { storage.mutable_data(); }) {}
  explicit WriteUnderWay(void (*write)(Storage&)) : clone_(storage_.lazy_clone()) {
    allocator_.halt_copy(copy_);  // this write alone stands still
    writer_ = boost::thread([this, write] { write(storage_); });
    copy_.await_entry();
  }
  ~WriteUnderWay() {
    copy_.let_go();
    writer_.join();
  }
  WriteUnderWay(const WriteUnderWay&) = delete;
  WriteUnderWay& operator=(const WriteUnderWay&) = delete;

  Storage& storage() { return storage_; }
  Storage& clone() { return clone_; }

 private:
  FailingAllocator allocator_;
  Storage storage_ = Storage::allocate(64, allocator_);
  Storage clone_;
  Halt copy_;
  boost::thread writer_;
};

/// What is said of an access, here, that meets a WriteUnderWay.
std::string complaint(const std::string& access, int here) {
  return line(here) + ": this " + access + " meets a write of the same storage .* at .*" +
         line(WriteUnderWay::written_at);
}

TEST(CheckedBuildDeathTest, a_read_during_a_write_names_both_places) {
  const int here = __LINE__ + 1;
  const auto read = [](Storage& storage) { storage.data(); };
  EXPECT_DEATH(read(WriteUnderWay().storage()), complaint("read", here));
}

TEST(CheckedBuildDeathTest, a_write_during_a_write_names_both_places) {
  const int here = __LINE__ + 1;
  const auto write = [](Storage& storage) { storage.materialize(); };
  EXPECT_DEATH(write(WriteUnderWay().storage()), complaint("write", here));
  EXPECT_DEATH((void)WriteUnderWay().storage().writable_clone(), "this write meets a write");
}

TEST(CheckedBuildDeathTest, a_lazy_clone_during_a_write_ends_the_program) {
  EXPECT_DEATH((void)WriteUnderWay().storage().lazy_clone(), "this lazy clone meets a write");
}

TEST(CheckedBuildDeathTest, a_question_during_a_write_ends_the_program) {
  EXPECT_DEATH((void)WriteUnderWay().storage().is_unique(), "this read meets a write");
  EXPECT_DEATH((void)WriteUnderWay().storage().nbytes(), "this read meets a write");
  const auto ask = [](WriteUnderWay&& write) {
    return write.storage().shares_data_with(write.clone());
  };
  EXPECT_DEATH((void)ask(WriteUnderWay()), "this read meets a write");
}

TEST(CheckedBuildDeathTest, a_destruction_during_a_write_ends_the_program) {
  EXPECT_DEATH(
      {
        FailingAllocator allocator;
        std::optional<Buffer> buffer = Buffer::allocate(8, allocator);
        const Buffer clone = *buffer;
        Halt copy;  // which is never let go
        allocator.halt_copy(copy);
        boost::thread writer([&] { buffer->mutable_data(); });
        copy.await_entry();
        buffer.reset();
      },
      "this write meets a write");
}

/// The first thread of a parallel loop.
constexpr int written_in_parallel_at = __LINE__ + 2;
void write_in_parallel(Storage& storage) {
  storage.mutable_data_in_parallel();
}

/// What is said of an access, here, that meets it.
std::string complaint_of_loop(const std::string& access, int here) {
  return line(here) + ": this " + access + " meets a write of the same storage .* at .*" +
         line(written_in_parallel_at) + ".*mutable_data_in_parallel";
}

TEST(CheckedBuildDeathTest, what_else_is_done_while_a_loop_copies_names_both_places) {
  const int here = __LINE__ + 1;
  const auto write = [](Storage& storage) { storage.mutable_data(); };
  EXPECT_DEATH(write(WriteUnderWay(write_in_parallel).storage()), complaint_of_loop("write", here));
  const int cloned_here = __LINE__ + 1;
  const auto clone = [](Storage& storage) { return storage.lazy_clone(); };
  EXPECT_DEATH((void)clone(WriteUnderWay(write_in_parallel).storage()),
               complaint_of_loop("lazy clone", cloned_here));
  const int read_here = __LINE__ + 1;
  const auto read = [](Storage& storage) { storage.data(); };  // by a thread that has not asked
  EXPECT_DEATH(read(WriteUnderWay(write_in_parallel).storage()),
               complaint_of_loop("read", read_here));
}

TEST(CheckedBuildDeathTest, a_loop_that_begins_during_a_write_names_both_places) {
  const int here = __LINE__ + 1;
  const auto write = [](Storage& storage) { storage.mutable_data_in_parallel(); };
  EXPECT_DEATH(write(WriteUnderWay().storage()), complaint("write in parallel", here));
  const auto write_range = [](Storage& storage) { storage.mutable_range_in_parallel(0, 1); };
  EXPECT_DEATH(write_range(WriteUnderWay().storage()), "this read meets a write");
}

TEST(CheckedBuild, lets_threads_of_a_loop_ask_at_once_and_read) {
  detail::AccessMonitor monitor;
  const auto first = monitor.writes_in_parallel({"loop", 1});
  const auto second = monitor.writes_in_parallel({"loop", 2});
  const auto read = monitor.reads({"loop", 3});
}

TEST(CheckedBuildDeathTest, a_lazy_clone_meets_a_thread_of_a_loop_that_has_nothing_to_copy) {
  const auto clone_first = [] {
    detail::AccessMonitor monitor;
    const auto first = monitor.is_cloned({"cloned", 1});
    const auto second = monitor.writes_in_parallel({"loop", 2});
  };
  EXPECT_DEATH(clone_first(), "loop:2: this write in parallel meets a lazy clone .* cloned:1");
  const auto loop_first = [] {
    detail::AccessMonitor monitor;
    const auto first = monitor.writes_in_parallel({"loop", 1});
    const auto second = monitor.is_cloned({"cloned", 2});
  };
  EXPECT_DEATH(loop_first(), "cloned:2: this lazy clone meets a write in parallel .* loop:1");
}

// What a clone left write-protected, or with a checksum, is the loop's to write.
TEST(CheckedBuild, lets_a_loop_write_what_a_clone_shared_that_is_gone) {
  for (const std::size_t nbytes : {std::size_t{64}, std::size_t{1} << 20}) {
    Storage storage = Storage::allocate(nbytes);
    storage.mutable_data()[0] = std::byte{1};
    { const Storage clone = storage.lazy_clone(); }
    storage.mutable_data_in_parallel()[0] = std::byte{2};
    storage.mutable_range_in_parallel(1, 1)[0] = std::byte{3};
    EXPECT_EQ(storage.materialize(), Materialized::already_unique);
    EXPECT_EQ(storage.data()[0], std::byte{2});
  }
}

TEST(CheckedBuild, lets_a_loop_ask_a_storage_without_bytes) {
  Storage storage{Buffer()};
  at_once(4, [&](std::size_t) {
    for (int time = 0; time < 100'000; ++time) {
      EXPECT_EQ(storage.mutable_data_in_parallel(), nullptr);
    }
  });
}

TEST(CheckedBuild, lets_a_storage_be_cloned_and_read_at_once) {
  detail::AccessMonitor monitor;
  const auto first = monitor.is_cloned({"cloned", 1});
  const auto second = monitor.is_cloned({"cloned", 2});
  const auto read = monitor.reads({"read", 3});
}

TEST(CheckedBuild, lets_anything_happen_to_a_clone_during_a_write) {
  WriteUnderWay write;
  EXPECT_NE(write.clone().data(), nullptr);
  EXPECT_TRUE(write.clone().lazy_clone());
  write.clone().mutable_data(Wait::never)[0] = std::byte{1};
}

}  // namespace
}  // namespace byre::test
