// SPDX-License-Identifier: BSL-1.0
/// Using a view is a read: threads may use views of one alias at once, also where that applies
/// updates, makes the alias, or makes values anew.
#include "support/at_once.hpp"
#include "tensors.hpp"

namespace byre::test {
namespace {

constexpr std::size_t threads = 4;

float first_of(const AnyTensor& tensor) {
  return *to_cpu(from_functional(call_for_one("contiguous", {tensor}))).data<float>();
}

class UsesAtOnce : public testing::TestWithParam<ViewPaths> {
 protected:
  FunctionalizeOptions options() const { return {.paths = GetParam()}; }
};

TEST_P(UsesAtOnce, of_views_of_views_begin_at_one_another_and_each_see_every_write) {
  const FunctionalizeOptionsScope scope(options());
  const AnyTensor x = to_functional(from_cpu(Tensor::zeros({2, 4, 4}, DType::f32)));
  std::vector<AnyTensor> views{call_for_one("select", {x, 0, 1})};
  while (views.size() < 12) {
    views.push_back(call_for_one("transpose", {views.back(), 0, 1}));
  }
  std::vector<std::vector<float>> seen(threads, std::vector<float>(views.size()));
  std::size_t round_of_views = 0;
  run_rounds(
      threads, 300,
      [&](std::size_t round) {
        round_of_views = round;
        call("fill_", {views[round % views.size()], static_cast<double>(round)});
      },
      [&](std::size_t thread) {
        for (std::size_t step = 0; step < views.size(); ++step) {
          const std::size_t at = thread % 2 == 0 ? step : views.size() - 1 - step;
          // A view that only this thread has ends while others may pass by it.
          const bool has_its_own = (round_of_views + thread) % 4 < 2;
          seen[thread][at] = first_of(has_its_own ? call_for_one("alias", {views[at]}) : views[at]);
        }
      },
      [&](std::size_t round) {
        for (const std::vector<float>& each : seen) {
          ASSERT_EQ(each, std::vector<float>(views.size(), static_cast<float>(round)));
        }
      });
}

TEST_P(UsesAtOnce, that_are_the_first_views_of_a_tensor_make_one_alias) {
  AnyTensor x;
  std::vector<AnyTensor> views(threads);
  run_rounds(
      threads, 300,
      [&](std::size_t) { x = to_functional(from_cpu(Tensor::zeros({threads}, DType::f32))); },
      [&](std::size_t thread) {
        const FunctionalizeOptionsScope scope(options());
        views[thread] = call_for_one("select", {x, 0, thread});
      },
      [&](std::size_t) {
        for (std::size_t thread = 0; thread < threads; ++thread) {
          call("fill_", {views[thread], static_cast<double>(thread)});
        }
        ASSERT_EQ(first_of(call_for_one("sum", {x})), 6);
        ASSERT_EQ(x.as<FunctionalTensor>()->alias()->tensor_count(), threads + 1);
      });
}

INSTANTIATE_TEST_SUITE_P(Each, UsesAtOnce, testing::ValuesIn(all_paths), name_of_paths);

}  // namespace
}  // namespace byre::test
