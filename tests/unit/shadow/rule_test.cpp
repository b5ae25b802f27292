// SPDX-License-Identifier: BSL-1.0
/// The rule by examples: what is reported, with which call sites and sizes. tests/equivalence has it of
/// random programs.
#include <byre/shadow/detail/storage_shadow.hpp>

#include "tracked.hpp"

namespace byre::test {
namespace {

using Rule = Tracked;

TEST_F(Rule, a_report_has_the_call_sites_and_sizes_of_all_three) {
  const ReshapeModeScope scope(ReshapeMode::warn);
  Tensor row = x.reshape({2, 3}, site(110)).select(0, 1);
  write(row, site(111));
  read(x.slice(0, 4), site(12));
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
}

TEST_F(Rule, views_are_of_the_family_of_what_they_are_of) {
  Tensor part = y.t().slice(0, 1).view(DType::i32);
  EXPECT_TRUE(part.is_of_view_family(y));
  EXPECT_FALSE(part.is_of_view_family(x));
  Tensor shared = Tensor::zeros({3, 2}, DType::f32);
  EXPECT_TRUE(shared.share_data(y).is_of_view_family(y));
  write(part, site(11));
  read(y, site(12));
  EXPECT_EQ(reports.count(), 0U);
  read(x.view({3, 2}), site(13));
  read(x, site(14));
  EXPECT_EQ(reports.count(), 1U) << "a family is reported once";
}

TEST_F(Rule, who_writes_a_part_is_reported_again_when_it_reads_the_rest) {
  write(x, site(11));
  write_part(y, site(12));
  EXPECT_TRUE(reports.only().access_writes);
  EXPECT_EQ(y.at<float>({1, 2}, site(13)), 7) << "a copy would have 6";
  ASSERT_EQ(reports.count(), 2U);
  EXPECT_EQ(reports.last().write.site.line, 11U);
  EXPECT_FALSE(reports.last().access_writes);
  read(y, site(14));
  EXPECT_EQ(reports.count(), 2U) << "it is read by now";
}

TEST_F(Rule, a_write_of_all_there_is_is_reported_once) {
  write(x, site(11));
  write(y, site(12));
  read(y, site(13));
  EXPECT_TRUE(reports.only().access_writes);
}

TEST_F(Rule, a_loop_over_reshapes_and_sizes_has_few_records) {
  namespace detail = shadow::detail;
  const Storage storage = Storage::allocate(400);
  const auto last_record = [&](const shadow::ShadowHandle& family) {
    return family->generation.observed().record();
  };
  shadow::ShadowHandle first;
  for (std::int64_t size = 1; size <= 100; ++size) {
    const std::array sizes{size};
    const auto family =
        detail::link_by_reshape(storage, nullptr, ReshapeMode::warn, {site(10), sizes}, sizes);
    detail::end_write(storage, family.get(), {site(11), sizes});
    first = first != nullptr ? first : family;
    EXPECT_EQ(last_record(family), last_record(first));
  }
}

}  // namespace
}  // namespace byre::test
