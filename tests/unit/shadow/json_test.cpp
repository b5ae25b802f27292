// SPDX-License-Identifier: BSL-1.0
/// Reports and summaries as JSON and as text. environment_test.py tests where summaries are
/// written.
#include <nlohmann/json.hpp>

#include "tracked.hpp"

namespace byre::test {
namespace {

using Json = nlohmann::json;

using Summaries = Reported;

TEST_F(Summaries, a_report_is_a_json_object) {
  const char* const file = "src/\"json\".cpp";
  Tensor x = Tensor::zeros({2, 3}, DType::f32);
  const Tensor y = reshaped(x, {6}, ReshapeMode::warn, site(10, file));
  Tensor row = x.select(0, 1);
  Tensor part = y.slice(0, 4);
  escape(row, site(9, file));
  write(part, site(11, file));
  const Violation violation = reports.only();
  const Json expected = {{"reshape",
                          {{"file", file},
                           {"line", 10},
                           {"ndim", 1},
                           {"sizes", {6}},
                           {"from_ndim", 2},
                           {"from_sizes", {2, 3}},
                           {"mode", "warn"}}},
                         {"write", {{"file", file}, {"line", 9}, {"ndim", 1}, {"sizes", {3}}}},
                         {"access", {{"file", file}, {"line", 11}, {"ndim", 1}, {"sizes", {2}}}},
                         {"access_is", "write"},
                         {"advice", to_string(violation.advice)},
                         {"count", 1},
                         {"untracked_escapes", 1},
                         {"first_escape", {{"file", file}, {"line", 9}}}};
  EXPECT_EQ(Json::parse(to_json(violation)), expected);
  const Json nowhere = {{"file", "?"}, {"line", 0}, {"ndim", 0}, {"sizes", Json::array()}};
  EXPECT_EQ(Json::parse(to_json(Violation())).at("reshape"), nowhere);
  EXPECT_EQ(Json::parse(to_json(Violation())).at("access_is"), "read");
}

TEST_F(Summaries, a_summary_is_a_json_object) {
  violate();
  violate(ReshapeMode::warn, "src/others.cpp");
  {
    const ScopedSuppression suppression;
    violate();
  }
  Tensor x = Tensor::zeros({6}, DType::f32);
  const Tensor y = reshaped(x, {2, 3});
  escape(x, site(20));
  const shadow::Summary summary = shadow::summary();
  ASSERT_EQ(summary.triples.size(), 2U);
  const Json expected = {
      {"reshapes", 4},
      {"violations", 2},
      {"suppressed", 1},
      {"untracked_escapes", 1},
      {"first_escape", {{"file", model_file}, {"line", 20}}},
      {"triples",
       {Json::parse(to_json(summary.triples[0])), Json::parse(to_json(summary.triples[1]))}}};
  EXPECT_EQ(Json::parse(to_json(summary)), expected);
}

TEST_F(Summaries, the_text_of_a_summary_contains_all_reports) {
  EXPECT_EQ(to_string(shadow::summary()),
            "byre: reshape: 0 reshapes were tracked; 0 accesses rely on an alias, at 0 triples of "
            "call sites, and 0 more were suppressed; 0 raw pointers to write escaped tracking.\n");
  violate();
  violate();
  Tensor x = Tensor::zeros({6}, DType::f32);
  const Tensor y = reshaped(x, {2, 3});
  escape(x, site(20));
  EXPECT_EQ(to_string(shadow::summary()),
            "byre: reshape: 3 reshapes were tracked; 2 accesses rely on an alias, at 1 triple of "
            "call sites, and 0 more were suppressed; 1 raw pointer to write escaped tracking.\n"
            "  first at src/model/layers.cpp:20\n\n"
            "1. " +
                to_string(shadow::summary().triples.at(0)) + "\n");
}

/// The JSON form of a file's name in a report.
Json in_json(const std::string& file) {
  Violation violation;
  violation.write.site = {file.c_str(), 1};
  return Json::parse(to_json(violation)).at("write").at("file");
}

TEST(NamesInJson, special_characters_in_file_names_are_read_back) {
  for (const std::string text :
       {"", "a/b.cpp", "say \"no\" to \\", "\n\t\x01\x1f\x7f", "\xc3\xa4", "\xe2\x82\xac",
        "\xf0\x9f\x90\x84", "\xc2\x80", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
        "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(in_json(text), text);
  }
}

}  // namespace
}  // namespace byre::test
