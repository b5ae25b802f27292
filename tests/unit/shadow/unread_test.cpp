// SPDX-License-Identifier: BSL-1.0
/// What a family left of another's write when it wrote a part: it is told when it reads that.
#include "tracked.hpp"

namespace byre::test {
namespace {

TEST_F(Shadows, a_write_of_a_part_leaves_what_the_other_wrote) {
  const ShadowHandle flat = tracked.reshape(10);
  tracked.write(nullptr, 11);
  tracked.write(flat.get(), 12, false);
  EXPECT_TRUE(reports.only().access_writes);
  EXPECT_EQ(reports.only().advice, Advice::reshape_and_clone);
}

TEST_F(Shadows, who_wrote_a_part_is_told_once_of_the_rest_when_it_reads) {
  const ShadowHandle flat = tracked.reshape(10);
  tracked.write(nullptr, 11);
  tracked.write(flat.get(), 12, false);
  tracked.write(flat.get(), 13, false);
  tracked.read(flat.get(), 14);
  ASSERT_EQ(reports.count(), 2U);
  const Violation of_the_rest = reports.all()[1];
  EXPECT_EQ(of_the_rest.write.site.line, 11U);
  EXPECT_EQ(of_the_rest.access.site.line, 14U);
  EXPECT_FALSE(of_the_rest.access_writes);
  EXPECT_EQ(of_the_rest.advice, Advice::reshape_and_clone);
  tracked.read(flat.get(), 15);
  tracked.write(flat.get(), 16, false);
  EXPECT_EQ(shadow::summary().violations, 2U);
}

TEST_F(Shadows, who_writes_all_of_it_after_a_part_has_no_rest) {
  const ShadowHandle flat = tracked.reshape(10);
  tracked.write(nullptr, 11);
  tracked.write(flat.get(), 12, false);
  tracked.write(flat.get(), 13);
  tracked.read(flat.get(), 14);
  EXPECT_EQ(shadow::summary().violations, 1U);
}

TEST_F(Shadows, who_wrote_a_part_and_is_synced_has_no_rest) {
  const ShadowHandle flat = tracked.reshape(10);
  tracked.write(nullptr, 11);
  tracked.write(flat.get(), 12, false);
  tracked.mark_synced(flat.get());
  tracked.read(flat.get(), 13);
  EXPECT_EQ(shadow::summary().violations, 1U);
}

TEST_F(Shadows, a_write_of_all_that_failed_after_it_was_told_leaves_all_of_it) {
  const ShadowHandle flat = tracked.reshape(10);
  tracked.write(nullptr, 11);
  tracked.begin_write(flat.get(), 12);  // and then there is no memory
  tracked.read(flat.get(), 13);
  ASSERT_EQ(reports.count(), 2U);
  EXPECT_EQ(reports.all()[1].write.site.line, 11U);
}

TEST_F(Shadows, of_writes_that_left_a_rest_and_of_one_that_came_later_the_later_is_told) {
  const ShadowHandle flat = tracked.reshape(10);
  tracked.write(nullptr, 11);
  tracked.write(flat.get(), 12, false);
  tracked.write(nullptr, 13);
  tracked.read(flat.get(), 14);
  EXPECT_EQ(reports.all().back().write.site.line, 13U);
  tracked.read(flat.get(), 15);
  EXPECT_EQ(shadow::summary().violations, 3U);
}

/// Line 13 left what line 12 wrote, which is thrown for; line 14 is only warned of.
class AnErrorLeftUnread : public Shadows {
 protected:
  AnErrorLeftUnread() {
    tracked.write(strict_.get(), 12);
    EXPECT_THROW(tracked.write(nullptr, 13, false), ReshapeViolation);
    tracked.write(nullptr, 13, false);
    tracked.write(lax_.get(), 14);
  }
  void expect_thrown_once(std::uint32_t line) {
    try {
      tracked.read(nullptr, line);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const ReshapeViolation& thrown) {
      EXPECT_EQ(thrown.violation().write.site.line, 12U);
    }
    EXPECT_NO_THROW(tracked.read(nullptr, line + 1));
  }

 private:
  const ShadowHandle strict_ = tracked.reshape(10, nullptr, ReshapeMode::error);
  const ShadowHandle lax_ = tracked.reshape(11);
};

TEST_F(AnErrorLeftUnread, is_thrown_where_it_is_read_after_a_write_that_is_not) {
  expect_thrown_once(15);
}

TEST_F(AnErrorLeftUnread, is_not_forgotten_for_a_write_that_is_not_thrown) {
  EXPECT_NO_THROW(tracked.write(nullptr, 15, false));
  expect_thrown_once(16);
}

TEST_F(Shadows, what_is_reshaped_has_not_read_what_its_input_has_not) {
  const ShadowHandle flat = tracked.reshape(10);
  tracked.write(nullptr, 11);
  tracked.write(flat.get(), 12, false);
  const ShadowHandle tall = tracked.reshape(13, flat.get());
  tracked.read(tall.get(), 14);
  ASSERT_EQ(reports.count(), 2U);
  EXPECT_EQ(reports.all()[1].reshape.site.line, 13U);
  EXPECT_EQ(reports.all()[1].write.site.line, 11U);
  tracked.read(flat.get(), 15);
  EXPECT_EQ(reports.count(), 3U);
}

}  // namespace
}  // namespace byre::test
