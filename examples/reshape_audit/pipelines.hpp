// SPDX-License-Identifier: BSL-1.0
/// Small programs that rely on reshape being an alias, and how they are rewritten: a pattern for each advice that a
/// report gives.
#pragma once

#include <byre/tensor.hpp>

#include <numeric>
#include <vector>

namespace examples::reshape_audit {

/// The results of a pipeline, for comparison.
using Results = std::vector<byre::Tensor>;

struct Pipeline {
  const char* name;
  const char* what;
  byre::shadow::ReshapeMode meant;  ///< the mode in which it does what its author meant
  Results (*as_found)();
  Results (*rewritten)();  ///< does that in all modes; nullptr: there is nothing to rewrite
};

using byre::DType;
using byre::Tensor;
using byre::shadow::ReshapeMode;

/// 1, 2, 3 and so on.
inline Tensor counted(const byre::Dims& sizes) {
  std::vector<float> numbers(
      static_cast<std::size_t>(byre::contiguous_layout(sizes, "counted").numel()));
  std::iota(numbers.begin(), numbers.end(), 1.0F);
  return Tensor::of<float>(sizes, numbers);
}

// A window on the cache: write view.

inline Results key_value_cache() {
  const Tensor cache = Tensor::zeros({3, 4}, DType::f32);
  const Tensor window = cache.reshape({3, 2, 2});
  Results sums;
  for (std::int64_t step = 0; step < 3; ++step) {
    byre::copy_(window.select(0, step), byre::add(counted({2, 2}), step));
    sums.push_back(byre::sum(cache.narrow(0, 0, step + 1), {0}));
  }
  return sums;
}

inline Results key_value_cache_rewritten() {
  const Tensor cache = Tensor::zeros({3, 4}, DType::f32);
  const Tensor window = cache.view({3, 2, 2});
  Results sums;
  for (std::int64_t step = 0; step < 3; ++step) {
    byre::copy_(window.select(0, step), byre::add(counted({2, 2}), step));
    sums.push_back(byre::sum(cache.narrow(0, 0, step + 1), {0}));
  }
  return sums;
}

// The difference is always 0, because the snapshot follows the write: write reshape(...).clone().

inline Results snapshot_by_reshape() {
  Tensor state = counted({2, 3});
  const Tensor before = state.reshape({6});
  byre::add_(state, 1.0);
  return {byre::sub(state.view({6}), before)};
}

inline Results snapshot_by_reshape_rewritten() {
  Tensor state = counted({2, 3});
  const Tensor before = state.reshape({6}).clone();
  byre::add_(state, 1.0);
  return {byre::sub(state.view({6}), before)};
}

// A window that follows each write, or a snapshot of the beginning? Here it is the window.

inline Results flat_parameters() {
  Tensor parameters = counted({6});
  const Tensor weights = parameters.reshape({3, 2});
  Results outputs;
  for (int step = 0; step < 3; ++step) {
    outputs.push_back(byre::matmul(counted({1, 3}), weights));
    byre::sub_(parameters, 0.5);
  }
  return outputs;
}

inline Results flat_parameters_rewritten() {
  Tensor parameters = counted({6});
  const Tensor weights = parameters.view({3, 2});
  Results outputs;
  for (int step = 0; step < 3; ++step) {
    outputs.push_back(byre::matmul(counted({1, 3}), weights));
    byre::sub_(parameters, 0.5);
  }
  return outputs;
}

// Two users of one scratch tensor. Each writes all of it before it reads: a copy gives each its own.

inline Results scratch_filled_twice() {
  const Tensor scratch = Tensor::zeros({6}, DType::f32);
  const Tensor sums = scratch.reshape({2, 3});
  const Tensor counts = scratch.reshape({3, 2});
  byre::fill_(sums, 5);
  byre::fill_(counts, 7);
  return {sums.clone(), counts.clone()};
}

inline Results scratch_filled_twice_rewritten() {
  const Tensor scratch = Tensor::zeros({6}, DType::f32);
  const Tensor sums = scratch.reshape({2, 3}).clone();
  const Tensor counts = scratch.reshape({3, 2}).clone();
  byre::fill_(sums, 5);
  byre::fill_(counts, 7);
  return {sums.clone(), counts.clone()};
}

// Reads only, which rely on nothing.

inline Results channel_statistics() {
  const Tensor channels = counted({3, 4, 4}).reshape({3, 16});
  const Tensor means = byre::div(byre::sum(channels, {1}, true), 16.0);
  const Tensor centered = byre::sub(channels, means);
  return {byre::sum(byre::mul(centered, centered), {1})};
}

inline std::vector<Pipeline> all_pipelines() {
  return {
      {"key_value_cache", "a cache is written through a window and read as it is",
       ReshapeMode::alias, key_value_cache, key_value_cache_rewritten},
      {"snapshot_by_reshape", "a reshape is kept to compare with while the original changes",
       ReshapeMode::copy, snapshot_by_reshape, snapshot_by_reshape_rewritten},
      {"flat_parameters", "a layer is a reshape of one vector, which the optimizer updates",
       ReshapeMode::alias, flat_parameters, flat_parameters_rewritten},
      {"scratch_filled_twice", "one scratch tensor under two shapes, each filled and then read",
       ReshapeMode::copy, scratch_filled_twice, scratch_filled_twice_rewritten},
      {"channel_statistics", "means and variances of channels: reads only", ReshapeMode::alias,
       channel_statistics, nullptr},
  };
}

}  // namespace examples::reshape_audit
