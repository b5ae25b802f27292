// SPDX-License-Identifier: BSL-1.0
/// What is a violation and what is not, and whose reshape it is.
#include <byre/error/error.hpp>

#include "support/at_once.hpp"
#include "tracked.hpp"

namespace byre::test {
namespace {

TEST_F(Shadows, a_storage_that_was_not_reshaped_has_no_shadow) {
  tracked.write(nullptr, 1);
  tracked.read(nullptr, 2);
  tracked.begin_write(nullptr, 3);
  tracked.escape(nullptr, 4);
  tracked.mark_synced(nullptr);
  EXPECT_EQ(shadow::detail::shadow_of(tracked.storage()), nullptr);
  EXPECT_EQ(reports.count(), 0U);
  EXPECT_EQ(shadow::summary().untracked_escapes, 0U);
}

TEST_F(Shadows, a_family_sees_its_own_writes) {
  const ShadowHandle flat = tracked.reshape(10);
  tracked.write(flat.get(), 11);
  tracked.read(flat.get(), 12);
  tracked.write(flat.get(), 13);
  tracked.begin_write(flat.get(), 14);
  EXPECT_EQ(reports.count(), 0U);
}

TEST_F(Shadows, writes_before_the_reshape_are_in_the_copy) {
  const ShadowHandle first = tracked.reshape(9);
  tracked.write(nullptr, 10);
  const ShadowHandle flat = tracked.reshape(11);
  tracked.read(flat.get(), 12);
  tracked.read(nullptr, 13);
  EXPECT_EQ(reports.count(), 0U);
}

TEST_F(Shadows, the_input_reads_what_was_written_through_the_reshaped) {
  const ShadowHandle flat = tracked.reshape(10);
  tracked.write(flat.get(), 11);
  tracked.read(nullptr, 12);
  const Violation violation = reports.only();
  EXPECT_EQ(violation.reshape.site.line, 10U);
  EXPECT_EQ(violation.write.site.line, 11U);
  EXPECT_EQ(violation.access.site.line, 12U);
  EXPECT_STREQ(violation.access.site.file, model_file);
  EXPECT_FALSE(violation.access_writes);
  EXPECT_EQ(violation.advice, Advice::view);
}

TEST_F(Shadows, the_reshaped_reads_what_was_written_to_the_input) {
  const ShadowHandle flat = tracked.reshape(10);
  tracked.write(nullptr, 11);
  tracked.read(flat.get(), 12);
  EXPECT_EQ(reports.only().reshape.site.line, 10U);
  EXPECT_EQ(reports.only().advice, Advice::reshape_and_clone);
}

TEST_F(Shadows, two_reshapes_of_one_input_are_parted_by_that_of_the_reader) {
  const ShadowHandle one = tracked.reshape(10);
  const ShadowHandle other = tracked.reshape(11);
  tracked.write(one.get(), 12);
  tracked.read(other.get(), 13);
  EXPECT_EQ(reports.only().reshape.site.line, 11U);
  EXPECT_EQ(reports.only().advice, Advice::reshape_and_clone);
  tracked.write(other.get(), 14);
  tracked.read(one.get(), 15);
  EXPECT_EQ(reports.all().back().reshape.site.line, 10U);
}

TEST_F(Shadows, a_write_after_a_write_needs_nothing) {
  const ShadowHandle flat = tracked.reshape(10);
  tracked.write(nullptr, 11);
  tracked.write(flat.get(), 12);
  EXPECT_TRUE(reports.only().access_writes);
  EXPECT_EQ(reports.only().advice, Advice::nothing);
  EXPECT_EQ(reports.only().write.site.line, 11U);
}

TEST_F(Shadows, a_write_that_was_reported_is_the_last_all_the_same) {
  const ShadowHandle flat = tracked.reshape(10);
  tracked.write(nullptr, 11);
  tracked.write(flat.get(), 12);
  tracked.read(flat.get(), 13);
  EXPECT_EQ(reports.count(), 1U);
  tracked.read(nullptr, 14);
  ASSERT_EQ(reports.count(), 2U);
  EXPECT_EQ(reports.all()[1].write.site.line, 12U);
}

TEST_F(Shadows, who_was_told_agrees_again) {
  const ShadowHandle flat = tracked.reshape(10);
  tracked.write(flat.get(), 11);
  tracked.read(nullptr, 12);
  tracked.read(nullptr, 13);
  tracked.write(nullptr, 14);
  EXPECT_EQ(reports.count(), 1U);
  EXPECT_EQ(shadow::summary().violations, 1U);
}

TEST_F(Shadows, a_write_about_to_be_is_told_before_and_only_once) {
  const ShadowHandle flat = tracked.reshape(10);
  tracked.write(nullptr, 11);
  tracked.begin_write(flat.get(), 12);
  EXPECT_TRUE(reports.only().access_writes);
  tracked.read(nullptr, 13);  // nothing was written yet
  tracked.write(flat.get(), 12);
  EXPECT_EQ(shadow::summary().violations, 1U);
  tracked.read(nullptr, 14);
  EXPECT_EQ(reports.count(), 2U);
}

TEST_F(Shadows, who_is_synced_is_told_nothing) {
  const ShadowHandle flat = tracked.reshape(10);
  tracked.write(nullptr, 11);
  tracked.mark_synced(flat.get());
  tracked.read(flat.get(), 12);
  EXPECT_EQ(reports.count(), 0U);
  tracked.write(flat.get(), 13);
  tracked.mark_synced(nullptr);
  tracked.read(nullptr, 14);
  EXPECT_EQ(reports.count(), 0U);
}

TEST_F(Shadows, a_reshape_of_what_was_reshaped_came_out_of_it) {
  const ShadowHandle flat = tracked.reshape(10);
  const ShadowHandle tall = tracked.reshape(20, flat.get());
  tracked.write(tall.get(), 21);
  tracked.read(flat.get(), 22);
  EXPECT_EQ(reports.only().reshape.site.line, 20U);
  EXPECT_EQ(reports.only().advice, Advice::view);
}

TEST_F(Shadows, two_families_are_parted_where_the_younger_was_made) {
  const ShadowHandle flat = tracked.reshape(10);
  const ShadowHandle tall = tracked.reshape(20, flat.get());
  const ShadowHandle wide = tracked.reshape(30);
  tracked.write(nullptr, 21);
  tracked.read(tall.get(), 22);
  EXPECT_EQ(reports.only().reshape.site.line, 20U);
  tracked.write(tall.get(), 23);
  tracked.read(nullptr, 24);
  EXPECT_EQ(reports.all().back().reshape.site.line, 20U);
  EXPECT_EQ(reports.all().back().advice, Advice::view);
  tracked.read(wide.get(), 25);
  EXPECT_EQ(reports.all().back().reshape.site.line, 30U) << "a cousin";
  tracked.write(wide.get(), 26);
  tracked.read(tall.get(), 27);
  EXPECT_EQ(reports.all().back().reshape.site.line, 30U) << "in either direction";
}

TEST_F(Shadows, families_of_one_line_are_told_of_each_other) {
  const ShadowHandle one = tracked.reshape(10);
  const ShadowHandle other = tracked.reshape(10);
  tracked.write(one.get(), 11);
  tracked.read(other.get(), 12);
  EXPECT_EQ(reports.only().reshape.site.line, 10U);
  EXPECT_EQ(reports.only().advice, Advice::reshape_and_clone);
}

TEST_F(Shadows, an_error_is_thrown_before_anything_changed_and_told_once) {
  const ShadowHandle flat = tracked.reshape(10, nullptr, ReshapeMode::error);
  tracked.write(nullptr, 11);
  EXPECT_THROW(tracked.write(flat.get(), 12), ReshapeViolation);
  tracked.read(nullptr, 13);  // line 12 was not written
  tracked.write(flat.get(), 12);
  EXPECT_THROW(tracked.read(nullptr, 14), ReshapeViolation);
  tracked.read(nullptr, 14);
  EXPECT_EQ(reports.count(), 0U);
  EXPECT_EQ(shadow::summary().violations, 2U);
}

TEST_F(Shadows, an_error_has_its_violation_and_says_it) {
  const ShadowHandle flat = tracked.reshape(10, nullptr, ReshapeMode::error);
  tracked.write(flat.get(), 11);
  try {
    tracked.read(nullptr, 12);
    FAIL() << "nothing was thrown";
  } catch (const ReshapeViolation& error) {
    EXPECT_EQ(error.violation().write.site.line, 11U);
    EXPECT_EQ(error.what(), to_string(error.violation()));
  }
}

TEST_F(Shadows, the_mode_is_of_the_reshape_that_parts_the_two) {
  const ShadowHandle strict = tracked.reshape(10, nullptr, ReshapeMode::error);
  const ShadowHandle lax = tracked.reshape(11, nullptr, ReshapeMode::warn);
  tracked.write(strict.get(), 12);
  EXPECT_NO_THROW(tracked.read(lax.get(), 13));
  EXPECT_THROW(tracked.read(nullptr, 14), ReshapeViolation);
  EXPECT_EQ(reports.count(), 1U);
}

TEST_F(Shadows, a_write_that_is_thrown_for_is_hidden_by_none_that_is_not) {
  const ShadowHandle strict = tracked.reshape(10, nullptr, ReshapeMode::error);
  const ShadowHandle lax = tracked.reshape(11, nullptr, ReshapeMode::warn);
  tracked.write(strict.get(), 12);
  tracked.write(strict.get(), 13);
  tracked.write(lax.get(), 14);
  EXPECT_EQ(reports.count(), 1U);
  try {
    tracked.read(nullptr, 15);
    FAIL() << "nothing was thrown";
  } catch (const ReshapeViolation& error) {
    EXPECT_EQ(error.violation().write.site.line, 13U);
    EXPECT_EQ(error.violation().reshape.site.line, 10U);
  }
  EXPECT_NO_THROW(tracked.read(nullptr, 15));
  EXPECT_EQ(reports.count(), 1U);
}

TEST_F(Shadows, writes_in_between_that_were_told_are_not_told_again) {
  const ShadowHandle strict = tracked.reshape(10, nullptr, ReshapeMode::error);
  const ShadowHandle lax = tracked.reshape(11, nullptr, ReshapeMode::warn);
  tracked.write(strict.get(), 12);
  EXPECT_THROW(tracked.read(nullptr, 13), ReshapeViolation);
  tracked.write(lax.get(), 14);
  EXPECT_NO_THROW(tracked.read(nullptr, 15));
  EXPECT_EQ(reports.all().back().write.site.line, 14U);
}

TEST_F(Shadows, who_follows_the_writes_of_its_input_is_a_window_or_a_snapshot) {
  const ShadowHandle flat = tracked.reshape(10);
  tracked.write(nullptr, 11);
  tracked.read(flat.get(), 12);
  EXPECT_EQ(reports.only().advice, Advice::reshape_and_clone);
  tracked.write(nullptr, 13);
  tracked.read(flat.get(), 14);
  EXPECT_EQ(reports.all().back().advice, Advice::view_or_clone);
  for (const Violation& each : shadow::summary().triples) {
    EXPECT_EQ(each.advice,
              each.access.site.line == 12 ? Advice::reshape_and_clone : Advice::view_or_clone)
        << "what one triple leaves open says nothing of others";
  }
}

TEST_F(Shadows, who_is_made_anew_for_each_write_is_a_snapshot) {
  for (int time = 0; time < 3; ++time) {
    const ShadowHandle flat = tracked.reshape(10);
    tracked.write(nullptr, 11);
    tracked.read(flat.get(), 12);
  }
  EXPECT_EQ(shadow::summary().triples.at(0).count, 3U);
  EXPECT_EQ(shadow::summary().triples.at(0).advice, Advice::reshape_and_clone);
}

TEST_F(Shadows, a_recursion_of_reshapes_is_reported_by_the_right_call_sites) {
  ShadowHandle parent = tracked.reshape(10);
  for (std::uint32_t depth = 0; depth < 100; ++depth) {
    const ShadowHandle child = tracked.reshape(20 + depth % 3, parent.get());
    const CaughtReports caught;
    tracked.write(child.get(), 30);
    tracked.read(parent.get(), 31);
    EXPECT_EQ(caught.only().reshape.site.line, 20 + depth % 3);
    EXPECT_EQ(caught.only().advice, Advice::view);
    parent = child;
  }
}

TEST_F(Shadows, a_loop_over_reshapes_and_sizes_has_few_records) {
  const ShadowHandle first = tracked.reshape(10);
  tracked.write(first.get(), 11);
  const auto* const record = first->last_record;
  for (std::int64_t size = 1; size <= 100; ++size) {
    tracked.sizes() = {size};
    const ShadowHandle family = tracked.reshape(10);
    tracked.write(family.get(), 11);
    EXPECT_EQ(family->last_record, record);
  }
}

TEST_F(Shadows, families_that_write_at_once_are_told_of_each_other) {
  for (unsigned round = 0; round < 200; ++round) {
    const CaughtReports caught;
    Tracked shared;
    const ShadowHandle one = shared.reshape(10);
    const ShadowHandle other = shared.reshape(11);
    at_once(2, [&](std::size_t thread) {
      shared.write(thread == 0 ? one.get() : other.get(), static_cast<std::uint32_t>(12 + thread));
    });
    ASSERT_EQ(caught.count(), 1U);  // the second, of the first
    ASSERT_NE(caught.only().write.site.line, caught.only().access.site.line);
  }
}

}  // namespace
}  // namespace byre::test
