// SPDX-License-Identifier: BSL-1.0
/// The counts and the copy sinks of a child of a fork.
#include <byre/byre.hpp>
#include <byre/sync/detail/process_state.hpp>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "children.hpp"
#include "support/at_once.hpp"
#include "support/counted.hpp"
#include "support/emulated.hpp"

namespace byre::test {
namespace {

class ForkAndStats : public WithStats {};

/// Copies once.
void copy_once() {
  Buffer buffer = Buffer::allocate(100);
  const Buffer clone = buffer;
  buffer.mutable_data();
}

TEST_F(ForkAndStats, counts_of_other_threads_are_kept_once_in_the_child) {
  const Buffer buffer = Buffer::allocate(10);
  const Buffer of_this_thread = buffer;
  const Counted counted;
  const auto clone = [&] { const Buffer clones[] = {buffer, buffer, buffer}; };
  const Meanwhile cloning([&](Halt& halt) {
    clone();
    halt.enter();
  });
  const auto are_kept = [&] {
    const bool has_those = counted.since().lazy_clones == 3;
    if (a_child_may_start_threads()) {
      at_once(2, [&](std::size_t) { clone(); });  // with the memory of the thread that is gone
    } else {
      clone(), clone();
    }
    return has_those && counted.since().lazy_clones == 9;
  };
  expect_of_a_child(are_kept);
  EXPECT_EQ(counted.since().lazy_clones, 3);
  on_another_thread([&] {  // a thread that is younger than the one that clones
    clone();
    expect_of_a_child([&] { return counted.since().lazy_clones == 6; });
  });
}

TEST_F(ForkAndStats, a_child_uninstalls_a_sink_that_another_thread_was_in) {
  std::optional<stats::InstalledSink> sink;
  const Meanwhile copying([&](Halt& halt) {
    sink.emplace([&](const stats::CopyEvent&) {
      if (sync::detail::process_number == 0) {
        halt.enter();
      }
    });
    copy_once();
  });
  expect_of_a_child([&] {
    copy_once();
    sink.reset();
    int copies = 0;
    const stats::InstalledSink counting([&](const stats::CopyEvent&) { ++copies; });
    copy_once();
    return copies == 1;
  });
}

TEST_F(ForkAndStats, a_sink_forks_and_both_processes_go_on) {
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

}  // namespace
}  // namespace byre::test
