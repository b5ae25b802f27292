// SPDX-License-Identifier: BSL-1.0
// The number of heap allocations of layouts, views and reshapes.
#include <byre/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <functional>

#include "support/failing_new.hpp"

namespace byre::test {
namespace {

/// The number of calls of operator new by `step` on this thread.
int count_news(const std::function<void()>& step) {
  constexpr int plenty = 1 << 20;
  news_before_failure = plenty;
  step();
  const int used = plenty - news_before_failure;
  news_before_failure = never_fails;
  return used;
}

TEST(TensorAllocations, layouts_of_up_to_five_dimensions_do_not_allocate) {
  const Layout five = contiguous_layout({1, 2, 3, 4, 5}, "test");
  Layout result;
  EXPECT_EQ(count_news([&] { result = views::permute(five, {4, 3, 2, 1, 0}); }), 0);
  EXPECT_EQ(count_news([&] { result = views::slice(five, 1, 1); }), 0);
  EXPECT_EQ(count_news([&] { result = views::select(five, 4, 2); }), 0);
  EXPECT_EQ(count_news([&] { result = views::movedim(five, {0}, {3}); }), 0);
  EXPECT_EQ(count_news([&] { result = views::diagonal(five); }), 0);
  EXPECT_EQ(count_news([&] { result = *viewed_as(five, {6, 20}, "test"); }), 0);
  EXPECT_EQ(count_news([&] { (void)may_overlap_itself(five); }), 0);
  EXPECT_GT(count_news([&] { result = views::unsqueeze(five, 0); }), 0) << "six dimensions";
  EXPECT_EQ(to_string(result.sizes), "[1, 1, 2, 3, 4, 5]");
}

TEST(TensorAllocations, making_a_view_allocates_only_the_tensor_object) {
  const Tensor x = Tensor::zeros({1, 2, 3, 4, 5}, DType::f32);
  EXPECT_LE(count_news([&] { (void)x.transpose(0, 4); }), 1);
  EXPECT_LE(count_news([&] { (void)x.select(2, 1).slice(1, 1); }), 2);
  EXPECT_LE(count_news([&] { (void)x.reshape({-1}); }), 2);  // the tensor and its storage
}

}  // namespace
}  // namespace byre::test
