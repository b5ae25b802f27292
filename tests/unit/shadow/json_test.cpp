// SPDX-License-Identifier: BSL-1.0
/// Reports and summaries as JSON, and where summaries go.
#include <byre/shadow/backtrace.hpp>
#include <byre/shadow/json.hpp>
#include <byre/shadow/summary.hpp>

#include <nlohmann/json.hpp>

#include "support/complaint.hpp"
#include "support/temporary_folder.hpp"
#include "tracked.hpp"

namespace byre::test {
namespace {

using Json = nlohmann::json;

TEST_F(Shadows, a_report_is_a_json_object) {
  const char* const file = "src/json.cpp";
  tracked.file() = file;
  tracked.reshape(9);
  tracked.escape(nullptr, 9);
  tracked.violate();
  const Json expected = {{"reshape",
                          {{"file", file},
                           {"line", 10},
                           {"ndim", 1},
                           {"sizes", {6}},
                           {"from_ndim", 2},
                           {"from_sizes", {2, 3}},
                           {"mode", "warn"}}},
                         {"write", {{"file", file}, {"line", 11}, {"ndim", 2}, {"sizes", {2, 3}}}},
                         {"access", {{"file", file}, {"line", 12}, {"ndim", 2}, {"sizes", {2, 3}}}},
                         {"access_is", "read"},
                         {"advice", "view"},
                         {"count", 1},
                         {"unaudited", 1}};
  EXPECT_EQ(Json::parse(to_json(reports.only())), expected);
}

TEST_F(Shadows, a_report_in_json_says_what_is_not_known_and_what_to_write) {
  Violation violation;
  violation.access_writes = true;
  for (const auto& [advice, name] :
       {std::pair(Advice::view, "view"), std::pair(Advice::reshape_and_clone, "reshape_and_clone"),
        std::pair(Advice::view_or_clone, "view_or_clone"), std::pair(Advice::nothing, "nothing")}) {
    violation.advice = advice;
    EXPECT_EQ(Json::parse(to_json(violation)).at("advice"), name);
  }
  const Json nowhere = {{"file", "?"}, {"line", 0}, {"ndim", 0}, {"sizes", Json::array()}};
  EXPECT_EQ(Json::parse(to_json(violation)).at("reshape"), nowhere);
  EXPECT_EQ(Json::parse(to_json(violation)).at("access_is"), "write");
}

TEST_F(Shadows, a_report_in_json_has_its_backtraces) {
  shadow::set_backtraces(true);
  tracked.file() = "json_backtraces.cpp";
  tracked.violate();
  shadow::set_backtraces(false);
  const Json report = Json::parse(to_json(reports.only()));
  for (const char* const place : {"reshape", "write", "access"}) {
    EXPECT_NE(report.at(place).at("backtrace").get<std::string>().find("\n"), std::string::npos);
  }
}

TEST_F(Shadows, a_summary_is_a_json_object) {
  tracked.violate();
  Tracked().violate();
  const Json summary = Json::parse(to_json(shadow::summary()));
  EXPECT_EQ(summary.at("reshapes"), 2);
  EXPECT_EQ(summary.at("violations"), 2);
  EXPECT_EQ(summary.at("silenced"), 0);
  EXPECT_EQ(summary.at("unaudited"), 0);
  EXPECT_EQ(summary.at("unaudited_lines"), Json::array());
  ASSERT_EQ(summary.at("triples").size(), 1U);
  EXPECT_EQ(summary.at("triples")[0], Json::parse(to_json(shadow::summary().triples[0])));
  EXPECT_EQ(summary.at("triples")[0].at("count"), 2);
}

TEST_F(Shadows, a_summary_in_json_names_unaudited_lines) {
  tracked.file() = "json\"unaudited.cpp";
  const ShadowHandle flat = tracked.reshape(10);
  tracked.escape(flat.get(), 11);
  tracked.escape(flat.get(), 12);
  tracked.escape(flat.get(), 12);
  const Json expected = {{{"file", tracked.file()}, {"line", 11}, {"times", 1}},
                         {{"file", tracked.file()}, {"line", 12}, {"times", 2}}};
  EXPECT_EQ(Json::parse(to_json(shadow::summary())).at("unaudited_lines"), expected);
}

TEST_F(Shadows, a_summary_of_nothing_is_one_too) {
  EXPECT_EQ(Json::parse(to_json(shadow::summary())).at("triples"), Json::array());
  EXPECT_EQ(to_string(shadow::summary()),
            "byre: reshape: 0 reshapes were watched; 0 accesses rely on one being an alias, at 0 "
            "triples of places, and 0 more were silenced; 0 lines are unaudited, where raw "
            "pointers to write left.\n");
}

TEST_F(Shadows, a_summary_for_people_has_all_reports) {
  tracked.violate();
  Tracked().violate();
  const auto text = to_string(shadow::summary());
  EXPECT_EQ(text.find("byre: reshape: 2 reshapes were watched; 2 accesses rely on one being an "
                      "alias, at 1 triple of places, and 0 more were silenced; "),
            0U);
  EXPECT_NE(text.find("\n\n1. " + to_string(shadow::summary().triples.at(0)) + "\n"),
            std::string::npos);
  EXPECT_NE(text.find("\nIt happened 2 times."), std::string::npos);
}

TEST_F(Shadows, a_summary_separates_its_reports) {
  tracked.violate();
  const ShadowHandle flat = tracked.reshape(20);
  tracked.write(flat.get(), 21);
  tracked.read(nullptr, 22);
  const shadow::Summary summary = shadow::summary();
  ASSERT_EQ(summary.triples.size(), 2U);
  EXPECT_EQ(Json::parse(to_json(summary)).at("triples")[1],
            Json::parse(to_json(summary.triples[1])));
  EXPECT_NE(to_string(summary).find("\n\n2. " + to_string(summary.triples[1]) + "\n"),
            std::string::npos);
  EXPECT_NE(to_string(summary).find(" alias, at 2 triples of places, "), std::string::npos);
}

TEST_F(Shadows, summaries_go_to_files_by_their_names) {
  const TemporaryFolder folder;
  tracked.violate();
  shadow::print_summary((folder / "all.json").string());
  shadow::print_summary((folder / "all.txt").string());
  EXPECT_EQ(read_file(folder / "all.json"), to_json(shadow::summary()));
  EXPECT_EQ(read_file(folder / "all.txt"), to_string(shadow::summary()));
  testing::internal::CaptureStderr();
  shadow::print_summary("stderr");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), to_string(shadow::summary()));
}

