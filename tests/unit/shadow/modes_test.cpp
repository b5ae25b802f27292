// SPDX-License-Identifier: BSL-1.0
/// Which mode of reshape is in force, and the result of a reshape in each mode. environment_test.py
/// tests the environment; tests/equivalence tests the values that programs read if reshape aliases
/// and if it copies.
#include <cstdlib>
#include <optional>
#include <string>

#include "support/at_once.hpp"
#include "support/environment.hpp"
#include "tracked.hpp"

namespace byre::test {
namespace {

using shadow::reshape_mode;
using shadow::set_default_reshape_mode;

constexpr ReshapeMode modes[] = {ReshapeMode::alias, ReshapeMode::warn, ReshapeMode::error,
                                 ReshapeMode::copy};

/// BYRE_RESHAPE must be unset when the process first reads the mode.
class Mode : public testing::Test {
 protected:
  static void SetUpTestSuite() { set_variable("BYRE_RESHAPE", ""); }
  ~Mode() override { set_default_reshape_mode(std::nullopt); }
};

TEST_F(Mode, a_default_holds_for_all_threads_and_a_scope_for_its_thread) {
  EXPECT_EQ(reshape_mode(), ReshapeMode::copy);
  for (const ReshapeMode mode : modes) {
    set_default_reshape_mode(mode);
    const ReshapeModeScope outer(ReshapeMode::alias);
    {
      const ReshapeModeScope inner(ReshapeMode::error);
      EXPECT_EQ(reshape_mode(), ReshapeMode::error);
    }
    EXPECT_EQ(reshape_mode(), ReshapeMode::alias);
    on_another_thread([&] { EXPECT_EQ(reshape_mode(), mode); });
  }
}

class ReshapeInEachMode : public testing::TestWithParam<ReshapeMode> {
 protected:
  bool aliases() const { return GetParam() != ReshapeMode::copy; }
  bool is_one_family() const { return GetParam() == ReshapeMode::alias; }

  CaughtReports reports;
  ReshapeModeScope scope{GetParam()};
  Tensor x = Tensor::of<float>({6}, {1, 2, 3, 4, 5, 6});
};

INSTANTIATE_TEST_SUITE_P(All, ReshapeInEachMode, testing::ValuesIn(modes),
                         [](const auto& each) { return std::string(name_of(each.param)); });

TEST_P(ReshapeInEachMode, makes_an_alias_or_a_lazy_copy) {
  for (const Dims& sizes : {Dims{2, 3}, Dims{-1, 2}, Dims{6}, Dims{1, 6, 1}}) {
    const Tensor y = x.reshape(sizes);
    EXPECT_EQ(y.ndim(), sizes.size());
    EXPECT_EQ(y.data<float>(), x.data<float>()) << "expected no copy before a write";
    EXPECT_EQ(y.aliases(x), aliases());
    EXPECT_EQ(y.is_of_view_family(x), is_one_family());
  }
  EXPECT_EQ(shadow::summary().reshapes, tracks(GetParam()) ? 4U : 0U);
  const Tensor columns = x.view({2, 3}).slice(1, 0, 2);  // [2, 2] of strides [3, 1]
  EXPECT_EQ(columns.reshape({2, 1, 2}).aliases(x), aliases());
  EXPECT_FALSE(columns.reshape({4}).aliases(x))
      << "expected a copy, since strides cannot express [4]";
}

TEST_P(ReshapeInEachMode, an_in_place_reshape_changes_all_handles_but_no_views) {
  Tensor y = x.alias();
  const Tensor handle = y;
  EXPECT_THROW(y.reshape_({4}), ShapeError);
  EXPECT_TRUE(y.is_of_view_family(x)) << "the error changed the view family";
  y.reshape_({2, 3});
  EXPECT_EQ(to_string(handle.sizes()), "[2, 3]");
  EXPECT_EQ(to_string(x.sizes()), "[6]");
  EXPECT_EQ(y.aliases(x), aliases());
  EXPECT_EQ(y.is_of_view_family(x), is_one_family());
}

TEST_P(ReshapeInEachMode, tensors_without_elements_are_reshaped_without_reports) {
  Tensor none = Tensor::empty({0, 3}, DType::f32);
  Tensor y = none.reshape({3, 0, 2});
  EXPECT_EQ(to_string(y.sizes()), "[3, 0, 2]");
  fill_(none, 1);
  fill_(y, 1);
  EXPECT_EQ(to_string(Tensor(Device::cpu()).reshape({2, 0}).sizes()), "[2, 0]");
  EXPECT_THROW(Tensor::empty({4}, DType::f32).free_memory().reshape({2, 2}), StateError);
  EXPECT_EQ(reports.count(), 0U);
}

}  // namespace
}  // namespace byre::test
