// SPDX-License-Identifier: BSL-1.0
/// What reports say, how often, and to whom.
#include <byre/shadow/backtrace.hpp>
#include <byre/shadow/place.hpp>
#include <byre/shadow/summary.hpp>

#include <algorithm>
#include <cstring>
#include <limits>

#include "support/at_once.hpp"
#include "support/caught_warnings.hpp"
#include "tracked.hpp"

namespace byre::test {
namespace {

TEST_F(Shadows, a_report_says_what_happens_where_and_what_to_write) {
  tracked.file() = "src/says.cpp";
  tracked.violate();
  EXPECT_EQ(
      to_string(reports.only()),
      "this code relies on reshape sharing memory with what it reshapes, and reshape is to "
      "become a copy.\n"
      "  reshaped at src/says.cpp:10, [2, 3] to [6]\n"
      "  written at src/says.cpp:11, as [2, 3]\n"
      "  then read at src/says.cpp:12, as [2, 3]\n"
      "Today the read sees what was written; with a copy it will not. If the two are to share "
      "memory, write view in place of that reshape; if each is to have its own contents, write "
      "reshape(...).clone().");
}

TEST_F(Shadows, who_reads_its_inputs_writes_hears_of_both_ways_out) {
  const ShadowHandle flat = tracked.reshape(10);
  tracked.write(nullptr, 11);
  tracked.read(flat.get(), 12);
  EXPECT_NE(to_string(reports.only())
                .find("If what was there before the write is wanted, write reshape(...).clone() in "
                      "place of that reshape; if what was written is, write view."),
            std::string::npos);
}

TEST_F(Shadows, of_two_writes_it_is_said_that_each_will_have_its_own) {
  const ShadowHandle flat = tracked.reshape(10);
  tracked.write(nullptr, 11);
  tracked.write(flat.get(), 12);
  const std::string text = to_string(reports.only());
  EXPECT_NE(text.find("\n  then written at src/model/layers.cpp:12"), std::string::npos);
  EXPECT_NE(text.find("\nToday the second write goes to the memory of the first; with a copy each "
                      "has its own. If each is to have its own contents, there is nothing to do"),
            std::string::npos);
}

TEST_F(Shadows, a_place_that_is_not_known_is_said_to_be) {
  Violation violation;
  violation.access.site = {model_file, 3};
  EXPECT_NE(to_string(violation).find("reshaped at a place that is not known\n"),
            std::string::npos);
  EXPECT_FALSE(shadow::place(0).is_known());
}

TEST_F(Shadows, lines_by_which_raw_pointers_left_are_said_to_be_unaudited) {
  const ShadowHandle flat = tracked.reshape(10);
  for (int time = 0; time < 3; ++time) {
    tracked.escape(flat.get(), 11);
    tracked.escape(flat.get(), 12);
  }
  tracked.read(nullptr, 13);
  EXPECT_EQ(reports.only().unaudited, 2U);
  EXPECT_NE(to_string(reports.only())
                .find("handed out at 2 lines: what is done through them is not seen"),
            std::string::npos);
  EXPECT_EQ(shadow::summary().unaudited, 2U);
  Tracked another;
  another.reshape(10);
  another.escape(nullptr, 11);
  EXPECT_EQ(shadow::summary().unaudited, 3U) << "each storage's line counts";
  Violation once;
  once.unaudited = 1;
  EXPECT_NE(to_string(once).find("handed out at 1 line: "), std::string::npos);
  once.unaudited = 0;
  EXPECT_EQ(to_string(once).find("handed out"), std::string::npos);
}

TEST_F(Shadows, unaudited_lines_are_named_with_how_often) {
  tracked.file() = "unaudited.cpp";
  const ShadowHandle flat = tracked.reshape(10);
  for (int time = 0; time < 3; ++time) {
    tracked.escape(flat.get(), 12);
  }
  tracked.escape(nullptr, 11);
  Tracked another;
  another.file() = "unaudited.cpp";
  another.reshape(10);
  another.escape(nullptr, 11);
  const shadow::Summary summary = shadow::summary();
  EXPECT_EQ(summary.unaudited, 3U);
  ASSERT_EQ(summary.unaudited_lines.size(), 2U);
  EXPECT_EQ(summary.unaudited_lines[0].site.line, 11U);
  EXPECT_EQ(summary.unaudited_lines[0].times, 2U);
  EXPECT_EQ(summary.unaudited_lines[1].times, 3U);
  EXPECT_NE(to_string(summary).find("; 2 lines are unaudited, where raw pointers to write left.\n"
                                    "  unaudited: unaudited.cpp:11, 2 times\n"
                                    "  unaudited: unaudited.cpp:12, 3 times\n"),
            std::string::npos);
  shadow::reset_summary();
  EXPECT_TRUE(shadow::summary().unaudited_lines.empty());
  tracked.escape(flat.get(), 12);
  const shadow::Summary anew = shadow::summary();
  EXPECT_EQ(anew.unaudited_lines.at(0).times, 1U) << "a line that was counted before";
  EXPECT_NE(to_string(anew).find("; 1 line is unaudited"), std::string::npos);
}

TEST_F(Shadows, a_triple_has_the_most_unaudited_lines_there_were) {
  for (const bool has_escape : {false, true, false}) {
    Tracked each;
    if (has_escape) {
      each.reshape(9);
      each.escape(nullptr, 9);
    }
    each.violate();
  }
  EXPECT_EQ(reports.only().unaudited, 0U) << "it was told at the first";
  EXPECT_EQ(shadow::summary().triples.at(0).unaudited, 1U);
}

TEST_F(Shadows, raw_pointers_that_leave_families_at_once_are_all_counted) {
  constexpr std::uint32_t threads = 4;
  std::vector<ShadowHandle> families;
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    families.push_back(tracked.reshape(10 + thread));
  }
  at_once(threads, [&](std::size_t thread) {
    for (std::uint32_t line = 20; line < 30; ++line) {
      tracked.escape(families[thread].get(), line);
    }
  });
  EXPECT_EQ(shadow::summary().unaudited, threads * 10U);
}

TEST_F(Shadows, raw_pointers_that_leave_storages_by_one_line_at_once_are_all_counted) {
  constexpr std::uint32_t threads = 4;
  constexpr std::uint32_t times = 1000;
  tracked.file() = "unaudited_at_once.cpp";
  std::vector<Tracked> of_threads(threads);
  for (Tracked& each : of_threads) {
    each.file() = tracked.file();
    each.reshape(10);
  }
  at_once(threads, [&](std::size_t thread) {
    for (std::uint32_t time = 0; time < times; ++time) {
      of_threads[thread].escape(nullptr, 20 + time % 2);
    }
  });
  const shadow::Summary summary = shadow::summary();
  EXPECT_EQ(summary.unaudited, threads * 2U) << "each line once for each storage";
  ASSERT_EQ(summary.unaudited_lines.size(), 2U);
  for (const shadow::UnauditedLine& line : summary.unaudited_lines) {
    EXPECT_EQ(line.times, threads * times / 2) << line.site.line;
  }
}

TEST_F(Shadows, an_unaudited_line_that_several_reshapes_come_to_is_named_once) {
  tracked.file() = "unaudited_once.cpp";
  const ShadowHandle one = tracked.reshape(10);
  const ShadowHandle other = tracked.reshape(11);
  tracked.escape(one.get(), 12);
  tracked.escape(other.get(), 12);
  tracked.escape(nullptr, 12);
  const shadow::Summary summary = shadow::summary();
  EXPECT_EQ(summary.unaudited, 3U);
  ASSERT_EQ(summary.unaudited_lines.size(), 1U);
  EXPECT_EQ(summary.unaudited_lines[0].times, 3U);
}

TEST_F(Shadows, a_report_with_long_names_and_sizes_is_told_to_its_end) {
  const std::string name = "/build/" + std::string(3000, 'a') + "/layers.cpp";
  tracked.file() = name.c_str();
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  tracked.sizes() = {most, most, most, most, most, most, most};
  tracked.to_sizes() = tracked.sizes();
  const ShadowHandle flat = tracked.reshape(10);
  tracked.escape(nullptr, 11);
  tracked.write(flat.get(), 12, false);
  const std::string told = text_of(reports.only()).chars.data();
  for (const char* const part : {"reshaped at /build/", "/layers.cpp:10", "/layers.cpp:11",
                                 "/layers.cpp:12", "write reshape(...).clone()", "is not seen."}) {
    EXPECT_NE(told.find(part), std::string::npos) << part << " is not in " << told;
  }
  EXPECT_NE(to_string(reports.only()).find(name + ":12, as ["), std::string::npos);
}

TEST_F(Shadows, a_report_with_names_of_some_length_has_its_sizes) {
  const std::string name = std::string(400, 'a') + ".cpp";
  tracked.file() = name.c_str();
  tracked.violate();
  EXPECT_NE(std::strstr(text_of(reports.only()).chars.data(), ".cpp:12, as [2, 3]"), nullptr);
}

TEST_F(Shadows, one_triple_of_lines_is_told_once_and_counted) {
  for (int time = 0; time < 5; ++time) {
    Tracked another({time, 4});  // other shapes, the same lines
    another.violate();
  }
  EXPECT_EQ(reports.count(), 1U);
  const shadow::Summary summary = shadow::summary();
  ASSERT_EQ(summary.triples.size(), 1U);
  EXPECT_EQ(summary.triples[0].count, 5U);
  EXPECT_EQ(to_string(summary.triples[0].access.shape), "[0, 4]") << "of the first";
  EXPECT_EQ(summary.violations, 5U);
  EXPECT_EQ(summary.reshapes, 5U);
}

TEST_F(Shadows, another_line_of_any_of_the_three_is_another_triple) {
  const auto violate_at = [](std::uint32_t reshape, std::uint32_t write, std::uint32_t read) {
    Tracked storage;
    const ShadowHandle flat = storage.reshape(reshape);
    storage.write(flat.get(), write);
    storage.read(nullptr, read);
  };
  violate_at(1, 2, 3);
  violate_at(9, 2, 3);
  violate_at(1, 9, 3);
  violate_at(1, 2, 9);
  violate_at(9, 2, 3);
  EXPECT_EQ(reports.count(), 4U);
  const auto triples = shadow::summary().triples;
  ASSERT_EQ(triples.size(), 4U);
  EXPECT_EQ(triples[0].count, 2U);  // the most frequent first, the others by their lines
  EXPECT_EQ(triples[0].reshape.site.line, 9U);
  EXPECT_EQ(triples[1].access.site.line, 3U);
  EXPECT_EQ(triples[2].access.site.line, 9U);
}

TEST_F(Shadows, every_violation_of_every_thread_is_counted) {
  constexpr std::size_t threads = 4;
  constexpr std::size_t times = 250;
  at_once(threads, [&](std::size_t) {
    for (std::size_t time = 0; time < times; ++time) {
      Tracked().violate();
    }
  });
  EXPECT_EQ(reports.count(), 1U);
  EXPECT_EQ(shadow::summary().violations, threads * times);
  EXPECT_EQ(shadow::summary().triples.at(0).count, threads * times);
  EXPECT_EQ(shadow::summary().reshapes, threads * times);
}

TEST_F(Shadows, what_was_thrown_is_told_where_it_is_not_thrown) {
  EXPECT_THROW(tracked.violate(ReshapeMode::error), ReshapeViolation);
  EXPECT_EQ(reports.count(), 0U);
  Tracked().violate();
  EXPECT_EQ(reports.only().count, 2U);
}

TEST_F(Shadows, a_write_that_others_rely_on_is_that_of_one_reshape_and_no_other_at_its_line) {
  const ShadowHandle shared = tracked.reshape(10);
  tracked.write(shared.get(), 11);
  tracked.read(nullptr, 12);
  Tracked another;
  const ShadowHandle one = another.reshape(20);
  const ShadowHandle other = another.reshape(21);
  another.write(one.get(), 11);
  another.read(other.get(), 22);
  Tracked third;
  const ShadowHandle flat = third.reshape(30);
  third.write(nullptr, 11);
  third.read(flat.get(), 31);
  for (const Violation& each : shadow::summary().triples) {
    EXPECT_EQ(each.advice, each.access.site.line == 12 ? Advice::view : Advice::reshape_and_clone)
        << each.access.site.line;
  }
}

TEST_F(Shadows, a_write_of_what_was_not_reshaped_says_nothing_of_other_reshapes) {
  const ShadowHandle window = tracked.reshape(10);
  for (int time = 0; time < 2; ++time) {
    tracked.write(nullptr, 11);
    tracked.read(window.get(), 12);
  }
  EXPECT_EQ(shadow::summary().triples.at(0).advice, Advice::view_or_clone);
  Tracked another;
  const ShadowHandle flat = another.reshape(20);
  another.write(nullptr, 11);
  another.read(flat.get(), 21);
  EXPECT_EQ(reports.all().back().advice, Advice::reshape_and_clone);
}

/// The write at line 12 is relied on by line 14; so line 11 is to share, and with it the write at 15.
TEST_F(Shadows, a_reshape_has_one_rewrite_by_whatever_way_that_is_known) {
  const ShadowHandle groups = tracked.reshape(10);
  const ShadowHandle flat = tracked.reshape(11, groups.get());
  tracked.write(groups.get(), 15);
  tracked.read(flat.get(), 16);
  Tracked another;
  const ShadowHandle others = another.reshape(10);
  const ShadowHandle other_flat = another.reshape(11, others.get());
  const ShadowHandle tall = another.reshape(9, others.get());
  another.write(others.get(), 15);
  another.read(tall.get(), 8);
  another.write(others.get(), 12);
  another.read(other_flat.get(), 13);
  EXPECT_EQ(reports.all().back().advice, Advice::reshape_and_clone);
  another.read(nullptr, 14);
  const auto triples = shadow::summary().triples;
  EXPECT_EQ(triples.size(), 4U);
  for (const Violation& each : triples) {
    EXPECT_EQ(each.advice, Advice::view) << each.reshape.site.line;
  }
}

TEST(Reports, go_to_the_handler_of_warnings_unless_there_is_another) {
  const CaughtWarnings warnings;
  shadow::reset_summary();
  const auto before = shadow::set_violation_handler(nullptr);
  Tracked tracked;
  tracked.violate();
  EXPECT_EQ(shadow::set_violation_handler(before), before);
  shadow::reset_summary();
  ASSERT_EQ(warnings.texts().size(), 1U);
  EXPECT_EQ(warnings.texts()[0].find("this code relies on reshape sharing memory"), 0U);
}

TEST(Reports, are_handed_out_with_no_lock_held) {
  const CaughtReports reports;
  const auto handler = +[](const Violation& violation) noexcept {
    if (violation.access.site.line == 12) {
      Tracked inner;
      inner.reshape(20);
      const ShadowHandle flat = inner.reshape(21);
      inner.write(flat.get(), 22);
      inner.read(nullptr, 23);
    }
    shadow::set_violation_handler(shadow::set_violation_handler(nullptr));
  };
  const auto caught = shadow::set_violation_handler(handler);
  Tracked().violate();
  EXPECT_EQ(shadow::set_violation_handler(caught), handler);
  EXPECT_EQ(shadow::summary().triples.size(), 2U);
}

/// Of a place each: of one that was met before, there is one already.
TEST_F(Shadows, backtraces_are_kept_if_asked_for) {
  EXPECT_STREQ(Violation{}.write_backtrace, "");
  shadow::set_backtraces(true);
  tracked.file() = "backtraces.cpp";
  tracked.violate();
  shadow::set_backtraces(false);
  const Violation violation = reports.only();
  for (const char* const text :
       {violation.reshape_backtrace, violation.write_backtrace, violation.access_backtrace}) {
    const std::string first(text, std::strcspn(text, "\n"));
    EXPECT_NE(first.find("unit_shadow+0x"), std::string::npos) << "not byre's own: " << text;
  }
  EXPECT_STRNE(violation.reshape_backtrace, violation.write_backtrace);
  const std::vector<std::string> all = backtraces_of(violation);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0], std::string("reshaped by way of\n") + violation.reshape_backtrace);
  EXPECT_EQ(all[1], std::string("written by way of\n") + violation.write_backtrace);
  EXPECT_EQ(all[2], std::string("then read by way of\n") + violation.access_backtrace);
  EXPECT_NE(to_string(shadow::summary()).find("\n" + all[0] + all[1] + all[2]), std::string::npos);
}

TEST_F(Shadows, no_backtraces_are_kept_unless_asked_for) {
  tracked.file() = "no_backtraces.cpp";
  tracked.violate();
  EXPECT_STREQ(reports.only().access_backtrace, "");
  EXPECT_TRUE(backtraces_of(reports.only()).empty());
}

}  // namespace
}  // namespace byre::test
