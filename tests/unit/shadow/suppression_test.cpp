// SPDX-License-Identifier: BSL-1.0
/// Violations that are not reported, and files of them that are wrong.
#include <byre/shadow/suppression.hpp>
#include <byre/storage/detail/input_file.hpp>

#include "support/at_once.hpp"
#include "support/complaint.hpp"
#include "support/temporary_folder.hpp"
#include "tracked.hpp"

namespace byre::test {
namespace {

using shadow::ScopedSuppression;

TEST_F(Shadows, a_scope_suppresses_its_thread_and_nests) {
  {
    const ScopedSuppression outer;
    {
      const ScopedSuppression inner;
      tracked.violate();
    }
    Tracked().violate();
    elsewhere([] { Tracked({7}).violate(); });
  }
  EXPECT_EQ(reports.count(), 1U);
  EXPECT_EQ(to_string(reports.only().access.shape), "[7]");
  EXPECT_EQ(shadow::summary().suppressed, 2U);
  EXPECT_EQ(shadow::summary().violations, 1U);
}

TEST_F(Shadows, what_was_suppressed_is_told_where_it_is_not) {
  {
    const ScopedSuppression scope;
    tracked.violate();
  }
  Tracked().violate();
  EXPECT_EQ(reports.only().count, 1U);
}

TEST_F(Shadows, a_read_that_was_suppressed_hides_none_that_is_not) {
  const ShadowHandle flat = tracked.reshape(10);
  tracked.write(flat.get(), 11);
  {
    const ScopedSuppression scope;
    tracked.read(nullptr, 12);
    tracked.read(nullptr, 12);
  }
  EXPECT_EQ(shadow::summary().suppressed, 2U);
  tracked.read(nullptr, 13);
  EXPECT_EQ(reports.only().access.site.line, 13U);
}

TEST_F(Shadows, a_write_that_was_suppressed_hides_no_read_that_is_not) {
  const ShadowHandle flat = tracked.reshape(10);
  tracked.write(nullptr, 11);
  {
    const ScopedSuppression scope;
    tracked.write(flat.get(), 12, false);
    tracked.read(flat.get(), 13);
  }
  EXPECT_EQ(shadow::summary().suppressed, 2U);
  EXPECT_EQ(reports.count(), 0U);
  tracked.read(flat.get(), 14);
  EXPECT_EQ(reports.only().write.site.line, 11U);
  EXPECT_EQ(reports.only().access.site.line, 14U);
  tracked.read(nullptr, 15);  // what was silenced is a write all the same
  EXPECT_EQ(reports.all().back().write.site.line, 12U);
}

TEST_F(Shadows, what_is_suppressed_is_not_thrown) {
  const ScopedSuppression scope;
  EXPECT_NO_THROW(tracked.violate(ReshapeMode::error));
  EXPECT_EQ(shadow::summary().suppressed, 1U);
}

/// Lists add up in a process: each test has files of its own.
class Suppressions : public Shadows {
 protected:
  void suppress(const std::string& list) {
    write_file(folder_ / "known.txt", list);
    shadow::suppress_sites(folder_ / "known.txt");
  }
  std::string complaint_about(const std::string& list) {
    return complaint_of<FileError>([&] { suppress(list); });
  }
  /// Whether anybody is told of a violation at lines 10, 11 and 12 of the file.
  bool is_reported(const char* file) {
    const CaughtReports caught;
    Tracked storage;
    storage.file() = file;
    storage.violate();
    return caught.count() == 1;
  }
  std::string path() const { return (folder_ / "known.txt").string(); }

