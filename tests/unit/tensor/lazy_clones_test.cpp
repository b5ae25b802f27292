// SPDX-License-Identifier: BSL-1.0
// What lazy clones and their views share, copy and see. Random programs of all that tensors do are in
// tests/equivalence.
#include <byre/observe/counters.hpp>
#include <byre/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include "support/counted.hpp"

namespace byre::test {
namespace {

TEST(LazyClones, a_lazy_reshape_copies_nothing_until_it_is_written) {
  if (!BYRE_STATS) {
    GTEST_SKIP() << "counts nothing without stats";
  }
  const Tensor x = Tensor::zeros({64, 64}, DType::f32);
  const Counted counted;
  Tensor reshaped = x.reshape({16, -1});
  EXPECT_EQ(counted.since().lazy_clones, 1) << counted.text();
  EXPECT_EQ(counted.since().copies, 0) << counted.text();
  EXPECT_EQ(counted.since().live_bytes, 0) << counted.text();
  reshaped.set_at<float>({3, 4}, 1.0F);
  EXPECT_EQ(counted.since().copies, 1) << counted.text();
  EXPECT_EQ(x.at<float>({12, 4}), 0.0F);
  const Counted counted_again;
  const Tensor transposed = x.t().reshape({-1});
  EXPECT_EQ(counted_again.since().lazy_clones, 0) << counted_again.text();
  EXPECT_GE(counted_again.since().live_bytes, 64 * 64 * 4) << counted_again.text();
}

TEST(LazyClones, views_of_a_lazy_clone_follow_it_when_it_materializes) {
  const Tensor base = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor clone = base.lazy_clone();
  const Tensor row = clone.select(0, 1);
  const Tensor transposed = clone.t();
  Tensor windows = transposed.unfold(0, 2, 1);
  ASSERT_EQ(clone.data<float>(), base.data<float>());
  clone.set_at<float>({1, 0}, 40);  // materializes: the views move with it
  EXPECT_EQ(row.at<float>({0}), 40);
  EXPECT_EQ(transposed.at<float>({0, 1}), 40);
  windows.set_at<float>({1, 1, 0}, 50);  // a view of a view writes to them all
  EXPECT_EQ(clone.at<float>({1, 1}), 50);
  EXPECT_EQ(row.at<float>({1}), 50);
  EXPECT_EQ(base.at<float>({1, 0}), 4);
  EXPECT_EQ(base.at<float>({1, 1}), 5);
  EXPECT_NE(row.data<float>(), base.data<float>() + 3);
}

TEST(LazyClones, a_view_that_writes_materializes_for_its_base) {
  Tensor base = Tensor::of<float>({4}, {1, 2, 3, 4});
  const Tensor clone = base.lazy_clone();
  Tensor tail = base.slice(0, 2);
  tail.set_at<float>({0}, 30);
  EXPECT_EQ(base.at<float>({2}), 30);
  EXPECT_EQ(clone.at<float>({2}), 3);
  EXPECT_EQ(tail.data<float>(), base.data<float>() + 2);
}

}  // namespace
}  // namespace byre::test