TEST_F(Shadows, summaries_go_nowhere_else) {
  EXPECT_NE(
      complaint_of<InvalidArgument>([] { shadow::print_summary("all.xml"); }).find("\"all.xml\""),
      std::string::npos);
  EXPECT_NE(complaint_of<FileError>([] {
              shadow::print_summary("/nowhere/all.txt");
            }).find("/nowhere/all.txt"),
            std::string::npos);
}

TEST(JsonStrings, are_read_back) {
  for (const std::string text :
       {"", "a/b.cpp", "say \"no\" to \\", "\n\t\x01\x1f\x7f", "\xc3\xa4", "\xe2\x82\xac",
        "\xf0\x9f\x90\x84", "\xc2\x80", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
        "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(Json::parse(shadow::json_string(text)).get<std::string>(), text);
  }
}

TEST(JsonStrings, replace_bytes_that_are_no_text) {
  const std::string mark = "\xef\xbf\xbd";
  for (const auto& [text, times] :
       std::vector<std::pair<std::string, std::size_t>>{{"\xff", 1},
                                                        {"\xc3", 1},
                                                        {"\x80", 1},
                                                        {"\xc0\x80", 2},
                                                        {"\xc1\xbf", 2},
                                                        {"\xe0\x80\x80", 3},
                                                        {"\xed\xa0\x80", 3},
                                                        {"\xf0\x80\x80\x80", 4},
                                                        {"\xf4\x90\x80\x80", 4},
                                                        {"\xf5\x80\x80\x80", 4},
                                                        {"\xf8\x90\x80\x80", 4},
                                                        {"\xe2\x82", 2}}) {
    std::string expected = "a";
    for (std::size_t time = 0; time < times; ++time) {
      expected += mark;
    }
    EXPECT_EQ(Json::parse(shadow::json_string("a" + text + "b")).get<std::string>(),
              expected + "b");
  }
  const std::string_view cut = std::string_view("\xe2\x82\xac").substr(0, 2);
  EXPECT_EQ(Json::parse(shadow::json_string(cut)).get<std::string>(), mark + mark);
}

}  // namespace
}  // namespace byre::test
