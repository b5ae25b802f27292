// SPDX-License-Identifier: BSL-1.0
/// Every allocation of a reshape and of a violation is made to fail, one after another.
#include <byre/error/error.hpp>

#include "../support/failing_new.hpp"
#include "tracked.hpp"

namespace byre::test {
namespace {

constinit int told = 0;

void count_only(const Violation&) noexcept {
  ++told;
}

/// Runs `step` with its allocation number `nth` failing. Answers whether there was one.
template <class Step>
bool fails_at(int nth, Step step) {
  new_failed = false;
  news_until_failure = nth;
  step();
  news_until_failure = never_fails;
  return new_failed;
}

/// A file of its own for each attempt, whose name has to be kept anew.
std::string file_of_attempt(const char* test, int nth) {
  return std::string("a/path/that/fits/in/no/small/string/") + test + std::to_string(nth) + ".cpp";
}

class ShadowsWithoutMemory : public testing::Test {
 protected:
  ShadowsWithoutMemory() : previous_(shadow::set_violation_handler(&count_only)) {
    told = 0;
    shadow::reset_summary();
  }
  ~ShadowsWithoutMemory() override { shadow::set_violation_handler(previous_); }

 private:
  const shadow::ViolationHandler previous_;
};

TEST_F(ShadowsWithoutMemory, a_reshape_is_linked_or_throws_and_is_watched_when_tried_again) {
  int thrown = 0;
  for (int nth = 0;; ++nth) {
    const std::string file = file_of_attempt("reshape", nth);
    Tracked tracked;
    tracked.file() = file.c_str();
    ShadowHandle flat;
    const bool failed = fails_at(nth, [&] {
      try {
        flat = tracked.reshape(10);
      } catch (const OutOfMemory&) {
        news_until_failure = never_fails;
        ++thrown;
        flat = tracked.reshape(10);
      }
    });
    ASSERT_NE(flat, nullptr);
    tracked.write(flat.get(), 11);
    told = 0;
    tracked.read(nullptr, 12);
    EXPECT_EQ(told, 1) << nth;
    if (!failed) {
      break;
    }
  }
  EXPECT_GE(thrown, 2);  // the lineage, and the shadow storage
}

TEST_F(ShadowsWithoutMemory, a_violation_is_told_all_the_same) {
  int nth = 0;
  for (bool failed = true; failed; ++nth) {
    const std::string file = file_of_attempt("told", nth);
    Tracked tracked;
    tracked.file() = file.c_str();
    const ShadowHandle flat = tracked.reshape(10);
    tracked.write(flat.get(), 11);
    told = 0;
    failed = fails_at(nth, [&] { tracked.read(nullptr, 12); });
    EXPECT_EQ(told, 1) << nth;
  }
  EXPECT_GT(nth, 1);
}

TEST_F(ShadowsWithoutMemory, a_violation_is_thrown_all_the_same) {
  int nth = 0;
  for (bool failed = true; failed; ++nth) {
    const std::string file = file_of_attempt("thrown", nth);
    Tracked tracked;
    tracked.file() = file.c_str();
    const ShadowHandle flat = tracked.reshape(10, nullptr, ReshapeMode::error);
    tracked.write(flat.get(), 11);
    bool thrown = false;
    failed = fails_at(nth, [&] {
      try {
        tracked.read(nullptr, 12);
      } catch (const ReshapeViolation& error) {
        thrown = error.violation().write.site.line == 11;
      }
    });
    EXPECT_TRUE(thrown) << nth;
  }
  EXPECT_GT(nth, 1);
  EXPECT_EQ(shadow::summary().violations, static_cast<std::uint64_t>(nth));
}

}  // namespace
}  // namespace byre::test
