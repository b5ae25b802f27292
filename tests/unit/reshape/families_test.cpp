// SPDX-License-Identifier: BSL-1.0
/// Families of views in warn mode: who is told of whose writes, with which lines and sizes.
#include "watched.hpp"

namespace byre::test {
namespace {

using Families = WatchedTensors;

TEST_F(Families, a_report_has_the_lines_and_sizes_of_all_three) {
  const ReshapeModeScope scope(ReshapeMode::warn);
  Tensor row = x.reshape({2, 3}, line(110)).select(0, 1);
  fill_(row, 7, line(111));
  static_cast<void>(x.slice(0, 4).at<float>({0}, line(12)));
  const Violation violation = reports.only();
  EXPECT_EQ(violation.reshape.site.line, 110U);
  EXPECT_EQ(to_string(violation.reshape.from), "[6]");
  EXPECT_EQ(to_string(violation.reshape.shape), "[2, 3]");
  EXPECT_EQ(violation.reshape.mode, ReshapeMode::warn);
  EXPECT_EQ(violation.write.site.line, 111U);
  EXPECT_EQ(to_string(violation.write.shape), "[3]");
  EXPECT_EQ(violation.access.site.line, 12U);
  EXPECT_STREQ(violation.access.site.file, model_file);
  EXPECT_EQ(to_string(violation.access.shape), "[2]");
  EXPECT_FALSE(violation.access_writes);
  EXPECT_EQ(violation.advice, Advice::view);
}

TEST_F(Families, views_are_of_the_family_of_what_they_are_of) {
  Tensor part = y.t().slice(0, 1);
  EXPECT_TRUE(part.is_of_view_family(y));
  EXPECT_FALSE(part.is_of_view_family(x));
  zero_(part, line(11));
  static_cast<void>(y.at<float>({0, 0}, line(12)));
  static_cast<void>(y.select(0, 0).clone(line(13)));
  EXPECT_EQ(reports.count(), 0U);
  static_cast<void>(x.view({3, 2}).clone(line(14)));
  EXPECT_EQ(reports.count(), 1U);
  static_cast<void>(x.clone(line(15)));
  EXPECT_EQ(reports.count(), 1U) << "the family was told";
}

TEST_F(Families, views_of_another_dtype_are_of_the_family) {
  Tensor bits = y.view(DType::i32);
  EXPECT_TRUE(bits.is_of_view_family(y));
  zero_(bits, line(11));
  static_cast<void>(x.clone(line(12)));
  EXPECT_EQ(reports.only().write.site.line, 11U);
}

TEST_F(Families, a_reshape_of_a_view_parts_what_the_view_is_of) {
  const Tensor tail = x.slice(0, 2);
  const ReshapeModeScope scope(ReshapeMode::warn);
  Tensor square = tail.reshape({2, 2}, line(20));
  EXPECT_TRUE(square.aliases(x));
  square.set_at<float>({0, 0}, 30, line(11));
  static_cast<void>(x.at<float>({0}, line(12)));
  EXPECT_EQ(to_string(reports.only().reshape.from), "[4]");
}

TEST_F(Families, a_reshape_of_a_reshape_is_a_family_of_its_own) {
  Tensor z = reshaped(y, {3, 2});
  z.set_at<float>({0, 0}, 10, line(11));
  static_cast<void>(x.at<float>({0}, line(12)));
  static_cast<void>(y.at<float>({0, 0}, line(13)));
  EXPECT_EQ(reports.count(), 2U);
  static_cast<void>(z.at<float>({0, 0}, line(14)));
  EXPECT_EQ(reports.count(), 2U);
}

TEST_F(Families, a_reshape_knows_no_more_than_what_it_is_made_of) {
  x.set_at<float>({0}, 10, line(11));
  const Tensor z = reshaped(y, {3, 2});  // of y as it was: a copy would not have the 10
  EXPECT_EQ(reports.count(), 0U) << "a reshape reads nothing";
  static_cast<void>(z.at<float>({0, 0}, line(12)));
  EXPECT_EQ(reports.only().write.site.line, 11U);
  const Tensor of_x = reshaped(x, {3, 2});
  static_cast<void>(of_x.at<float>({0, 0}, line(13)));
  EXPECT_EQ(reports.count(), 1U);
}

TEST_F(Families, a_reshape_that_has_to_copy_reads) {
  x.set_at<float>({0}, 10, line(11));
  const Tensor z = reshaped(y.t(), {6});
  EXPECT_EQ(reports.only().access.site.line, 10U);
  static_cast<void>(z.at<float>({0}, line(12)));
  EXPECT_EQ(reports.count(), 1U) << "it has memory of its own";
}

TEST_F(Families, an_operation_on_two_families_is_told_once_for_each) {
  x.set_at<float>({0}, 10, line(11));
  add_(y, x.view({2, 3}), line(12));
  EXPECT_EQ(violations(), 1U) << "y reads, and agrees when it writes";
  EXPECT_EQ(reports.only().access.site.line, 12U);
  EXPECT_EQ(values_of(y)[0], 20);
  add_(y, x.view({2, 3}), line(13));
  EXPECT_EQ(violations(), 2U) << "x was not told of line 12";
  EXPECT_EQ(reports.all()[1].write.site.line, 12U);
  static_cast<void>(add(x, y.view({6}), line(14)));
  EXPECT_EQ(violations(), 3U);
}

TEST_F(Families, an_operation_in_place_beside_the_own_family_is_none_of_anybodys_concern) {
  add_(y, y, line(11));
  mul_(y, y.alias(), line(12));
  copy_(y, y.alias(), line(13));
  EXPECT_EQ(violations(), 0U);
}

TEST_F(Families, who_copies_all_of_another_onto_itself_is_one_with_it_again) {
  x.set_at<float>({0}, 10, line(11));
  copy_(y, x.view({2, 3}), line(12));
  static_cast<void>(y.clone(line(13)));
  static_cast<void>(x.clone(line(14)));
  EXPECT_EQ(violations(), 0U);
  y.set_at<float>({0, 0}, 11, line(15));
  copy_(x, y.view({6}), line(16));
  static_cast<void>(x.clone(line(17)));
  EXPECT_EQ(violations(), 0U);
  x.set_at<float>({0}, 12, line(18));
  static_cast<void>(y.clone(line(19)));
  EXPECT_EQ(violations(), 1U) << "but what is written later is written to one";
}

TEST_F(Families, who_writes_an_element_is_told_when_it_reads_the_others) {
  fill_(x, 7, line(11));
  y.set_at<float>({0, 0}, 1, line(12));
  EXPECT_EQ(reports.only().advice, Advice::reshape_and_clone);
  EXPECT_EQ(y.at<float>({1, 2}, line(13)), 7) << "a copy would have 6";
  ASSERT_EQ(reports.count(), 2U);
  EXPECT_EQ(reports.all()[1].write.site.line, 11U);
  EXPECT_FALSE(reports.all()[1].access_writes);
}

TEST_F(Families, nobody_knows_what_is_written_through_a_pointer) {
  fill_(x, 7, line(11));
  *y.mutable_data<float>(Wait::allowed, line(12)) = 1;
  static_cast<void>(y.clone(line(13)));
  EXPECT_EQ(reports.count(), 2U);
}

TEST_F(Families, who_fills_all_there_is_has_nothing_of_the_others) {
  fill_(x, 7, line(11));
  zero_(y, line(12));
  EXPECT_EQ(reports.only().advice, Advice::nothing);
  static_cast<void>(y.clone(line(13)));
  EXPECT_EQ(reports.count(), 1U);
}

TEST_F(Families, who_copies_what_it_was_not_told_of_is_told) {
  Tensor z = reshaped(x, {3, 2});
  x.set_at<float>({0}, 10, line(11));
  copy_(z, y.view({3, 2}), line(12));  // y as a copy would not have the 10
  EXPECT_EQ(reports.only().access.site.line, 12U);
  EXPECT_FALSE(reports.only().access_writes);
}

TEST_F(Families, who_copies_a_part_onto_itself_writes_it) {
  x.set_at<float>({0}, 10, line(11));
  Tensor row = y.select(0, 0);
  copy_(row, x.slice(0, 0, 3), line(12));
  EXPECT_EQ(reports.only().access.site.line, 12U);
  EXPECT_TRUE(reports.only().access_writes) << "its other elements are not x's";
  static_cast<void>(x.clone(line(13)));
  EXPECT_EQ(reports.count(), 2U);
}

TEST_F(Families, each_is_told_and_the_last_one_lives_on) {
  Tensor z = reshaped(x, {3, 2});
  x.set_at<float>({0}, 10, line(11));
  x = Tensor();
  static_cast<void>(y.clone(line(12)));
  y = Tensor();
  EXPECT_EQ(reports.count(), 1U);
  static_cast<void>(z.clone(line(13)));
  EXPECT_EQ(reports.count(), 2U);
  EXPECT_EQ(reports.all()[1].write.site.line, 11U) << "of a family that is gone";
  z.set_at<float>({0, 0}, 11, line(14));
  static_cast<void>(z.clone(line(15)));
  EXPECT_EQ(reports.count(), 2U);
  EXPECT_EQ(values_of(z)[0], 11);
}

TEST_F(Families, views_outlive_the_tensors_of_their_family) {
  const Tensor of_x = x.slice(0, 0, 2);
  Tensor of_y = y.select(0, 0);
  x = Tensor();
  y = Tensor();
  zero_(of_y, line(11));
  static_cast<void>(of_x.clone(line(12)));
  EXPECT_EQ(reports.only().write.site.line, 11U);
}

TEST_F(Families, a_lazy_clone_of_a_family_is_of_none) {
  Tensor clone = y.lazy_clone(line(11));
  EXPECT_FALSE(clone.aliases(y));
  zero_(clone, line(12));
  static_cast<void>(x.clone(line(13)));
  static_cast<void>(y.clone(line(14)));
  EXPECT_EQ(violations(), 0U);
  EXPECT_EQ(values_of(x)[0], 1);
  const Tensor another = x.lazy_clone(line(15));
  zero_(x, line(16));  // materializes: the families stay
  static_cast<void>(another.clone(line(17)));
  EXPECT_EQ(violations(), 0U);
  EXPECT_EQ(values_of(another)[0], 1);
  static_cast<void>(y.clone(line(18)));
  EXPECT_EQ(reports.only().write.site.line, 16U);
}

TEST_F(Families, a_lazy_clone_takes_along_also_what_it_does_not_see) {
  x.set_at<float>({0}, 10, line(11));
  const Tensor nothing = y.slice(0, 0, 0).lazy_clone(line(12));
  EXPECT_EQ(reports.only().access.site.line, 12U);
  EXPECT_EQ(nothing.as_strided({1}, {1}, 0).at<float>({0}, line(13)), 10) << "a copy would be 1";
  EXPECT_EQ(reports.count(), 1U);
}

TEST_F(Families, pointers_to_write_that_left_are_counted) {
  static_cast<void>(x.mutable_data<float>(Wait::allowed, line(11)));
  static_cast<void>(x.mutable_raw_data(Wait::allowed, line(12)));
  zero_(x, line(13));
  x.set_at<float>({0}, 1, line(14));
  static_cast<void>(x.data<float>(line(15)));
  EXPECT_EQ(shadow::summary().untracked_escapes, 2U);
  static_cast<void>(y.clone(line(16)));
  EXPECT_EQ(reports.only().untracked_escapes, 2U);
  Tensor unwatched = Tensor::zeros({2}, DType::f32);
  static_cast<void>(unwatched.mutable_raw_data());
  EXPECT_EQ(shadow::summary().untracked_escapes, 2U);
}

}  // namespace
}  // namespace byre::test
