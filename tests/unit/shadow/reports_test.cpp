// SPDX-License-Identifier: BSL-1.0
/// What reports say, how often, and to whom; and what is advised.
#include <byre/shadow/mode.hpp>

#include <limits>

#include "support/at_once.hpp"
#include "support/caught_warnings.hpp"
#include "tracked.hpp"

namespace byre::test {
namespace {

TEST_F(Shadows, a_report_says_what_happens_where_and_what_to_write) {
  tracked.file() = "src/says.cpp";
  tracked.violate();
  EXPECT_EQ(to_string(reports.only()),
            "this code relies on reshape sharing memory with what it reshapes, and reshape is to "
            "become a copy.\n"
            "  reshaped at src/says.cpp:10, [2, 3] to [6]\n"
            "  written at src/says.cpp:11, as [2, 3]\n"
            "  then read at src/says.cpp:12, as [2, 3]\n"
            "Today the read sees what was written; with a copy it will not. If the two are to "
            "share memory, write view in place of that reshape; if each is to have its own "
            "contents, write reshape(...).clone().");
  EXPECT_EQ(text_of(reports.only()).chars.data(), to_string(reports.only()));
}

TEST_F(Shadows, a_report_says_so_for_each_advice_and_kind_of_access) {
  Violation violation;
  violation.access_writes = true;
  violation.count = 3;
  const auto has = [&](const char* part) {
    return to_string(violation).find(part) != std::string::npos;
  };
  EXPECT_TRUE(has("then written at a call site that is not known"));
  EXPECT_TRUE(has("with a copy each has its own. ") && has("nothing to do but to suppress this"));
  EXPECT_TRUE(has("may be several, which are reported as one.") && has("It happened 3 times."));
  violation.advice = Advice::reshape_and_clone;
  EXPECT_TRUE(has("If what was there before the write is wanted, write reshape(...).clone()"));
  violation.advice = Advice::view_or_clone;
  EXPECT_TRUE(has("is to follow what is written to the other, write view"));
}

TEST_F(Shadows, a_report_with_long_names_and_sizes_is_told_to_its_end) {
  const std::string file = "/build/" + std::string(3000, 'a') + "/layers.cpp";
  tracked.file() = file.c_str();
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
  EXPECT_NE(to_string(reports.only()).find(file + ":12, as ["), std::string::npos);
  EXPECT_EQ(reports.only().write.shape.ndim(), 7U);
  EXPECT_NE(to_string(reports.only().write.shape).find(", ...]"), std::string::npos);
}

TEST_F(Shadows, names_of_files_are_compared_by_what_they_say_and_kept) {
  const std::string file = "a/name/that/no/other/test/has.cpp";
  std::string buffer = file;
  tracked.file() = buffer.c_str();
  tracked.violate();
  buffer.assign(buffer.size(), 'x');
  EXPECT_EQ(reports.only().access.site.file, file);
  EXPECT_EQ(shadow::summary().triples.at(0).write.site.file, file);
  Tracked again;
  again.file() = file.c_str();
  again.violate();
  EXPECT_EQ(reports.count(), 1U);
  EXPECT_EQ(shadow::summary().triples.at(0).count, 2U);
}

TEST_F(Shadows, a_line_is_that_of_the_file_that_has_its_name_now) {
  std::string file = "files/one.cpp";
  tracked.file() = file.c_str();
  const ShadowHandle flat = tracked.reshape(10);
  tracked.write(flat.get(), 11);
  file = "files/two.cpp";
  tracked.file() = file.c_str();
  tracked.write(flat.get(), 11);
  tracked.read(nullptr, 12);
  EXPECT_STREQ(reports.only().write.site.file, "files/two.cpp");
}

TEST_F(Shadows, one_triple_of_call_sites_is_told_once_and_counted) {
  for (int time = 0; time < 5; ++time) {
    Tracked another({time, 4});  // other shapes, the same call sites
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
  shadow::reset_summary();
  violate_at(1, 2, 3);
  EXPECT_EQ(reports.count(), 5U) << "a book that begins anew reports again";
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

TEST_F(Shadows, raw_pointers_that_left_are_counted_and_the_first_is_named) {
  tracked.file() = "escapes.cpp";
  const ShadowHandle flat = tracked.reshape(10);
  for (const std::uint32_t line : {11U, 12U, 12U}) {
    tracked.escape(flat.get(), line);
  }
  tracked.read(nullptr, 13);
  EXPECT_EQ(reports.only().untracked_escapes, 3U);
  EXPECT_EQ(reports.only().first_escape, (CallSite{reports.only().first_escape.file, 11}));
  EXPECT_NE(to_string(reports.only()).find("were handed out 3 times, first at escapes.cpp:11:"),
            std::string::npos);
  Tracked another;
  another.file() = "escapes.cpp";
  another.violate();
  const shadow::Summary summary = shadow::summary();
  EXPECT_EQ(summary.untracked_escapes, 3U);
  ASSERT_EQ(summary.escape_sites.size(), 1U);
  EXPECT_EQ(summary.escape_sites[0].site.line, 11U);
  EXPECT_EQ(summary.escape_sites[0].storages, 1U);
  EXPECT_NE(to_string(summary).find("; 3 raw pointers to write left untracked.\n"
                                    "  first at escapes.cpp:11, of 1 storage\n"),
            std::string::npos);
}

TEST_F(Shadows, raw_pointers_that_leave_at_once_are_all_counted) {
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
  EXPECT_EQ(shadow::summary().untracked_escapes, threads * 10U);
  EXPECT_EQ(shadow::summary().escape_sites.size(), 1U) << "one is the first";
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

// ---- advice

/// Of all that was met so far, which is the same.
void expect_advice(Advice advice) {
  for (const Violation& each : shadow::summary().triples) {
    EXPECT_EQ(each.advice, advice) << each.reshape.site.line << ", " << each.access.site.line;
  }
}

TEST_F(Shadows, who_follows_writes_and_is_followed_is_a_window) {
  const ShadowHandle flat = tracked.reshape(10);
  for (int time = 0; time < 2; ++time) {
    tracked.write(nullptr, 11);
    tracked.read(flat.get(), 12);
  }
  EXPECT_EQ(reports.only().advice, Advice::reshape_and_clone) << "by what was met until then";
  expect_advice(Advice::view_or_clone);
  tracked.write(flat.get(), 13);
  tracked.read(nullptr, 14);
  expect_advice(Advice::view);  // one reshape has one rewrite
}

TEST_F(Shadows, a_write_that_others_rely_on_is_to_be_seen_by_all) {
  const ShadowHandle groups = tracked.reshape(10);
  const ShadowHandle flat = tracked.reshape(11, groups.get());
  tracked.write(groups.get(), 12);
  tracked.read(flat.get(), 13);
  EXPECT_EQ(reports.only().advice, Advice::reshape_and_clone);
  tracked.read(nullptr, 14);
  expect_advice(Advice::view);
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
  EXPECT_EQ(reports.all().back().advice, Advice::reshape_and_clone);
  Tracked third;
  const ShadowHandle flat = third.reshape(30);
  third.write(nullptr, 11);
  third.read(flat.get(), 31);
  EXPECT_EQ(reports.all().back().advice, Advice::reshape_and_clone);
}

}  // namespace
}  // namespace byre::test
