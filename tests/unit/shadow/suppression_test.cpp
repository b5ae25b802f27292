// SPDX-License-Identifier: BSL-1.0
/// Suppression by scopes and by files, and invalid files. tests/equivalence tests which violations
/// a suppression hides.
#include <byre/files/detail/input_file.hpp>
#include <byre/shadow/detail/report_book.hpp>

#include "support/at_once.hpp"
#include "support/complaint.hpp"
#include "support/temporary_folder.hpp"
#include "tracked.hpp"

namespace byre::test {
namespace {

/// The suppressions that a process has read accumulate, so each test uses its own names of files.
class Suppressions : public testing::Test {
 protected:
  void suppress(const std::string& list) {
    write_file(path(), list);
    shadow::suppress_sites(path());
  }
  static bool is_reported(const char* file) {
    const CaughtReports caught;
    violate(ReshapeMode::warn, file);
    EXPECT_EQ(shadow::summary().suppressed, caught.count() == 1 ? 0U : 1U);
    return caught.count() == 1;
  }
  std::string path() const { return (folder_ / "known.txt").string(); }

 private:
  const TemporaryFolder folder_;
};

TEST_F(Suppressions, scopes_nest_and_suppress_only_on_their_thread) {
  const CaughtReports reports;
  {
    const ScopedSuppression outer;
    {
      const ScopedSuppression inner;
      violate();
    }
    violate(ReshapeMode::error);
    on_another_thread([] { violate(ReshapeMode::warn, "src/elsewhere.cpp"); });
  }
  EXPECT_STREQ(reports.only().access.site.file, "src/elsewhere.cpp");
  EXPECT_EQ(shadow::summary().suppressed, 2U);
  EXPECT_EQ(shadow::summary().violations, 1U);
}

TEST_F(Suppressions, entries_match_ends_of_file_names_with_or_without_a_line) {
  suppress("one/known.cpp\nlines_a.cpp:10\nlines_b.cpp:11\nlines_c.cpp:12\nlines_d.cpp:13\n");
  suppress("");
  suppress("# nothing yet");
  suppress(
      "# known since May\r\n\n  \t blank_a.cpp:10 # see #17\r\n#blank_c.cpp\nblank_e.cpp\r\n"
      "blank#d.cpp\t# known\n blank#b.cpp");
  for (const char* const file :
       {"one/known.cpp", "/home/build/one/known.cpp", "lines_a.cpp", "lines_b.cpp", "lines_c.cpp",
        "src/blank_a.cpp", "src/blank#b.cpp", "src/blank#d.cpp", "src/blank_e.cpp"}) {
    EXPECT_FALSE(is_reported(file)) << file;
  }
  for (const char* const file : {"/home/build/someone/known.cpp", "known.cpp", "one/known.cpp.in",
                                 "lines_d.cpp", "src/blank_c.cpp"}) {
    EXPECT_TRUE(is_reported(file)) << file;
  }
}

TEST_F(Suppressions, unknown_call_sites_are_never_suppressed) {
  suppress("?");
  EXPECT_FALSE(shadow::detail::is_suppressed(CallSite{}));
}

TEST_F(Suppressions, an_invalid_file_is_rejected_and_suppresses_nothing) {
  for (const std::string wrong :
       {"wrong.cpp:", "wrong.cpp:0", "wrong.cpp:-3", "wrong.cpp:12x", ":12", "wrong.cpp 12",
        "wrong\tcpp", "folder/", "folder/:12", "wrong.cpp:99999999999"}) {
    EXPECT_EQ(
        complaint_of<FileError>([&] { suppress("fine.cpp\n\n" + wrong + "\n"); }),
        path() + ":3: \"" + wrong +
            "\" is not a call site. Write the end of a file's name, alone or with a line, as in "
            "\"model/layers.cpp:12\". Comments begin with #.");
  }
  EXPECT_TRUE(is_reported("fine.cpp"));
  EXPECT_NE(complaint_of<FileError>([] {
              shadow::suppress_sites("/nowhere/known.txt");
            }).find("/nowhere/known.txt"),
            std::string::npos);
}

}  // namespace
}  // namespace byre::test
