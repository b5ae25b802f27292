// SPDX-License-Identifier: BSL-1.0
/// How copy sinks are called: until when, on which threads, and after errors of a sink. Also tests
/// expect_copies_at_most(), which counts copies with a sink.
#include <byre/memory/host_allocators.hpp>
#include <byre/observe/expect.hpp>
#include <byre/observe/recording.hpp>
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>

#include "support/at_once.hpp"
#include "support/caught_warnings.hpp"
#include "support/complaint.hpp"
#include "support/counted.hpp"

namespace byre::test {
namespace {

using stats::CopyEvent;
using stats::CopyLimit;
using stats::expect_copies_at_most;
using stats::InstalledSink;

constexpr unsigned line_of_the_copy = __LINE__ + 6;
/// Makes one copy of `nbytes`, and checks the contents of the original and of the copy.
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

TEST(WithoutStats, no_copies_are_reported_and_copy_limits_are_refused) {
  if (BYRE_STATS) {
    GTEST_SKIP() << "built with stats";
  }
  const Recorder recorder;
  copy_and_compare();
  EXPECT_TRUE(recorder.events().empty());
  EXPECT_EQ(text_of(stats::snapshot()), text_of({}));
  EXPECT_THROW(CopyLimit(0), InvalidArgument);
  EXPECT_THROW(expect_copies_at_most(0, [] {}), InvalidArgument);
  EXPECT_EQ(complaint_of<InvalidArgument>([] { const trace::Recording recording; }),
            "cannot record: byre was built without stats. Configure it with -Dstats=enabled.");
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

TEST_F(Sinks, a_throwing_sink_causes_a_warning_and_the_next_is_called) {
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
  expect_warning("threw: The disk is full. The reported copy",
                 [](auto&) { throw Error(format_text("The disk is full.")); });
  expect_warning("", [](auto&) { throw 42; });
}

TEST_F(Sinks, are_not_called_for_copies_made_by_a_sink) {
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
  EXPECT_EQ(counted.since().copies, 2) << "copies by a sink must be counted";
  copy_and_compare();
  EXPECT_EQ(calls, 2);
}

TEST_F(Sinks, are_called_after_the_copy_by_the_thread_that_copied) {
  std::thread::id called_on;
  std::thread::id copied_on;
  std::int64_t copies_at_call = 0;
  const Counted counted;
  const InstalledSink sink([&](const CopyEvent&) {
    called_on = std::this_thread::get_id();
    copies_at_call = counted.since().copies;
  });
  on_another_thread([&] {
    copied_on = std::this_thread::get_id();
    copy_and_compare();
  });
  EXPECT_EQ(called_on, copied_on);
  EXPECT_EQ(copies_at_call, 1);
}

TEST_F(Sinks, are_called_from_several_threads_at_once) {
  Halt halts[2];
  std::atomic<int> calls{0};
  const InstalledSink sink([&](const CopyEvent& event) {
    ++calls;
    halts[event.nbytes % 2].enter();
  });
  std::thread first([] { copy_and_compare(10); });
  std::thread second([] { copy_and_compare(11); });
  halts[0].await_entry();
  halts[1].await_entry();  // both calls of the sink are running now
  halts[0].let_go();
  halts[1].let_go();
  first.join();
  second.join();
  EXPECT_EQ(calls, 2);
}

// Without this check, the sink would wait forever for the end of its own call.
TEST_F(Sinks, a_sink_that_installs_or_uninstalls_a_sink_ends_the_program) {
  const auto run = [](stats::CopySink sink) {
    const InstalledSink installed(std::move(sink));
    copy_and_compare(10);
  };
  std::optional<Recorder> other(std::in_place);
  for (const stats::CopySink& sink : {stats::CopySink([](auto&) { const Recorder another; }),
                                      stats::CopySink([&](auto&) { other.reset(); })}) {
    EXPECT_DEATH(run(sink), "cannot install or uninstall a copy sink inside a copy sink");
  }
}

TEST_F(Sinks, are_not_uninstalled_while_they_are_called) {
  Halt halt;
  std::optional<InstalledSink> sink(std::in_place, [&](const CopyEvent&) { halt.enter(); });
  std::thread copier([] { copy_and_compare(); });
  halt.await_entry();
  std::atomic<bool> uninstalled{false};
  std::thread uninstaller([&] {
    sink.reset();
    uninstalled = true;
  });
  for (int i = 0; i < 1000; ++i) {
    std::this_thread::yield();
    ASSERT_FALSE(uninstalled);
  }
  halt.let_go();
  copier.join();
  uninstaller.join();
  EXPECT_TRUE(uninstalled);
}

// ---- Limits

void copy(int times) {
  for (int i = 0; i < times; ++i) {
    copy_and_compare();
  }
}

std::string place(unsigned line) {
  return std::string(__FILE__) + ":" + std::to_string(line) + ":";
}

class CopyLimits : public WithStats {};

TEST_F(CopyLimits, return_the_result_of_the_checked_function) {
  EXPECT_EQ(expect_copies_at_most(0, [] { return 42; }), 42);
  int value = 1;
  static_assert(
      std::is_same_v<decltype(expect_copies_at_most(0, [&]() -> int& { return value; })), int&>);
  EXPECT_EQ(&expect_copies_at_most(0, [&]() -> int& { return value; }), &value);
  EXPECT_EQ(*expect_copies_at_most(0, [] { return std::make_unique<int>(7); }), 7);
  static_assert(std::is_void_v<decltype(expect_copies_at_most(0, [&] { value = 2; }))>);
  expect_copies_at_most(0, [&] { value = 2; });
  EXPECT_EQ(value, 2);
}

TEST_F(CopyLimits, store_a_copy_of_the_file_name_of_a_call_site) {
  EXPECT_TRUE(says(complaint_of<TooManyCopies>([] {
                     expect_copies_at_most(0, [] {
                       std::string file = "first.py";
                       const Buffer buffer = Buffer::allocate(8);
                       Buffer clone = buffer;
                       clone.mutable_data(Wait::allowed, {file.c_str(), 7});
                       file = "other.py";
                     });
                   }),
                   "first.py:7: 8 bytes"));
}

TEST_F(CopyLimits, allow_the_given_number_of_copies_and_no_more) {
  EXPECT_EQ(expect_copies_at_most(1, [] { return copy_and_compare(), 5; }), 5);
  EXPECT_THROW((void)expect_copies_at_most(1, [] { return copy(2), 5; }), TooManyCopies);
  EXPECT_THROW(expect_copies_at_most(0, [] { throw std::runtime_error("its own"); }),
               std::runtime_error);
  const auto nested = [] {
    copy_and_compare();
    expect_copies_at_most(2, [] { copy(2); });
  };
  EXPECT_NO_THROW(expect_copies_at_most(3, nested));
  EXPECT_THROW(expect_copies_at_most(2, nested), TooManyCopies);
}

TEST_F(CopyLimits, throw_an_error_with_the_call_and_each_copys_line_and_size) {
  for (const int copies : {1, 4, 5, 9}) {
    unsigned line = 0;
    const std::string text = complaint_of<TooManyCopies>([&] {
      line = __LINE__ + 1;
      expect_copies_at_most(0, [&] { copy(copies); });
    });
    std::string expected =
        place(line) + " expected at most 0 copies, but " + std::to_string(copies) + " were made:";
    for (int listed = 0; listed < std::min(copies, 4); ++listed) {
      expected += "\n  " + place(line_of_the_copy) + " 100 bytes (shared)";
    }
    expected += copies > 4 ? "\n  ..." : "";
    EXPECT_EQ(text,
              expected +
                  "\nRead through data() instead of mutable_data(), or drop the clones before "
                  "writing.");
  }
}

TEST_F(CopyLimits, count_the_copies_of_other_threads) {
  need_threads();
  EXPECT_THROW(
      expect_copies_at_most(7, [] { at_once(8, [](std::size_t) { copy_and_compare(); }); }),
      TooManyCopies);
  EXPECT_NO_THROW(
      expect_copies_at_most(8, [] { at_once(8, [](std::size_t) { copy_and_compare(); }); }));
}

TEST_F(CopyLimits, count_only_copies_made_during_their_lifetime) {
  copy_and_compare();
  const CopyLimit limit(1);
  EXPECT_EQ(limit.copies(), 0U);
  copy_and_compare();
  EXPECT_EQ(limit.copies(), 1U);
  EXPECT_NO_THROW(limit.expect_kept());
  copy_and_compare();
  EXPECT_EQ(limit.copies(), 2U);
  EXPECT_THROW(limit.expect_kept(), TooManyCopies);
}

}  // namespace
}  // namespace byre::test
