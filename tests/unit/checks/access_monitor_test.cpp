// SPDX-License-Identifier: BSL-1.0
// A checked build ends the program if a write to a storage overlaps another access. Compiled only
// in checked builds.
#include <byre/ipc/exported_pages.hpp>
#include <byre/storage/storage.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>

#include "support/at_once.hpp"
#include "support/failing_allocator.hpp"

namespace byre::test {
namespace {

std::string line(int number) {
  return "access_monitor_test.cpp:" + std::to_string(number);
}

/// A storage with a write in progress: another thread is stopped in the middle of the copy. Death
/// tests construct it in the child, because threads of the parent do not exist in a forked child.
class WriteUnderWay {
 public:
  static constexpr int written_at = __LINE__ + 2;

  WriteUnderWay() : WriteUnderWay([](Storage& storage) { storage.mutable_data(); }) {}
  explicit WriteUnderWay(void (*write)(Storage&)) : clone_(storage_.lazy_clone()) {
    allocator_.halt_copy(copy_);
    writer_ = std::thread([this, write] { write(storage_); });
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
  std::thread writer_;
};

/// The first thread of a parallel loop.
constexpr int written_in_parallel_at = __LINE__ + 2;
void write_in_parallel(Storage& storage) {
  storage.mutable_data_in_parallel();
}

/// An access by `make`: the line of its call site, and the name of the access in the message.
struct Access {
  int here;
  const char* name;
  void (*make)(WriteUnderWay& write);
};

TEST(CheckedBuildDeathTest, an_access_during_a_write_names_both_call_sites) {
  using Under = WriteUnderWay;
  const Access during_a_write[] = {
    {__LINE__, "read", [](Under& write) { write.storage().data(); }},
    {__LINE__, "read", [](Under& write) { (void)write.storage().is_unique(); }},
    {__LINE__, "read", [](Under& write) { (void)write.storage().nbytes(); }},
    {__LINE__, "read", [](Under& w) { (void)w.storage().shares_data_with(w.clone()); }},
    {__LINE__, "write", [](Under& write) { write.storage().materialize(); }},
    {__LINE__, "write", [](Under& write) { (void)write.storage().writable_clone(); }},
    {__LINE__, "lazy clone", [](Under& write) { (void)write.storage().lazy_clone(); }},
    {__LINE__, "lazy clone", [](Under& write) { (void)write.storage().version(); }},
#if defined(__linux__)
    {__LINE__, "lazy clone", [](Under& write) { export_pages(write.storage()); }},
#endif
    {__LINE__, "write in parallel", [](Under& w) { w.storage().mutable_data_in_parallel(); }},
    {__LINE__, "read", [](Under& w) { w.storage().mutable_range_in_parallel(0, 1); }},
  };
  const std::string overlaps_write = " overlaps a write of the same storage at .*";
  for (const Access& access : during_a_write) {
    const auto act = [&] {
      WriteUnderWay write;
      access.make(write);
    };
    EXPECT_DEATH(act(), line(access.here) + ": this " + access.name + overlaps_write +
                            line(WriteUnderWay::written_at));
  }
  const Access during_a_loop[] = {
      {__LINE__, "read", [](Under& w) { w.storage().data(); }},  // outside the parallel loop
      {__LINE__, "write", [](Under& write) { write.storage().mutable_data(); }},
      {__LINE__, "lazy clone", [](Under& write) { (void)write.storage().lazy_clone(); }},
      {__LINE__, "lazy clone", [](Under& write) { (void)write.storage().version(); }},
  };
  for (const Access& access : during_a_loop) {
    const auto act = [&] {
      WriteUnderWay write(write_in_parallel);
      access.make(write);
    };
    EXPECT_DEATH(act(), line(access.here) + ": this " + access.name + overlaps_write +
                            line(written_in_parallel_at) + ".*mutable_data_in_parallel");
  }
}

TEST(CheckedBuildDeathTest, destroying_a_buffer_during_a_write_ends_the_program) {
  EXPECT_DEATH(
      {
        FailingAllocator allocator;
        std::optional<Buffer> buffer = Buffer::allocate(8, allocator);
        const Buffer clone = *buffer;
        Halt copy;  // this copy never ends
        allocator.halt_copy(copy);
        std::thread writer([&] { buffer->mutable_data(); });
        copy.await_entry();
        buffer.reset();
      },
      "this write overlaps a write");
}

TEST(CheckedBuild, reads_may_overlap_parallel_writes_or_clones) {
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

TEST(CheckedBuildDeathTest, a_lazy_clone_must_not_overlap_a_parallel_write) {
  const auto clone_first = [] {
    detail::AccessMonitor monitor;
    const auto first = monitor.is_cloned({"cloned", 1});
    const auto second = monitor.writes_in_parallel({"loop", 2});
  };
  EXPECT_DEATH(clone_first(), "loop:2: this write in parallel overlaps a lazy clone .* cloned:1");
  const auto loop_first = [] {
    detail::AccessMonitor monitor;
    const auto first = monitor.writes_in_parallel({"loop", 1});
    const auto second = monitor.is_cloned({"cloned", 2});
  };
  EXPECT_DEATH(loop_first(), "cloned:2: this lazy clone overlaps a write in parallel .* loop:1");
}

// A former clone may have left the data write-protected or checksummed.
TEST(CheckedBuild, parallel_writes_are_allowed_after_a_clone_is_dropped) {
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

TEST(CheckedBuild, parallel_writes_to_an_empty_storage_are_allowed) {
  Storage storage{Buffer()};
  at_once(4, [&](std::size_t) {
    for (int time = 0; time < 100'000; ++time) {
      EXPECT_EQ(storage.mutable_data_in_parallel(), nullptr);
    }
  });
}

TEST(CheckedBuild, a_clone_may_be_used_during_a_write_to_its_source) {
  WriteUnderWay write;
  EXPECT_NE(write.clone().data(), nullptr);
  EXPECT_TRUE(write.clone().lazy_clone());
  write.clone().mutable_data(Wait::never)[0] = std::byte{1};
}

}  // namespace
}  // namespace byre::test
