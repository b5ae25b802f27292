// SPDX-License-Identifier: BSL-1.0
/// What a reshape makes in each mode.
#include "watched.hpp"

namespace byre::test {
namespace {

constexpr ReshapeMode modes[] = {ReshapeMode::alias, ReshapeMode::warn, ReshapeMode::error,
                                 ReshapeMode::copy};

bool is_watched(ReshapeMode mode) {
  return mode == ReshapeMode::warn || mode == ReshapeMode::error;
}

class Modes : public testing::TestWithParam<ReshapeMode> {
 protected:
  bool aliases() const { return GetParam() != ReshapeMode::copy; }
  bool is_one_family() const { return GetParam() == ReshapeMode::alias; }

  CaughtReports reports;
  ReshapeModeScope scope{GetParam()};
  Tensor x = Tensor::of<float>({6}, {1, 2, 3, 4, 5, 6});
};

INSTANTIATE_TEST_SUITE_P(All, Modes, testing::ValuesIn(modes),
                         [](const auto& each) { return std::string(name_of(each.param)); });

TEST_P(Modes, a_reshape_has_the_elements_under_other_sizes) {
  for (const Dims& sizes : {Dims{2, 3}, Dims{-1, 2}, Dims{6}, Dims{1, 6, 1}}) {
    const Tensor y = x.reshape(sizes);
    EXPECT_EQ(y.numel(), 6);
    EXPECT_EQ(y.ndim(), sizes.size());
    EXPECT_EQ(values_of(y), values_of(x));
    EXPECT_EQ(y.data<float>(), x.data<float>()) << "nothing is copied before it is written";
    EXPECT_EQ(y.aliases(x), aliases());
    EXPECT_EQ(y.is_of_view_family(x), is_one_family());
  }
  EXPECT_EQ(shadow::summary().reshapes, is_watched(GetParam()) ? 4U : 0U);
  EXPECT_THROW(x.reshape({4}), ShapeError);
  EXPECT_THROW(Tensor::empty({4}, DType::f32).free_memory().reshape({2, 2}), StateError);
}

TEST_P(Modes, what_is_written_is_seen_where_there_is_an_alias) {
  Tensor y = x.reshape({2, 3});
  const shadow::ScopedSuppression suppression;
  y.set_at<float>({1, 2}, 60);
  x.set_at<float>({0}, 10);
  EXPECT_EQ(values_of(x), (std::vector<float>{10, 2, 3, 4, 5, aliases() ? 60.0F : 6.0F}));
  EXPECT_EQ(values_of(y), (std::vector<float>{aliases() ? 10.0F : 1.0F, 2, 3, 4, 5, 60}));
}

TEST_P(Modes, what_strides_cannot_say_is_copied) {
  const Tensor matrix = x.view({2, 3});
  Tensor flat = matrix.t().reshape({6});
  EXPECT_FALSE(flat.aliases(x));
  EXPECT_EQ(values_of(flat), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  fill_(flat, 0);
  EXPECT_EQ(values_of(x), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(reports.count(), 0U);
  EXPECT_EQ(shadow::summary().reshapes, 0U);
}

TEST_P(Modes, strides_say_what_they_can) {
  const Tensor columns = x.view({2, 3}).slice(1, 0, 2);  // [2, 2] of strides [3, 1]
  EXPECT_EQ(columns.reshape({2, 1, 2}).aliases(x), aliases());
  EXPECT_FALSE(columns.reshape({4}).aliases(x));
}

TEST_P(Modes, in_place_it_is_the_same_tensor_and_its_views_are_parted_from_it) {
  Tensor y = x.alias();
  const Tensor handle = y;
  const Tensor view = y.slice(0, 4);
  y.reshape_({2, 3}, line(10));
  EXPECT_EQ(to_string(handle.sizes()), "[2, 3]") << "as each handle to it sees it";
  EXPECT_EQ(y.aliases(view), aliases());
  EXPECT_EQ(y.is_of_view_family(view), is_one_family());
  EXPECT_EQ(x.is_of_view_family(view), true);
  if (GetParam() == ReshapeMode::error) {
    y.set_at<float>({1, 2}, 60, line(11));
    EXPECT_THROW(static_cast<void>(view.at<float>({1}, line(12))), ReshapeViolation);
  } else {
    y.set_at<float>({1, 2}, 60, line(11));
    EXPECT_EQ(view.at<float>({1}, line(12)), aliases() ? 60 : 6);
  }
  EXPECT_EQ(shadow::summary().violations, is_watched(GetParam()) ? 1U : 0U);
  EXPECT_EQ(y.at<float>({1, 2}), 60);
}

TEST_P(Modes, in_place_it_copies_what_strides_cannot_say) {
  Tensor y = x.view({2, 3}).t();
  y.reshape_({6});
  EXPECT_FALSE(y.aliases(x));
  EXPECT_EQ(values_of(y), (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

TEST_P(Modes, a_refused_reshape_in_place_changes_nothing) {
  const Tensor other = x.alias();
  EXPECT_THROW(x.reshape_({4}), ShapeError);
  EXPECT_EQ(to_string(x.sizes()), "[6]");
  EXPECT_TRUE(x.is_of_view_family(other));
}

TEST_P(Modes, tensors_without_elements_are_reshaped) {
  Tensor none = Tensor::empty({0, 3}, DType::f32);
  Tensor y = none.reshape({3, 0, 2});
  EXPECT_EQ(to_string(y.sizes()), "[3, 0, 2]");
  fill_(none, 1);
  fill_(y, 1);
  EXPECT_EQ(to_string(Tensor(Device::cpu()).reshape({2, 0}).sizes()), "[2, 0]");
  EXPECT_EQ(reports.count(), 0U);
}

TEST_P(Modes, views_are_no_reshapes) {
  const Tensor flat = x.view({2, 3}).flatten();
  EXPECT_TRUE(flat.is_of_view_family(x));
  EXPECT_EQ(shadow::summary().reshapes, 0U);
}

TEST(ModesOfThreads, the_default_is_to_copy) {
  const Tensor x = Tensor::zeros({6}, DType::f32);
  EXPECT_FALSE(x.reshape({2, 3}).aliases(x));
}

TEST(ModesOfThreads, a_scope_is_nearer_than_the_default) {
  const Tensor x = Tensor::zeros({6}, DType::f32);
  shadow::set_default_reshape_mode(ReshapeMode::alias);
  EXPECT_TRUE(x.reshape({2, 3}).is_of_view_family(x));
  {
    const ReshapeModeScope scope(ReshapeMode::warn);
    EXPECT_FALSE(x.reshape({2, 3}).is_of_view_family(x));
  }
  EXPECT_TRUE(x.reshape({2, 3}).is_of_view_family(x));
  shadow::set_default_reshape_mode(std::nullopt);
  EXPECT_FALSE(x.reshape({2, 3}).aliases(x));
}

}  // namespace
}  // namespace byre::test
