// SPDX-License-Identifier: BSL-1.0
// Which tensor operations take memory of the heap, and what becomes of a tensor when there is none.
#include <byre/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <functional>

#include "support/failing_new.hpp"

namespace byre::test {
namespace {

/// How many calls of operator new `step` makes on this thread.
int news_of(const std::function<void()>& step) {
  constexpr int plenty = 1 << 20;
  news_until_failure = plenty;
  step();
  const int used = plenty - news_until_failure;
  news_until_failure = never_fails;
  return used;
}

TEST(TensorAllocations, layouts_of_up_to_five_dimensions_take_none) {
  const Layout five = contiguous_layout({1, 2, 3, 4, 5}, "test");
  Layout result;
  EXPECT_EQ(news_of([&] { result = views::permute(five, {4, 3, 2, 1, 0}); }), 0);
  EXPECT_EQ(news_of([&] { result = views::slice(five, 1, 1); }), 0);
  EXPECT_EQ(news_of([&] { result = views::select(five, 4, 2); }), 0);
  EXPECT_EQ(news_of([&] { result = views::movedim(five, {0}, {3}); }), 0);
  EXPECT_EQ(news_of([&] { result = views::diagonal(five); }), 0);
  EXPECT_EQ(news_of([&] { result = *viewed_as(five, {6, 20}, "test"); }), 0);
  EXPECT_EQ(news_of([&] { (void)may_overlap_itself(five); }), 0);
  EXPECT_GT(news_of([&] { result = views::unsqueeze(five, 0); }), 0) << "six dimensions";
  EXPECT_EQ(to_string(result.sizes), "[1, 1, 2, 3, 4, 5]");
}

TEST(TensorAllocations, a_view_takes_its_tensor_and_nothing_else) {
  const Tensor x = Tensor::zeros({1, 2, 3, 4, 5}, DType::f32);
  EXPECT_LE(news_of([&] { (void)x.transpose(0, 4); }), 1);
  EXPECT_LE(news_of([&] { (void)x.select(2, 1).slice(1, 1); }), 2);
  EXPECT_LE(news_of([&] { (void)x.reshape({-1}); }), 2);  // and the new storage
}

TEST(TensorAllocations, many_dimensions_work_as_few_do) {
  const Tensor x = Tensor::zeros({2, 1, 2, 1, 2, 1, 2, 3}, DType::i32);
  Tensor y = x.permute({7, 6, 5, 4, 3, 2, 1, 0});
  y.set_at<std::int32_t>({2, 1, 0, 1, 0, 1, 0, 1}, 9);
  EXPECT_EQ(x.at<std::int32_t>({1, 0, 1, 0, 1, 0, 1, 2}), 9);
  EXPECT_EQ(x.squeeze().at<std::int32_t>({1, 1, 1, 1, 2}), 9);
  EXPECT_EQ(y.reshape({-1}).at<std::int32_t>({47}), 9);
}

TEST(TensorAllocations, without_memory_for_a_tensor_the_source_stays_as_it_was) {
  const Tensor x = Tensor::of<float>({2, 2}, {1, 2, 3, 4});
  const std::function<void()> steps[] = {
      [&] { (void)x.t(); },           [&] { (void)x.lazy_clone(); },
      [&] { (void)x.reshape({4}); },  [&] { (void)x.clone(); },
      [&] { Tensor{Device::cpu()}; }, [&] { (void)Tensor(x).writable_clone(); },
  };
  for (const auto& step : steps) {
    for (int nth = 0;; ++nth) {
      bool threw = false;
      try {
        const FailingNew failing(nth);
        step();
      } catch (const OutOfMemory&) {
        threw = true;
      }
      EXPECT_EQ(threw, new_failed);
      EXPECT_EQ(x.storage().handle_count(), 1U);
      EXPECT_TRUE(x.storage().is_unique());
      if (!new_failed) {
        break;
      }
    }
  }
  EXPECT_EQ(x.at<float>({1, 1}), 4);
}

}  // namespace
}  // namespace byre::test
