// SPDX-License-Identifier: BSL-1.0
/// Counters, copy sinks and the ledger of tagged memory in a child of a fork.
#include <byre/byre.hpp>
#include <byre/sync/detail/process_state.hpp>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "children.hpp"
#include "observe/tagged.hpp"
#include "support/at_once.hpp"
#include "support/counted.hpp"
#include "support/emulated.hpp"

namespace byre::test {
namespace {

class ForkAndStats : public WithStats {};

void copy_once() {
  Buffer buffer = Buffer::allocate(100);
  const Buffer clone = buffer;
  buffer.mutable_data();
}

TEST_F(ForkAndStats, a_child_counts_each_event_of_lost_threads_once) {
  const Buffer buffer = Buffer::allocate(10);
  const Buffer of_this_thread = buffer;
  const Counted counted;
  const auto clone = [&] { const Buffer clones[] = {buffer, buffer, buffer}; };
  const StoppedThread cloning([&](Halt& halt) {
    clone();
    halt.enter();
  });
  const auto counts_once = [&] {
    const bool has_counted = counted.since().lazy_clones == 3;
    if (a_child_may_start_threads()) {
      at_once(2, [&](std::size_t) { clone(); });  // these may reuse memory of the lost thread
    } else {
      clone(), clone();
    }
    return has_counted && counted.since().lazy_clones == 9;
  };
  expect_true_in_child(counts_once);
  EXPECT_EQ(counted.since().lazy_clones, 3);
  on_another_thread([&] {  // a thread that started after the stopped one
    clone();
    expect_true_in_child([&] { return counted.since().lazy_clones == 6; });
  });
}

TEST_F(ForkAndStats, a_child_uninstalls_a_sink_that_a_lost_thread_was_running) {
  std::optional<stats::InstalledSink> sink;
  const StoppedThread copying([&](Halt& halt) {
    sink.emplace([&](const stats::CopyEvent&) {
      if (sync::detail::process_number == 0) {
        halt.enter();
      }
    });
    copy_once();
  });
  expect_true_in_child([&] {
    copy_once();
    sink.reset();
    int copies = 0;
    const stats::InstalledSink counting([&](const stats::CopyEvent&) { ++copies; });
    copy_once();
    return copies == 1;
  });
}

TEST_F(ForkAndStats, a_fork_within_a_sink_works_in_both_processes) {
  pid_t child = -1;
  std::optional<stats::InstalledSink> sink(std::in_place,
                                           [&](const stats::CopyEvent&) { child = ::fork(); });
  copy_once();
  if (child == 0) {
    ::alarm(60);
    sink.reset();
    copy_once();
    ::_exit(EXIT_SUCCESS);
  }
  sink.reset();
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << Exit(status).text();
}

TEST_F(ForkAndStats, a_child_continues_the_ledger_without_scopes_of_lost_threads) {
  std::optional<Buffer> kept = tagged("kept", 100);
  const StoppedThread scoped([](Halt& halt) {
    const ScopedTag scope("lost");
    halt.enter();
  });
  expect_true_in_child([&] {
    bool is_right = bytes_tagged("kept") == "100 allocated";
    {
      const ScopedTag scope("child");
      const Buffer data = plain(7);
      is_right = is_right && bytes_tagged("child") == "7 allocated";
    }
    kept.reset();
    return is_right && bytes_tagged("kept").empty() && !is_listening();
  });
  EXPECT_EQ(bytes_tagged("kept"), "100 allocated");
  EXPECT_EQ(bytes_tagged("child"), "");
}

TEST_F(ForkAndStats, a_scope_around_a_fork_holds_in_both_processes) {
  const ScopedTag scope("both");
  const Buffer data = plain(1);
  expect_true_in_child([] {
    const Buffer more = plain(10);
    return bytes_tagged("both") == "11 allocated";
  });
  EXPECT_EQ(bytes_tagged("both"), "1 allocated");
}

}  // namespace
}  // namespace byre::test
