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

TEST_P(UsesAtOnce, of_views_that_are_behind_each_see_every_write) {
  const FunctionalizeOptionsScope scope(options());
  const AnyTensor x = to_functional(from_cpu(Tensor::zeros({threads, 64}, DType::f32)));
  std::vector<AnyTensor> views;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    views.push_back(call_for_one("select", {x, 0, thread}));
  }
  const AnyTensor all = call_for_one("transpose", {x, 0, 1});
  std::vector<float> seen(2 * threads);
  run_rounds(
      threads, 300,
      [&](std::size_t round) {
        for (std::size_t thread = 0; thread < threads; ++thread) {
          call("fill_",
               {call_for_one("select", {x, 0, thread}), static_cast<double>(round + thread)});
        }
      },
      [&](std::size_t thread) {
        seen[thread] = first_of(views[thread]);
        seen[threads + thread] = first_of(call_for_one("select", {all, 1, thread}));
      },
      [&](std::size_t round) {
        for (std::size_t thread = 0; thread < threads; ++thread) {
          ASSERT_EQ(seen[thread], static_cast<float>(round + thread));
          ASSERT_EQ(seen[threads + thread], static_cast<float>(round + thread));
        }
      });
}

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

TEST_P(UsesAtOnce, of_one_view_are_of_one_value) {
  const FunctionalizeOptionsScope scope(options());
  const AnyTensor x = to_functional(from_cpu(Tensor::zeros({2, 64}, DType::f32)));
  const AnyTensor view = call_for_one("select", {x, 0, 1});
  std::vector<float> seen(threads);
  run_rounds(
      threads, 300,
      [&](std::size_t round) {
        call("fill_", {x, static_cast<double>(round)});
      },
      [&](std::size_t thread) { seen[thread] = first_of(view); },
      [&](std::size_t round) {
        ASSERT_EQ(seen, std::vector<float>(threads, static_cast<float>(round)));
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

TEST_P(UsesAtOnce, of_lazy_clones_under_separate_aliases_do_not_know_of_each_other) {
  const Tensor origin = Tensor::zeros({256}, DType::f32);
  std::vector<float> seen(threads);
  run_rounds(
      threads, 300, [](std::size_t) {},
      [&](std::size_t thread) {
        const FunctionalizeOptionsScope scope(options());
        const AnyTensor mine = to_functional(from_cpu(origin.lazy_clone()));
        call("add_.scalar", {call_for_one("slice", {mine, 0, 0, 1}), static_cast<double>(thread)});
        seen[thread] = first_of(mine);
      },
      [&](std::size_t) {
        for (std::size_t thread = 0; thread < threads; ++thread) {
          ASSERT_EQ(seen[thread], static_cast<float>(thread));
        }
      });
}

TEST_P(UsesAtOnce, of_views_in_a_recording_record_each) {
  const FunctionalizeOptionsScope options_scope(options());
  const Recording recording;
  const RecordingScope recorded(recording);
  const AnyTensor x = to_functional(recording.input({threads}, DType::f32));
  std::vector<AnyTensor> sums(threads);
  run_rounds(
      threads, 50,
      [&](std::size_t round) {
        call("fill_", {call_for_one("select", {x, 0, 0}), static_cast<double>(round)});
      },
      [&](std::size_t thread) {
        sums[thread] =
            from_functional(call_for_one("add", {x, call_for_one("select", {x, 0, thread})}));
      },
      [&](std::size_t round) {
        const Graph graph = recording.capture(sums);
        ASSERT_TRUE(is_functional(graph));
        const Tensors results = execute(graph, {from_cpu(Tensor::zeros({threads}, DType::f32))});
        for (std::size_t thread = 0; thread < threads; ++thread) {
          const auto first = static_cast<float>(round);  // x is this one, and zeros
          const float added = thread == 0 ? first : 0;
          const Tensor sum = to_cpu(results[thread]).contiguous();
          ASSERT_EQ(sum.sizes(), Dims({threads}));
          for (std::size_t index = 0; index < threads; ++index) {
            ASSERT_EQ(sum.data<float>()[index], (index == 0 ? first : 0) + added);
          }
        }
      });
}

INSTANTIATE_TEST_SUITE_P(Each, UsesAtOnce, testing::ValuesIn(all_paths), name_of_paths);

}  // namespace
}  // namespace byre::test
