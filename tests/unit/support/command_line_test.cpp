// SPDX-License-Identifier: BSL-1.0
#include "support/command_line.hpp"
#include "support/complaint.hpp"

#include <initializer_list>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace byre::test {
namespace {

CommandLine sample() {
  CommandLine line;
  line.flag("help", "print this help and exit")
      .flag("list", "list the scenarios")
      .value("threads", "N", "number of threads")
      .values("scenario", "NAME", "run only this scenario")
      .value("json", "FILE", "write figures");
  return line;
}

GivenOptions parsed(std::vector<const char*> arguments, const CommandLine& line = sample()) {
  arguments.insert(arguments.begin(), "program");
  return line.parse(static_cast<int>(arguments.size()), arguments.data());
}

std::string error_of(const std::vector<const char*>& arguments,
                     const CommandLine& line = sample()) {
  try {
    static_cast<void>(parsed(arguments, line).number("threads", 1, 64));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(CommandLine, options_have_the_given_values) {
  const GivenOptions given =
      parsed({"--threads", "8", "--scenario=a", "--scenario", "b", "--json=file", "-h"});
  EXPECT_EQ(given.number("threads", 1, 64), 8U);
  EXPECT_EQ(given.texts("scenario"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(given.text("json"), "file");
  EXPECT_TRUE(given.has("help"));
  EXPECT_FALSE(given.has("list"));
  EXPECT_FALSE(given.text("list"));
}

TEST(CommandLine, invalid_arguments_are_rejected_and_the_reason_is_stated) {
  EXPECT_EQ(error_of({"--threads", "0"}), "--threads takes a whole number from 1 to 64, not '0'");
  EXPECT_EQ(error_of({"--threads", "2x"}), "--threads takes a whole number from 1 to 64, not '2x'");
  EXPECT_EQ(error_of({"--json", "a", "b"}), "unknown option 'b'");
  EXPECT_EQ(error_of({"--threads", "1", "--threads", "2"}), "--threads is given twice");
  EXPECT_EQ(error_of({"--threads", "--list"}), "--threads takes a value");
  EXPECT_EQ(error_of({"--thread", "1"}), "unknown option '--thread'");
  EXPECT_EQ(error_of({"--list=all"}), "--list takes no value, not 'all'");
}

TEST(CommandLine, an_option_without_effect_in_a_mode_is_rejected) {
  CommandLine line = sample();
  line.mode("", {"threads", "json"}).mode("list", {}).mode("help", {"scenario"});
  EXPECT_EQ(parsed({"--threads", "2"}, line).mode(), "");
  EXPECT_EQ(parsed({"--help", "--scenario", "a"}, line).mode(), "help");
  EXPECT_EQ(error_of({"--list", "--threads", "2"}, line), "--list does not take --threads");
  EXPECT_EQ(error_of({"--list", "--help"}, line), "either --help or --list, not both");
  EXPECT_EQ(error_of({"--scenario", "a"}, line), "--scenario requires --help");
}

TEST(CommandLine, operands_are_accepted_if_declared) {
  CommandLine line = sample();
  line.operands("path");
  EXPECT_EQ(parsed({"a", "--list", "b"}, line).texts("path"), (std::vector<std::string>{"a", "b"}));
}

TEST(CommandLine, usage_errors_exit_with_status_2_and_other_errors_with_1) {
  EXPECT_EQ(run_main("program", [] { return 5; }), 5);
  EXPECT_EQ(run_main("program", []() -> int { throw UsageError("no"); }), 2);
  EXPECT_EQ(run_main("program", []() -> int { throw std::runtime_error("no"); }), 1);
}

TEST(CommandLine, the_help_names_every_option) {
  for (const char* name : {"--help", "--list", "--threads N", "--scenario NAME", "--json FILE"}) {
    EXPECT_TRUE(says(sample().help(), name)) << name << sample().help();
  }
}

}  // namespace
}  // namespace byre::test
