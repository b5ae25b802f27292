// SPDX-License-Identifier: BSL-1.0
/// Reports and summaries as JSON and as text, and where summaries go.
#include <nlohmann/json.hpp>

#include "support/complaint.hpp"
#include "support/temporary_folder.hpp"
#include "tracked.hpp"

namespace byre::test {
namespace {

using Json = nlohmann::json;

TEST_F(Shadows, a_report_is_a_json_object) {
  const char* const file = "src/\"json\".cpp";
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
                         {"untracked_escapes", 1},
                         {"first_escape", {{"file", file}, {"line", 9}}}};
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

TEST_F(Shadows, a_summary_is_a_json_object) {
  tracked.violate();
  tracked.escape(nullptr, 20);
  const ShadowHandle flat = tracked.reshape(21);
  tracked.write(flat.get(), 22);
  tracked.read(nullptr, 23);
  const shadow::Summary summary = shadow::summary();
  const Json json = Json::parse(to_json(summary));
  ASSERT_EQ(summary.triples.size(), 2U);
  const Json expected = {
      {"reshapes", 2},
      {"violations", 2},
      {"suppressed", 0},
      {"untracked_escapes", 1},
      {"escape_sites", {{{"file", model_file}, {"line", 20}, {"storages", 1}}}},
      {"triples",
       {Json::parse(to_json(summary.triples[0])), Json::parse(to_json(summary.triples[1]))}}};
  EXPECT_EQ(json, expected);
}

TEST_F(Shadows, a_summary_for_people_has_all_reports) {
  EXPECT_EQ(to_string(shadow::summary()),
            "byre: reshape: 0 reshapes were tracked; 0 accesses rely on one being an alias, at 0 "
            "triples of call sites, and 0 more were suppressed; 0 raw pointers to write left "
            "untracked.\n");
  tracked.violate();
  Tracked().violate();
  const auto text = to_string(shadow::summary());
  EXPECT_EQ(text.find("byre: reshape: 2 reshapes were tracked; 2 accesses rely on one being an "
                      "alias, at 1 triple of call sites, and 0 more were suppressed; "),
            0U);
  EXPECT_NE(text.find("\n\n1. " + to_string(shadow::summary().triples.at(0)) + "\n"),
            std::string::npos);
  EXPECT_NE(text.find("\nIt happened 2 times."), std::string::npos);
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
  EXPECT_NE(
      complaint_of<InvalidArgument>([] { shadow::print_summary("all.xml"); }).find("\"all.xml\""),
      std::string::npos);
  EXPECT_NE(complaint_of<FileError>([] {
              shadow::print_summary("/nowhere/all.txt");
            }).find("/nowhere/all.txt"),
            std::string::npos);
}

/// A report's name of a file, as JSON has it.
Json in_json(const std::string& file) {
  Violation violation;
  violation.write.site = {file.c_str(), 1};
  return Json::parse(to_json(violation)).at("write").at("file");
}

TEST(NamesInJson, are_read_back) {
  for (const std::string text :
       {"", "a/b.cpp", "say \"no\" to \\", "\n\t\x01\x1f\x7f", "\xc3\xa4", "\xe2\x82\xac",
        "\xf0\x9f\x90\x84", "\xc2\x80", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
        "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(in_json(text), text);
  }
}

TEST(NamesInJson, replace_bytes_that_are_no_text) {
  for (const auto& [text, times] : std::vector<std::pair<std::string, int>>{{"\xff", 1},
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
    for (int time = 0; time < times; ++time) {
      expected += "\xef\xbf\xbd";
    }
    EXPECT_EQ(in_json("a" + text + "b"), expected + "b");
  }
}

}  // namespace
}  // namespace byre::test
