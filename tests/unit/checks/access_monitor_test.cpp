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

/// The first thread of a parallel loop.
constexpr int written_in_parallel_at = __LINE__ + 2;
void write_in_parallel(Storage& storage) {
  storage.mutable_data_in_parallel();
}

/// An access in this line, and its name in what is said of it.
struct Access {
  int here;
  const char* name;
  void (*make)(WriteUnderWay& write);
};

TEST(CheckedBuildDeathTest, a_write_during_a_write_names_both_places) {
  using Under = WriteUnderWay;
  const Access during_a_write[] = {
      {__LINE__, "read", [](Under& write) { write.storage().data(); }},
      {__LINE__, "read", [](Under& write) { (void)write.storage().is_unique(); }},
      {__LINE__, "read", [](Under& write) { (void)write.storage().nbytes(); }},
      {__LINE__, "read", [](Under& w) { (void)w.storage().shares_data_with(w.clone()); }},
      {__LINE__, "write", [](Under& write) { write.storage().materialize(); }},
      {__LINE__, "write", [](Under& write) { (void)write.storage().writable_clone(); }},
      {__LINE__, "lazy clone", [](Under& write) { (void)write.storage().lazy_clone(); }},
      {__LINE__, "write in parallel", [](Under& w) { w.storage().mutable_data_in_parallel(); }},
      {__LINE__, "read", [](Under& w) { w.storage().mutable_range_in_parallel(0, 1); }},
  };
  const std::string meets = " meets a write of the same storage .* at .*";
  for (const Access& access : during_a_write) {
    const auto act = [&] {
      WriteUnderWay write;
      access.make(write);
    };
    EXPECT_DEATH(act(), line(access.here) + ": this " + access.name + meets +
                            line(WriteUnderWay::written_at));
  }
  const Access during_a_loop[] = {
      {__LINE__, "read", [](Under& w) { w.storage().data(); }},  // by a thread that has not asked
      {__LINE__, "write", [](Under& write) { write.storage().mutable_data(); }},
      {__LINE__, "lazy clone", [](Under& write) { (void)write.storage().lazy_clone(); }},
  };
  for (const Access& access : during_a_loop) {
    const auto act = [&] {
      WriteUnderWay write(write_in_parallel);
      access.make(write);
    };
    EXPECT_DEATH(act(), line(access.here) + ": this " + access.name + meets +
                            line(written_in_parallel_at) + ".*mutable_data_in_parallel");
  }
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

TEST(CheckedBuild, lets_a_loop_ask_at_once_and_what_is_cloned_be_read) {
  {
    detail::AccessMonitor monitor;
    const auto first = monitor.writes_in_parallel({"loop", 1});
    const auto second = monitor.writes_in_parallel({"loop", 2});
    const auto read = monitor.reads({"loop", 3});
  }
  detail::AccessMonitor monitor;
  const auto first = monitor.is_cloned({"cloned", 1});
  const auto second = monitor.is_cloned({"cloned", 2});
  const auto read = monitor.reads({"read", 3});
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

TEST(CheckedBuild, lets_anything_happen_to_a_clone_during_a_write) {
  WriteUnderWay write;
  EXPECT_NE(write.clone().data(), nullptr);
  EXPECT_TRUE(write.clone().lazy_clone());
  write.clone().mutable_data(Wait::never)[0] = std::byte{1};
}

}  // namespace
}  // namespace byre::test
