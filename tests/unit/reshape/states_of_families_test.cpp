// SPDX-License-Identifier: BSL-1.0
/// What gives memory, takes it, or exchanges it, where families share a storage.
#include "watched.hpp"

namespace byre::test {
namespace {

using StatesOfFamilies = WatchedTensors;

TEST_F(StatesOfFamilies, what_families_share_is_refused_to_be_taken_from_one) {
  EXPECT_THROW(y.free_memory(), StateError);
  EXPECT_THROW(y.realize(DType::f64), StateError);
  EXPECT_THROW(y.resize({4, 3}), StateError);
  EXPECT_THROW(y.reserve({4, 3}), StateError);
  EXPECT_THROW(y.extend(1), StateError);
  EXPECT_TRUE(y.aliases(x));
  EXPECT_FALSE(y.is_of_view_family(x));
  x.set_at<float>({0}, 10, line(11));
  static_cast<void>(y.clone(line(12)));
  EXPECT_EQ(reports.count(), 1U);
}

TEST_F(StatesOfFamilies, a_resize_within_the_storage_stays_in_the_family) {
  y.resize({1, 3});
  EXPECT_TRUE(y.aliases(x));
  x.set_at<float>({0}, 10, line(11));
  static_cast<void>(y.clone(line(12)));
  EXPECT_EQ(to_string(reports.only().access.shape), "[1, 3]");
}

TEST_F(StatesOfFamilies, new_memory_is_of_no_family) {
  x.set_at<float>({0}, 10, line(11));
  x = Tensor();
  y.free_memory();
  fill_(y, 1, line(12));
  static_cast<void>(y.clone(line(13)));
  Tensor z = reshaped(y, {6});
  z.realize(DType::f32);
  EXPECT_EQ(violations(), 0U);
  zero_(z, line(14));
  static_cast<void>(y.clone(line(15)));
  EXPECT_EQ(reports.only().write.site.line, 14U);
}

TEST_F(StatesOfFamilies, another_dtype_is_of_no_family) {
  x.set_at<float>({0}, 10, line(11));
  x = Tensor();
  y.realize(DType::f64);
  zero_(y, line(12));
  static_cast<void>(y.clone(line(13)));
  EXPECT_EQ(violations(), 0U);
}

TEST_F(StatesOfFamilies, who_shares_data_joins_the_family) {
  Tensor z = Tensor::zeros({3, 2}, DType::f32);
  z.share_data(y);
  EXPECT_TRUE(z.is_of_view_family(y));
  zero_(z, line(11));
  static_cast<void>(y.clone(line(12)));
  EXPECT_EQ(violations(), 0U);
  static_cast<void>(x.clone(line(13)));
  EXPECT_EQ(violations(), 1U);
  y.share_data(x.view({2, 3}));
  EXPECT_TRUE(y.is_of_view_family(x));
}

TEST_F(StatesOfFamilies, who_takes_foreign_memory_leaves_the_family) {
  alignas(64) float values[6] = {};
  y.share_external(values, DType::f32, [](void*) {});
  EXPECT_FALSE(y.aliases(x));
  zero_(x, line(11));
  static_cast<void>(y.clone(line(12)));
  EXPECT_EQ(violations(), 0U);
}

TEST_F(StatesOfFamilies, a_tensor_that_grows_alone_is_told_of_what_it_takes_along) {
  x.set_at<float>({0}, 10, line(11));
  x = Tensor();
  y.extend(1, 40, line(12));
  EXPECT_EQ(reports.only().write.site.line, 11U);
  EXPECT_EQ(reports.only().access.site.line, 12U);
  EXPECT_EQ(y.at<float>({0, 0}, line(13)), 10);
  EXPECT_EQ(reports.count(), 1U);
}

TEST_F(StatesOfFamilies, bools_that_grow_alone_are_told_as_well) {
  Tensor whole = Tensor::of<bool>({4}, {false, false, false, false});
  Tensor square = reshaped(whole, {2, 2});
  whole.set_at<bool>({0}, true, line(11));
  whole = Tensor();
  square.reserve({3, 2}, line(12));
  EXPECT_TRUE(square.at<bool>({0, 0}, line(13)));
  EXPECT_EQ(reports.only().access.site.line, 12U) << "a copy would have been false";
}

TEST_F(StatesOfFamilies, who_grows_from_nothing_takes_along_what_it_had) {
  Tensor whole = Tensor::zeros({4}, DType::boolean);
  Tensor square = reshaped(whole, {2, 2});
  whole.set_at<bool>({0}, true, line(11));
  whole = Tensor();
  square.resize({0, 2}).reserve({3, 2}, line(12)).resize({2, 2});
  EXPECT_EQ(reports.only().access.site.line, 12U);
  EXPECT_TRUE(square.at<bool>({0, 0}));
}

TEST_F(StatesOfFamilies, who_grows_away_from_a_lazy_clone_is_told_as_well) {
  x.set_at<float>({0}, 10, line(11));
  const Tensor clone = x.lazy_clone(line(14));  // so that what y has is moved to a new storage
  x = Tensor();
  y.reserve({4, 3}, line(12));
  EXPECT_EQ(y.at<float>({0, 0}, line(13)), 10);
  EXPECT_EQ(reports.only().access.site.line, 12U);
}

TEST_F(StatesOfFamilies, what_is_thrown_to_who_grows_changes_nothing) {
  Tensor z = reshaped(x, {2, 3}, ReshapeMode::error);
  x.set_at<float>({0}, 10, line(11));
  x = Tensor();
  y = Tensor();
  EXPECT_THROW(z.extend(1, 40, line(12)), ReshapeViolation);
  EXPECT_EQ(to_string(z.sizes()), "[2, 3]");
  EXPECT_EQ(z.storage().nbytes(), 6 * sizeof(float));
  z.extend(1, 40, line(12));
  EXPECT_EQ(to_string(z.sizes()), "[3, 3]");
}

}  // namespace
}  // namespace byre::test
