// SPDX-License-Identifier: BSL-1.0
// Long random programs of views, reshapes, writes, clones, drops and resizes, compared step by step
// with a model that knows neither strides nor copy-on-write; on one thread, and on several whose
// storages share data lazily.
#include <byre/observe/counters.hpp>
#include <byre/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "random_program.hpp"
#include "support/at_once.hpp"
#include "support/counted.hpp"
#include "support/random.hpp"
#include "support/sanitized.hpp"

namespace byre::test {
namespace {

TEST(RandomPrograms, one_thread_sees_what_the_flat_model_says) {
  const std::uint64_t chosen = seed();
  RandomProgram program(chosen);
  program.run(fewer_if_sanitized(60'000));
  EXPECT_GT(program.lazy_reshapes(), fewer_if_sanitized(300));
  EXPECT_GT(program.eager_reshapes(), fewer_if_sanitized(60));
  EXPECT_GT(program.writes(), fewer_if_sanitized(3000));
  EXPECT_GT(program.refusals(), fewer_if_sanitized(500));
}

TEST(RandomPrograms, threads_that_share_data_lazily_never_see_each_other) {
  constexpr std::size_t threads = 4;
  const std::uint64_t chosen = seed();
  RandomProgram maker(chosen);
  std::vector<RandomProgram::Pair> published;
  for (int count = 0; count < 6; ++count) {
    published.push_back(maker.make_tensor());
  }
  std::deque<RandomProgram> programs;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    programs.emplace_back(chosen + 1 + thread);
  }
  at_once(threads, [&](std::size_t thread) {
    RandomProgram& program = programs[thread];
    for (std::size_t round = 0; round < fewer_if_sanitized(1'000); ++round) {
      program.adopt(published[round % published.size()]);
      program.run(5);
    }
  });
  for (const RandomProgram::Pair& pair : published) {
    maker.adopt(pair);
  }
  maker.run(0);
}

TEST(RandomPrograms, a_lazy_reshape_copies_nothing_until_it_is_written) {
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

TEST(RandomPrograms, views_of_a_lazy_clone_follow_it_when_it_materializes) {
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

TEST(RandomPrograms, a_view_that_writes_materializes_for_its_base) {
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
