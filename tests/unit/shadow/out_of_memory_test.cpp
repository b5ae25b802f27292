// SPDX-License-Identifier: BSL-1.0
/// Every allocation of a reshape and of a violation is made to fail, one after another.
#include <byre/error/error.hpp>
#include <byre/shadow/mode.hpp>

#include <limits>

#include "support/failing_new.hpp"
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

TEST_F(ShadowsWithoutMemory, a_reshape_is_linked_or_throws_and_is_tracked_when_tried_again) {
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
    const int before = told;
    tracked.write(flat.get(), 11);
    tracked.read(nullptr, 12);
    EXPECT_EQ(told, before + 1) << nth;
    if (!failed) {
      EXPECT_GE(thrown, 4) << "a shadow of the storage and of the family, and two records";
      break;
    }
  }
}

TEST_F(ShadowsWithoutMemory, a_violation_is_told_all_the_same) {
  int nth = 0;
  for (bool failed = true; failed; ++nth) {
    told = 0;
    shadow::reset_summary();  // the more it has, the more there is to advise
    const std::string file = file_of_attempt("told", nth);
    Tracked tracked;
    tracked.file() = file.c_str();
    const ShadowHandle flat = tracked.reshape(10);
    tracked.write(flat.get(), 11);
    failed = fails_at(nth, [&] { tracked.read(nullptr, 12); });
    EXPECT_EQ(told, 1) << nth;
  }
  EXPECT_GT(nth, 1);
}

TEST_F(ShadowsWithoutMemory, a_violation_is_thrown_all_the_same) {
  int nth = 0;
  for (bool failed = true; failed; ++nth) {
    shadow::reset_summary();
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
    EXPECT_EQ(shadow::summary().violations, 1U) << nth;
  }
  EXPECT_GT(nth, 1);
}

/// No allocation succeeds while it lives.
struct NoMemory {
  NoMemory() { most_nbytes_of_a_new = 0; }
  ~NoMemory() { most_nbytes_of_a_new = std::numeric_limits<std::size_t>::max(); }
};

TEST_F(ShadowsWithoutMemory, writes_at_call_sites_that_are_not_known_are_told_and_thrown) {
  for (const ReshapeMode mode : {ReshapeMode::warn, ReshapeMode::error}) {
    Tracked tracked;
    const std::string file = file_of_attempt("unknown", static_cast<int>(mode));
    const ShadowHandle flat = tracked.reshape(10, nullptr, mode);
    tracked.file() = file.c_str();
    {
      const NoMemory none;
      tracked.write(flat.get(), 11);
    }
    if (mode == ReshapeMode::error) {
      EXPECT_THROW(tracked.read(nullptr, 12), ReshapeViolation);
    } else {
      tracked.read(nullptr, 12);
      EXPECT_EQ(told, 1);
      EXPECT_FALSE(shadow::summary().triples.at(0).write.is_known());
      EXPECT_EQ(shadow::summary().triples.at(0).reshape.site.line, 10U);
    }
  }
}

TEST_F(ShadowsWithoutMemory, pointers_that_leave_at_call_sites_that_are_not_known_are_counted) {
  const shadow::ReshapeModeScope scope(ReshapeMode::warn);
  Tracked before;
  Tracked after;
  after.reshape(10);
  const std::string file = file_of_attempt("escapes", 0);
  before.file() = after.file() = file.c_str();
  {
    const NoMemory none;
    before.escape(nullptr, 11);
    after.escape(nullptr, 12);
  }
  before.reshape(10);
  EXPECT_EQ(shadow::summary().untracked_escapes, 2U);
  EXPECT_EQ(shadow::detail::shadow_of(before.storage())->escapes.value(), 1U);
}

}  // namespace
}  // namespace byre::test
