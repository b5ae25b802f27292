// SPDX-License-Identifier: BSL-1.0
#include "support/child_process.hpp"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace byre::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(ChildProcess, output_and_exit_status_are_returned) {
  const ChildResult result = run_in_child(
      [](int output) {
        write_all(output, "one\n");
        redirect(STDERR_FILENO, output);
        std::fputs("two\n", stderr);
        ::_exit(7);
      },
      seconds(60));
  EXPECT_EQ(result.output, "one\ntwo\n");
  EXPECT_EQ(result.exit.code(), 7);
  EXPECT_EQ(result.exit.text(), "exit status 7");
}

TEST(ChildProcess, exits_successfully_if_its_work_returns) {
  EXPECT_TRUE(run_in_child([](int) {}, seconds(60)).exit.is_success());
}

TEST(ChildProcess, outputs_the_text_of_an_exception) {
  const ChildResult result =
      run_in_child([](int) { throw std::runtime_error("no memory"); }, seconds(60));
  EXPECT_EQ(result.output, "no memory\n");
  EXPECT_EQ(result.exit.code(), EXIT_FAILURE);
}

TEST(ChildProcess, the_signal_that_ended_a_child_is_reported) {
  const ChildResult result = run_in_child([](int) { ::raise(SIGKILL); }, seconds(60));
  EXPECT_EQ(result.exit.signal(), SIGKILL);
  EXPECT_FALSE(result.exit.code());
  EXPECT_FALSE(result.exit.was_killed());
}

TEST(ChildProcess, is_killed_after_a_period_without_output) {
  const ChildResult result = run_in_child(
      [](int output) {
        write_all(output, "here\n");
        for (;;) {
          ::pause();
        }
      },
      milliseconds(50));
  EXPECT_TRUE(result.exit.was_killed());
  EXPECT_EQ(result.exit.text(), "killed");
  EXPECT_EQ(result.output, "here\n");
}

TEST(ChildProcess, take_line_returns_complete_lines_only) {
  ChildProcess child([](int output) { write_all(output, "a\nbc\nd"); });
  while (child.listen(seconds(60)) == ChildProcess::Heard::something) {
  }
  EXPECT_EQ(child.take_line(), "a");
  EXPECT_EQ(child.take_line(), "bc");
  EXPECT_FALSE(child.take_line());
  EXPECT_EQ(child.text(), "d");
  EXPECT_TRUE(child.wait().is_success());
}

TEST(ChildPool, runs_all_work_and_kills_an_overdue_child) {
  std::map<std::size_t, std::vector<std::string>> lines;
  std::map<std::size_t, std::string> ends;
  run_in_children(
      5, 2,
      {.work =
           [](std::size_t number, int output) {
             write_all(output, "begin " + std::to_string(number) + "\n");
             while (number == 3) {
               ::pause();
             }
             write_all(output, "end\n");
           },
       .line = [&](std::size_t number, const std::string& line) { lines[number].push_back(line); },
       .ended = [&](std::size_t number, Exit exit) { ends[number] = exit.text(); },
       .patience = [](std::size_t number) { return seconds(number == 3 ? 1 : 60); }});
  for (const std::size_t number : {0U, 1U, 2U, 4U}) {
    const std::vector<std::string> all{"begin " + std::to_string(number), "end"};
    EXPECT_EQ(lines[number], all);
    EXPECT_EQ(ends[number], "exit status 0");
  }
  EXPECT_EQ(lines[3], std::vector<std::string>{"begin 3"});
  EXPECT_EQ(ends[3], "killed");
}

}  // namespace
}  // namespace byre::test
