// SPDX-License-Identifier: BSL-1.0
/// The worked example of the seed "Functionalization", step by step: what is held after each, by how many
/// updates that wait, and of which generation.
#include "tensors.hpp"

namespace byre::test {
namespace {

class WorkedExample : public testing::TestWithParam<ViewPaths> {
 private:
  const FunctionalizeOptionsScope options_{{.paths = GetParam()}};
};

TEST_P(WorkedExample, of_the_seed_holds_what_the_seed_says_after_each_step) {
  // x = zeros(2): no alias yet.
  const AnyTensor x = to_functional(zeros({2}));
  EXPECT_EQ(pass_of(x).alias_if_any(), nullptr);

  // x1 = x.view(1, 2): x gets an alias, of generation 0, without updates; x1 is a view of it.
  const AnyTensor x1 = call_for_one("view", {x, {1, 2}});
  const auto alias = pass_of(x).alias_if_any();
  ASSERT_NE(alias, nullptr);
  EXPECT_EQ(pass_of(x1).alias_if_any(), alias);
  EXPECT_EQ(alias->generation(), 0U);
  EXPECT_EQ(alias->pending_updates(), 0U);
  EXPECT_EQ(pass_of(x1).path().depth(), GetParam() == ViewPaths::chains ? 1U : 0U);
  EXPECT_EQ(text_of_value(x1), "[[0. 0.]]");

  // x[1]: a view, contents 0.
  const AnyTensor element = call_for_one("select", {x, 0, 1});
  EXPECT_EQ(text_of_value(element), "0.");

  // x[1].fill_(2): its contents are 2; the alias, of generation 1, has an update, and its base is as it
  // was.
  call("fill_", {element, 2});
  EXPECT_EQ(alias->generation(), 1U);
  EXPECT_EQ(alias->pending_updates(), 1U);
  EXPECT_EQ(text_of_value(element), "2.");
  EXPECT_EQ(alias->pending_updates(), 1U) << "a view that is up to date needs no update applied";

  // y = x1 + 3: x1 is behind, so the update is played forward into the base, and x1 is made anew of it.
  const AnyTensor y = call_for_one("add.scalar", {x1, 3});
  EXPECT_EQ(alias->pending_updates(), 0U);
  EXPECT_EQ(alias->generation(), 1U);
  EXPECT_EQ(text_of_value(x1), "[[0. 2.]]");
  EXPECT_EQ(text_of_value(x), "[0. 2.]");
  EXPECT_EQ(text_of_value(y), "[[3. 5.]]");
  EXPECT_EQ(pass_of(y).alias_if_any(), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Each, WorkedExample, testing::ValuesIn(all_paths), name_of_paths);

}  // namespace
}  // namespace byre::test