 private:
  TemporaryFolder folder_;
};

TEST_F(Suppressions, have_ends_of_names_from_a_slash_on) {
  suppress("one/known.cpp\n");
  EXPECT_FALSE(is_reported("one/known.cpp"));
  EXPECT_FALSE(is_reported("/home/build/one/known.cpp"));
  EXPECT_TRUE(is_reported("/home/build/someone/known.cpp"));
  EXPECT_TRUE(is_reported("known.cpp"));
  EXPECT_TRUE(is_reported("one/known.cpp.in"));
}

TEST_F(Suppressions, may_name_any_of_the_three_lines) {
  suppress("lines_a.cpp:10\nlines_b.cpp:11\nlines_c.cpp:12\nlines_d.cpp:13\n");
  EXPECT_FALSE(is_reported("lines_a.cpp"));
  EXPECT_FALSE(is_reported("lines_b.cpp"));
  EXPECT_FALSE(is_reported("lines_c.cpp"));
  EXPECT_TRUE(is_reported("lines_d.cpp"));
}

TEST_F(Suppressions, may_have_comments_blanks_and_no_newline_at_their_end) {
  suppress(
      "# known since May\r\n\n  \t blank_a.cpp:10 # see "
      "#17\r\n#blank_c.cpp\nblank_e.cpp\r\nblank#d.cpp\t# "
      "known\n blank#b.cpp");
  EXPECT_FALSE(is_reported("src/blank_a.cpp"));
  EXPECT_FALSE(is_reported("src/blank#b.cpp"));
  EXPECT_TRUE(is_reported("src/blank_c.cpp"));
  EXPECT_FALSE(is_reported("src/blank#d.cpp"));
  EXPECT_FALSE(is_reported("src/blank_e.cpp"));
}

TEST_F(Suppressions, add_up) {
  suppress("added_a.cpp");
  suppress("added_b.cpp\nadded_c.cpp");
  EXPECT_FALSE(is_reported("added_a.cpp"));
  EXPECT_FALSE(is_reported("added_b.cpp"));
  EXPECT_FALSE(is_reported("added_c.cpp"));
}

TEST_F(Suppressions, that_suppress_the_last_write_hide_none_before_it) {
  suppress("hides.cpp:13");
  tracked.file() = "hides.cpp";
  const ShadowHandle flat = tracked.reshape(10);
  const ShadowHandle tall = tracked.reshape(11);
  tracked.write(flat.get(), 12);
  tracked.write(flat.get(), 14);
  tracked.write(tall.get(), 13);
  tracked.read(nullptr, 15);
  EXPECT_EQ(reports.only().write.site.line, 14U) << "the last of those that are not suppressed";
  tracked.read(nullptr, 16);
  EXPECT_EQ(reports.count(), 1U) << "the family was told";
  EXPECT_EQ(shadow::summary().suppressed, 1U) << "of line 13, of line 14";
}

TEST_F(Suppressions, that_suppress_a_write_leave_what_was_not_read_before_it) {
  suppress("keeps.cpp:13");
  tracked.file() = "keeps.cpp";
  const ShadowHandle flat = tracked.reshape(10);
  tracked.write(nullptr, 11);
  tracked.write(flat.get(), 12, false);
  tracked.write(nullptr, 13);
  tracked.write(flat.get(), 14, false);
  tracked.read(flat.get(), 15);
  EXPECT_EQ(reports.all().back().access.site.line, 15U);
  EXPECT_EQ(reports.all().back().write.site.line, 11U);
}

TEST_F(Suppressions, that_suppress_the_last_write_hide_none_that_was_not_read_before_it) {
  suppress("unread.cpp:13");
  tracked.file() = "unread.cpp";
  const ShadowHandle flat = tracked.reshape(10);
  tracked.write(nullptr, 11);
  tracked.write(flat.get(), 12, false);
  tracked.write(nullptr, 13);
  tracked.read(flat.get(), 15);
  ASSERT_EQ(reports.count(), 2U);
  EXPECT_EQ(reports.all()[1].write.site.line, 11U);
  EXPECT_EQ(reports.all()[1].access.site.line, 15U);
  tracked.read(flat.get(), 16);
  EXPECT_EQ(reports.count(), 2U) << "the family was told";
}

TEST_F(Suppressions, that_suppress_a_read_hide_no_later_one) {
  suppress("reads.cpp:12");
  tracked.file() = "reads.cpp";
  const ShadowHandle flat = tracked.reshape(10);
  tracked.write(flat.get(), 11);
  tracked.read(nullptr, 12);
  tracked.read(nullptr, 12);
  EXPECT_EQ(shadow::summary().suppressed, 2U);
  tracked.read(nullptr, 13);
  EXPECT_EQ(reports.only().access.site.line, 13U);
}

TEST_F(Suppressions, do_not_name_call_sites_that_are_not_known) {
  suppress("?");
  EXPECT_FALSE(shadow::detail::is_suppressed(CallSite{}));
}

TEST_F(Suppressions, may_be_empty) {
  EXPECT_NO_THROW(suppress(""));
  EXPECT_NO_THROW(suppress("# nothing yet"));
}

TEST_F(Suppressions, that_are_wrong_are_refused_by_their_line_and_suppress_nothing) {
  for (const std::string wrong :
       {"wrong.cpp:", "wrong.cpp:0", "wrong.cpp:-3", "wrong.cpp:12x", ":12", "wrong.cpp 12",
        "wrong\tcpp", "folder/", "folder/:12", "wrong.cpp:99999999999"}) {
    EXPECT_EQ(
        complaint_about("fine.cpp\n\n" + wrong + "\n"),
        path() + ":3: \"" + wrong +
            "\" is no call site to suppress. Write the end of a file's name, alone or with a line, "
            "as in \"model/layers.cpp:12\"; after a # comes what is a comment.");
  }
  EXPECT_TRUE(is_reported("fine.cpp"));
}

TEST_F(Suppressions, that_are_missing_are_refused) {
  EXPECT_NE(complaint_of<FileError>([] {
              shadow::suppress_sites("/nowhere/known.txt");
            }).find("/nowhere/known.txt"),
            std::string::npos);
}

}  // namespace
}  // namespace byre::test
