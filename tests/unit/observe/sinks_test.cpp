// SPDX-License-Identifier: BSL-1.0
/// How copy sinks are called: how long, on which thread, and what they may do wrong.
#include <byre/memory/host_allocators.hpp>
#include <byre/observe/counters.hpp>
#include <byre/observe/events.hpp>
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>
#include <boost/atomic/atomic.hpp>
#include <boost/thread/thread.hpp>

#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "support/at_once.hpp"
#include "support/caught_warnings.hpp"
#include "support/complaint.hpp"
#include "support/counted.hpp"

namespace byre::test {
namespace {

using stats::CopyEvent;
using stats::InstalledSink;

/// One copy, of `nbytes`. The clone reads what the original did.
void copy_and_compare(std::size_t nbytes = 100) {
  Buffer buffer = Buffer::allocate(nbytes, aligned_allocator());
  std::memset(buffer.mutable_data(), 5, nbytes);
  Buffer clone = buffer;
  std::memset(clone.mutable_data(), 6, 1);
  EXPECT_EQ(buffer.data()[0], std::byte{5});
  EXPECT_EQ(clone.data()[0], std::byte{6});
  EXPECT_EQ(clone.data()[nbytes - 1], std::byte{5});
}

class Sinks : public WithStats {};

TEST(SinksWithoutStats, are_never_called) {
  if (BYRE_STATS) {
    GTEST_SKIP() << "built with stats";
  }
  const Recorder recorder;
  copy_and_compare();
  EXPECT_TRUE(recorder.events().empty());
}

TEST_F(Sinks, are_all_called_until_they_are_uninstalled) {
  const auto captured = std::make_shared<int>(0);
  const Recorder first;
  std::optional<InstalledSink> second([captured](const CopyEvent&) { ++*captured; });
  const Recorder third;
  copy_and_compare();
  EXPECT_EQ(captured.use_count(), 2);
  second.reset();
  EXPECT_EQ(captured.use_count(), 1);
  copy_and_compare();
  EXPECT_EQ(*captured, 1);
  EXPECT_EQ(first.events().size(), 2U);
  EXPECT_EQ(third.events().size(), 2U);
  const Recorder late;
  copy_and_compare();
  EXPECT_EQ(late.events().size(), 1U);
}

TEST_F(Sinks, that_throw_become_a_warning_and_the_next_one_is_called) {
  const auto expect_warning = [](const char* said, stats::CopySink sink) {
    const CaughtWarnings warnings;
    const InstalledSink installed(std::move(sink));
    const Recorder next;
    copy_and_compare();
    ASSERT_EQ(warnings.texts().size(), 1U);
    EXPECT_TRUE(says(warnings.texts()[0], "copy sink", said));
    EXPECT_EQ(next.events().size(), 1U);
  };
  expect_warning("the sink is full", [](auto&) { throw std::runtime_error("the sink is full"); });
  expect_warning("threw: The disk is full. The copy",
                 [](auto&) { throw Error(format_text("The disk is full.")); });
  expect_warning("", [](auto&) { throw 42; });
}

TEST_F(Sinks, that_copy_are_not_told_of_their_own_copies) {
  int calls = 0;
  const Recorder other;
  const InstalledSink sink([&](const CopyEvent&) {
    ++calls;
    copy_and_compare(7);
  });
  const Counted counted;
  copy_and_compare();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(other.events().size(), 1U);
  EXPECT_EQ(counted.since().copies, 2) << "counted they are";
  copy_and_compare();
  EXPECT_EQ(calls, 2);
}

TEST_F(Sinks, are_called_by_the_thread_that_copies_after_the_copy) {
  boost::thread::id told_on;
  boost::thread::id copied_on;
  std::int64_t copies_told = 0;
  const Counted counted;
  const InstalledSink sink([&](const CopyEvent&) {
    told_on = boost::this_thread::get_id();
    copies_told = counted.since().copies;
  });
  elsewhere([&] {
    copied_on = boost::this_thread::get_id();
    copy_and_compare();
  });
  EXPECT_EQ(told_on, copied_on);
  EXPECT_EQ(copies_told, 1);
}

TEST_F(Sinks, are_called_from_several_threads_at_once) {
  Halt halts[2];
  boost::atomic<int> calls{0};
  const InstalledSink sink([&](const CopyEvent& event) {
    ++calls;
    halts[event.nbytes % 2].enter();
  });
  boost::thread first([] { copy_and_compare(10); });
  boost::thread second([] { copy_and_compare(11); });
  halts[0].await_entry();
  halts[1].await_entry();  // both are inside
  halts[0].let_go();
  halts[1].let_go();
  first.join();
  second.join();
  EXPECT_EQ(calls, 2);
}

// It would wait for the call that it is in.
TEST_F(Sinks, one_that_installs_or_uninstalls_another_ends_the_program) {
  const auto run = [](stats::CopySink sink) {
    const InstalledSink installed(std::move(sink));
    copy_and_compare(10);
  };
  std::optional<Recorder> other(std::in_place);
  for (const stats::CopySink& sink : {stats::CopySink([](auto&) { const Recorder another; }),
                                      stats::CopySink([&](auto&) { other.reset(); })}) {
    EXPECT_DEATH(run(sink), "installed or uninstalled inside a copy sink");
  }
}

TEST_F(Sinks, are_not_uninstalled_while_they_are_called) {
  Halt halt;
  std::optional<InstalledSink> sink(std::in_place, [&](const CopyEvent&) { halt.enter(); });
  boost::thread copier([] { copy_and_compare(); });
  halt.await_entry();
  boost::atomic<bool> uninstalled{false};
  boost::thread uninstaller([&] {
    sink.reset();
    uninstalled = true;
  });
  for (int i = 0; i < 1000; ++i) {
    boost::this_thread::yield();
    ASSERT_FALSE(uninstalled);
  }
  halt.let_go();
  copier.join();
  uninstaller.join();
  EXPECT_TRUE(uninstalled);
}

TEST_F(Sinks, come_and_go_while_others_copy) {
  boost::atomic<bool> done{false};
  at_once(4, [&](std::size_t thread) {
    if (thread == 0) {
      for (int i = 0; i < 500; ++i) {
        const auto captured = std::make_unique<boost::atomic<int>>(0);
        const InstalledSink sink([&](const CopyEvent&) { ++*captured; });
        copy_and_compare();
        EXPECT_GE(*captured, 1);
      }
      done = true;
    } else {
      while (!done) {
        copy_and_compare();
      }
    }
  });
}

}  // namespace
}  // namespace byre::test
