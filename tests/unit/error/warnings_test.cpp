// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/at_once.hpp"
#include "support/caught_warnings.hpp"

namespace byre::test {
namespace {

void first_handler(const char*) noexcept {}

/// The text that warn() writes to stderr.
std::string stderr_of_warning(const char* text) {
  testing::internal::CaptureStderr();
  warn("%s", text);
  return testing::internal::GetCapturedStderr();
}

TEST(WarningHandler, set_returns_the_previous_handler_and_null_sets_the_default) {
#if defined(__wasm__)
  GTEST_SKIP() << "emscripten cannot redirect the standard error stream";
#endif
  EXPECT_EQ(stderr_of_warning("mind the gap"), "byre: warning: mind the gap\n");
  const WarningHandler original = set_warning_handler(&first_handler);
  EXPECT_NE(original, nullptr);
  EXPECT_EQ(stderr_of_warning("unheard"), "");
  EXPECT_EQ(set_warning_handler(nullptr), &first_handler);
  EXPECT_EQ(stderr_of_warning("heard"), "byre: warning: heard\n");
  EXPECT_EQ(set_warning_handler(original), original)
      << "expected null to install the default handler";
}

TEST(Warning, reaches_the_handler_as_text_that_printf_would_print) {
  const CaughtWarnings caught;
  warn("%d bytes of %s", 7, "nothing");
  warn("%s", "");
  warn("%s", std::string(5000, 'x').c_str());
  const std::string cut = std::string(sizeof(Text) - 4, 'x') + "...";
  EXPECT_EQ(caught.texts(), (std::vector<std::string>{"7 bytes of nothing", "", cut}));
}

TEST(Warning, may_be_issued_by_many_threads_concurrently) {
  const CaughtWarnings caught;
  at_once(8, [](std::size_t thread) {
    for (int i = 0; i < 50; ++i) {
      warn("thread %zu", thread);
    }
  });
  std::vector<int> heard(8);
  for (const std::string& text : caught.texts()) {
    ASSERT_EQ(text.substr(0, 7), "thread ");
    ++heard[std::stoul(text.substr(7))];
  }
  EXPECT_EQ(heard, std::vector<int>(8, 50));
}

TEST(WarningHandler, may_be_replaced_while_other_threads_warn) {
  const CaughtWarnings caught;
  const WarningHandler catching = set_warning_handler(&first_handler);
  at_once(4, [&](std::size_t thread) {
    for (int i = 0; i < 500; ++i) {
      if (thread == 0) {
        set_warning_handler(i % 2 == 0 ? catching : &first_handler);
      } else {
        warn("whole");
      }
    }
  });
  for (const std::string& text : caught.texts()) {
    EXPECT_EQ(text, "whole");
  }
}

}  // namespace
}  // namespace byre::test
