// SPDX-License-Identifier: BSL-1.0
/// Every allocation of a reshape and of a violation is made to fail, one after another.
#include <byre/error/error.hpp>
#include <byre/shadow/mode.hpp>
#include <byre/shadow/place.hpp>

#include <limits>
#include <map>

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

/// No new place has a line, but what is smaller than a segment of places has its memory.
class RoomForNoPlaces {
 public:
  RoomForNoPlaces() {
    most_nbytes_of_a_new = 2048;
    std::uint32_t line = 0;
    while (shadow::place(shadow::place_id({.site = {"room/for/places.cpp", ++line}})).is_known()) {
    }
  }
  ~RoomForNoPlaces() { most_nbytes_of_a_new = std::numeric_limits<std::size_t>::max(); }
  RoomForNoPlaces(const RoomForNoPlaces&) = delete;
  RoomForNoPlaces& operator=(const RoomForNoPlaces&) = delete;
};

TEST_F(ShadowsWithoutMemory, error_mode_throws_also_where_no_place_is_known) {
  const RoomForNoPlaces none;
  Tracked tracked;
  tracked.file() = "no/room.cpp";
  const ShadowHandle one = tracked.reshape(10, nullptr, ReshapeMode::error);
  const ShadowHandle other = tracked.reshape(11, nullptr, ReshapeMode::error);
  EXPECT_FALSE(shadow::place(one->reshape()).is_known());
  tracked.write(one.get(), 12);
  EXPECT_THROW(tracked.read(nullptr, 13), ReshapeViolation);
  EXPECT_THROW(tracked.read(other.get(), 14), ReshapeViolation);
  tracked.write(nullptr, 15);
  try {
    tracked.write(one.get(), 16);
    FAIL() << "nothing was thrown";
  } catch (const ReshapeViolation& error) {
    EXPECT_EQ(error.violation().access.site.line, 16U);
    EXPECT_STREQ(error.violation().access.site.file, "no/room.cpp");
    EXPECT_FALSE(error.violation().write.is_known());
    EXPECT_NE(to_string(error.violation()).find("may be several, which are told as one"),
              std::string::npos);
  }
  EXPECT_EQ(told, 0);
}

TEST_F(ShadowsWithoutMemory, lines_that_are_not_known_are_unaudited_as_one) {
  const RoomForNoPlaces none;
  Tracked tracked;
  tracked.reshape(10);
  tracked.file() = "no/room/for/escapes.cpp";
  tracked.escape(nullptr, 11);
  tracked.escape(nullptr, 12);
  const shadow::Summary summary = shadow::summary();
  EXPECT_EQ(summary.unaudited, 1U);
  ASSERT_EQ(summary.unaudited_lines.size(), 1U);
  EXPECT_EQ(summary.unaudited_lines[0].site.line, 0U);
  EXPECT_EQ(summary.unaudited_lines[0].times, 2U);
}

TEST_F(ShadowsWithoutMemory, a_pointer_that_leaves_at_a_place_that_cannot_be_noted_is_counted) {
  Tracked tracked;
  tracked.file() = "no/memory/for/escapes.cpp";
  tracked.reshape(10);
  tracked.write(nullptr, 11);
  most_nbytes_of_a_new = 0;
  tracked.escape(nullptr, 11);
  most_nbytes_of_a_new = std::numeric_limits<std::size_t>::max();
  tracked.escape(nullptr, 11);
  std::map<std::uint32_t, std::uint64_t> times;
  for (const auto& line : shadow::summary().unaudited_lines) {
    times[line.site.line] = line.times;
  }
  EXPECT_EQ(times, (std::map<std::uint32_t, std::uint64_t>{{0, 1}, {11, 1}}));
}

TEST_F(ShadowsWithoutMemory, a_pointer_that_leaves_before_anything_is_watched_is_counted) {
  const shadow::ReshapeModeScope scope(ReshapeMode::warn);
  for (int nth = 0;; ++nth) {
    const std::string file = file_of_attempt("before", nth);
    Tracked tracked;
    tracked.file() = file.c_str();
    const bool failed = fails_at(nth, [&] { tracked.escape(nullptr, 11); });
    tracked.reshape(10);
    EXPECT_EQ(shadow::summary().unaudited, static_cast<std::uint64_t>(nth) + 1);
    if (!failed) {
      EXPECT_GT(nth, 0);
      break;
    }
  }
}

TEST_F(ShadowsWithoutMemory,
       pointers_that_left_by_known_lines_count_where_nothing_more_can_be_noted) {
  constexpr std::uint32_t lines = 200;  // more than there is room for, so far
  Tracked known;
  known.file() = "no/trail.cpp";
  known.reshape(10);
  for (std::uint32_t number = 0; number < lines; ++number) {
    known.write(nullptr, 100 + number);
  }
  const shadow::ReshapeModeScope scope(ReshapeMode::warn);
  std::vector<Tracked> others(lines);
  most_nbytes_of_a_new = 0;
  for (std::uint32_t number = 0; number < lines; ++number) {
    others[number].file() = known.file();
    others[number].escape(nullptr, 100 + number);
  }
  most_nbytes_of_a_new = std::numeric_limits<std::size_t>::max();
  for (Tracked& other : others) {
    other.reshape(11);
  }
  EXPECT_EQ(shadow::summary().unaudited, lines);
  const auto unaudited = shadow::summary().unaudited_lines;
  EXPECT_EQ(unaudited.at(0).site.line, 0U);
  EXPECT_GT(unaudited.size(), 1U) << "some were noted";
}

TEST_F(ShadowsWithoutMemory, pointers_that_left_by_lines_that_are_not_known_are_one) {
  const shadow::ReshapeModeScope scope(ReshapeMode::warn);
  Tracked tracked;
  tracked.file() = "no/room/before.cpp";
  {
    const RoomForNoPlaces none;
    tracked.escape(nullptr, 11);
    tracked.escape(nullptr, 12);
  }
  tracked.escape(nullptr, 13);
  tracked.reshape(10);
  EXPECT_EQ(shadow::summary().unaudited, 2U) << "those that are not known are one";
  EXPECT_EQ(shadow::summary().unaudited_lines.back().site.line, 13U);
}

TEST_F(ShadowsWithoutMemory, error_mode_throws_also_what_writes_at_a_place_that_is_not_known) {
  Tracked tracked;
  tracked.file() = "known/reshapes.cpp";
  const ShadowHandle thrown = tracked.reshape(10, nullptr, ReshapeMode::error);
  const ShadowHandle out_of_it = tracked.reshape(11, thrown.get(), ReshapeMode::warn);
  const ShadowHandle warned = tracked.reshape(12, nullptr, ReshapeMode::warn);
  const RoomForNoPlaces none;
  tracked.write(out_of_it.get(), 13);
  EXPECT_THROW(tracked.read(nullptr, 14), ReshapeViolation);
  tracked.write(warned.get(), 15);
  EXPECT_EQ(told, 1);
  EXPECT_NO_THROW(tracked.read(nullptr, 16));
  EXPECT_EQ(told, 2);
  const ShadowHandle late = tracked.reshape(17, thrown.get(), ReshapeMode::warn);
  tracked.rejoin(late.get());
  tracked.write(late.get(), 18);
  EXPECT_THROW(tracked.read(nullptr, 19), ReshapeViolation);
}

}  // namespace
}  // namespace byre::test
