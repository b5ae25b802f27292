// SPDX-License-Identifier: BSL-1.0
/// The texts of reports, their number, and their receivers. programs_test.cpp tests their advice.
#include <limits>

#include "support/caught_warnings.hpp"
#include "tracked.hpp"

namespace byre::test {
namespace {

using Reports = Reported;

TEST_F(Reports, the_text_names_the_call_sites_and_a_rewrite) {
  violate(ReshapeMode::warn, "src/says.cpp");
  EXPECT_EQ(
      to_string(reports.only()),
      "this code relies on reshape sharing memory with its input, but reshape will become a "
      "copy.\n"
      "  reshaped at src/says.cpp:10, [2, 3] to [6]\n"
      "  written at src/says.cpp:11, as [6]\n"
      "  then read at src/says.cpp:12, as [2, 3]\n"
      "Today the read returns the written values; with a copy, it will not. If the two tensors "
      "should share memory, write view in place of that reshape; if each should have its own "
      "contents, write reshape(...).clone().");
  EXPECT_EQ(text_of(reports.only()).chars.data(), to_string(reports.only()));
}

TEST_F(Reports, the_text_names_unknown_call_sites_and_the_count) {
  Violation violation;
  violation.access_writes = true;
  violation.count = 2;
  violation.untracked_escapes = 3;
  violation.first_escape = site(31);
  const std::string text = to_string(violation);
  for (const char* const part :
       {"then written at an unknown call site", "with a copy, each tensor has its own. ",
        "may stand for several, which are reported as one.", "It happened 2 times.",
        "were handed out 3 times, first at src/model/layers.cpp:31:"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in " << text;
  }
  violation.reshape.site = site(10);
  EXPECT_NE(to_string(violation).find("may stand for several"), std::string::npos)
      << "expected the hint for an unknown write";
  violation.write.site = site(11);
  EXPECT_EQ(to_string(violation).find("may stand for several"), std::string::npos);
  violation.reshape.site = CallSite{};
  EXPECT_NE(to_string(violation).find("may stand for several"), std::string::npos)
      << "expected the hint for an unknown reshape";
}

TEST_F(Reports, long_file_names_are_shortened_so_that_the_text_fits) {
  const std::string file = "/build/" + std::string(3000, 'a') + "/layers.cpp";
  Tensor x = Tensor::zeros({1, 1, 1, 1, 1, 1, 1}, DType::f32);
  Tensor y = reshaped(x, x.sizes(), ReshapeMode::warn, site(10, file.c_str()));
  escape(x, site(11, file.c_str()));
  write(y, site(12, file.c_str()));
  Violation violation = reports.only();
  const auto text_with_sizes_of = [&](std::int64_t size) -> std::string {
    const std::array sizes{size, size, size, size, size, size, size};
    violation.write.shape = violation.access.shape = violation.reshape.shape =
        violation.reshape.from = shadow::Shape(sizes);
    return text_of(violation).chars.data();
  };
  const std::string text = text_with_sizes_of(100'000);
  for (const char* const part :
       {"reshaped at /build/", "/layers.cpp:10", "/layers.cpp:11", "/layers.cpp:12",
        "should have its own contents", "are not tracked."}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in " << text;
  }
  EXPECT_NE(to_string(violation).find(file + ":12, as ["), std::string::npos);
  EXPECT_TRUE(text_with_sizes_of(std::numeric_limits<std::int64_t>::max()).ends_with("aaa:11."));
  EXPECT_EQ(reports.only().write.shape.ndim(), 7U);
  EXPECT_EQ(to_string(reports.only().write.shape), "[1, 1, 1, 1, 1, 1, ...]");
  EXPECT_EQ(to_string(shadow::Shape(Dims{1, 1, 1, 1, 1, 1})), "[1, 1, 1, 1, 1, 1]");
  const std::string longest_whole_name(50, 'f');
  violation.access.site.file = longest_whole_name.c_str();
  EXPECT_NE(text_with_sizes_of(1).find(longest_whole_name), std::string::npos);
}

TEST_F(Reports, a_text_one_character_too_long_gets_shorter_file_names) {
  std::string file = "f";
  const auto violation_there = [&] {
    Violation violation;
    violation.write.site = site(11, file.c_str());
    return violation;
  };
  file.resize(1 + Text{}.chars.size() - to_string(violation_there()).size(), 'f');
  EXPECT_EQ(to_string(violation_there()).size(), Text{}.chars.size())
      << "expected a text without room for the terminating zero";
  EXPECT_TRUE(
      std::string_view(text_of(violation_there()).chars.data()).ends_with("reported as one."));
}

TEST_F(Reports, file_names_are_stored_and_compared_as_text_not_by_address) {
  const std::string file = "a/name/that/no/other/test/has.cpp";
  std::string buffer = file;
  violate(ReshapeMode::warn, buffer.c_str());
  buffer.assign(buffer.size(), 'x');
  EXPECT_EQ(reports.only().access.site.file, file);
  EXPECT_EQ(shadow::summary().triples.at(0).write.site.file, file);
  violate(ReshapeMode::warn, file.c_str());
  EXPECT_EQ(reports.count(), 1U);
  EXPECT_EQ(shadow::summary().triples.at(0).count, 2U);
}

TEST_F(Tracked, a_call_site_keeps_its_file_name_if_the_buffer_changes) {
  std::string file = "files/one.cpp";
  write(y, site(11, file.c_str()));
  file = "files/two.cpp";
  write(y, site(11, file.c_str()));
  read(x, site(12));
  EXPECT_STREQ(reports.only().write.site.file, "files/two.cpp");
}

TEST_F(Reports, a_triple_of_call_sites_is_reported_once_and_counted) {
  for (std::int64_t time = 0; time < 5; ++time) {
    violate(ReshapeMode::warn, model_file, {time + 1, 4});  // other sizes, the same call sites
  }
  EXPECT_EQ(to_string(reports.only().access.shape), "[1, 4]");
  const shadow::Summary summary = shadow::summary();
  ASSERT_EQ(summary.triples.size(), 1U);
  EXPECT_EQ(summary.triples[0].count, 5U);
  EXPECT_EQ(to_string(summary.triples[0].access.shape), "[1, 4]")
      << "expected the sizes of the first violation";
  EXPECT_EQ(summary.violations, 5U);
  EXPECT_EQ(summary.reshapes, 5U);
}

TEST_F(Reports, a_summary_orders_reports_by_count_then_by_call_site) {
  for (const char* const file : {"c.cpp", "b.cpp", "a.cpp", "b.cpp"}) {
    violate(ReshapeMode::warn, file);
  }
  EXPECT_EQ(reports.count(), 3U);
  const auto triples = shadow::summary().triples;
  ASSERT_EQ(triples.size(), 3U);
  EXPECT_STREQ(triples[0].access.site.file, "b.cpp");
  EXPECT_STREQ(triples[1].access.site.file, "a.cpp");
  EXPECT_STREQ(triples[2].access.site.file, "c.cpp");
  shadow::reset_summary();
  violate(ReshapeMode::warn, "a.cpp");
  EXPECT_EQ(reports.count(), 4U) << "expected a new report after the reset";
}

TEST_F(Reports, the_count_includes_violations_that_were_thrown) {
  EXPECT_THROW(violate(ReshapeMode::error), ReshapeViolation);
  violate();
  EXPECT_EQ(reports.only().count, 2U);
}

TEST_F(Reports, the_default_handler_warns) {
  const CaughtWarnings warnings;
  const auto caught = shadow::set_violation_handler(nullptr);
  violate();
  shadow::set_violation_handler(caught);
  ASSERT_EQ(warnings.texts().size(), 1U);
  EXPECT_EQ(warnings.texts()[0].find("this code relies on reshape sharing memory"), 0U);
}

TEST_F(Reports, handlers_are_called_without_a_lock) {
  const auto handler = +[](const Violation& violation) noexcept {
    if (violation.access.site.file == std::string(model_file)) {
      violate(ReshapeMode::warn, "src/inner.cpp");
    }
    shadow::set_violation_handler(shadow::set_violation_handler(nullptr));
  };
  const auto caught = shadow::set_violation_handler(handler);
  violate();
  EXPECT_EQ(shadow::set_violation_handler(caught), handler);
  EXPECT_EQ(shadow::summary().triples.size(), 2U);
}

TEST_F(Reports, each_advice_has_a_name_and_a_text) {
  Violation violation;
  for (const auto& [advice, name, text] :
       {std::tuple(Advice::view, "view", "share memory, write view in place of that reshape"),
        std::tuple(Advice::reshape_and_clone, "reshape_and_clone", "If the values from before"),
        std::tuple(Advice::view_or_clone, "view_or_clone", "should follow writes to the other"),
        std::tuple(Advice::nothing, "nothing", "suppress this report until")}) {
    violation.advice = advice;
    EXPECT_EQ(to_string(advice), std::string(name));
    EXPECT_NE(to_json(violation).find("\"" + std::string(name) + "\""), std::string::npos);
    EXPECT_NE(to_string(violation).find(text), std::string::npos);
  }
}

}  // namespace
}  // namespace byre::test
