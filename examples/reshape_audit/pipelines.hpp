// SPDX-License-Identifier: BSL-1.0
/// Small programs that rely on reshape being an alias, and their rewritten forms: one pattern for
/// each advice that a report can give.
#pragma once

#include <byre/tensor.hpp>

#include <numeric>
#include <vector>

namespace examples::reshape_audit {

using byre::DType;
using byre::Tensor;
using byre::shadow::ReshapeMode;

/// The results of a pipeline.
using Results = std::vector<Tensor>;

/// The form in which a pipeline writes its reshapes.
using Reshape = Tensor (*)(const Tensor& tensor, const byre::Dims& sizes, byre::CallSite site);

inline Tensor unchanged(const Tensor& tensor, const byre::Dims& sizes, byre::CallSite site) {
  return tensor.reshape(sizes, site);
}
inline Tensor as_view(const Tensor& tensor, const byre::Dims& sizes, byre::CallSite) {
  return tensor.view(sizes);
}
inline Tensor as_clone(const Tensor& tensor, const byre::Dims& sizes, byre::CallSite site) {
  return tensor.reshape(sizes, site).clone(site);
}

struct Pipeline {
  const char* name;
  const char* what;
  ReshapeMode meant;  ///< the mode in which the original computes what its author intended
  Results (*run)(Reshape reshape);
  Reshape rewritten;  ///< computes the intended results in all modes; null if the original does
};

inline byre::CallSite here(byre::CallSite site = byre::CallSite::current()) {
  return site;
}

/// A tensor with elements 1, 2, 3, ...
inline Tensor counted(const byre::Dims& sizes) {
  std::vector<float> numbers(
      static_cast<std::size_t>(byre::contiguous_layout(sizes, "counted").numel()));
  std::iota(numbers.begin(), numbers.end(), 1.0F);
  return Tensor::of<float>(sizes, numbers);
}

// The window should alias the cache. Advice: write view.
inline Results key_value_cache(Reshape reshape) {
  const Tensor cache = Tensor::zeros({3, 4}, DType::f32);
  const Tensor window = reshape(cache, {3, 2, 2}, here());
  Results sums;
  for (std::int64_t step = 0; step < 3; ++step) {
    byre::copy_(window.select(0, step), byre::add(counted({2, 2}), step));
    sums.push_back(byre::sum(cache.narrow(0, 0, step + 1), {0}));
  }
  return sums;
}

// As an alias, the snapshot changes with the write, so the difference is always 0. Advice: write
// reshape(...).clone().
inline Results snapshot_by_reshape(Reshape reshape) {
  Tensor state = counted({2, 3});
  const Tensor before = reshape(state, {6}, here());
  byre::add_(state, 1.0);
  return {byre::sub(state.view({6}), before)};
}

// The reshape may be meant as a window that follows each write, or as a snapshot of the initial
// values. Here, the author intended the window. Advice: write view, or reshape(...).clone().
inline Results flat_parameters(Reshape reshape) {
  Tensor parameters = counted({6});
  const Tensor weights = reshape(parameters, {3, 2}, here());
  Results outputs;
  for (int step = 0; step < 3; ++step) {
    outputs.push_back(byre::matmul(counted({1, 3}), weights));
    byre::sub_(parameters, 0.5);
  }
  return outputs;
}

// Two users of one scratch tensor. Each user writes the whole tensor before it reads, so copies
// give the intended results.
inline Results scratch_filled_twice(Reshape reshape) {
  const Tensor scratch = Tensor::zeros({6}, DType::f32);
  const Tensor sums = reshape(scratch, {2, 3}, here());
  const Tensor counts = reshape(scratch, {3, 2}, here());
  byre::fill_(sums, 5);
  byre::fill_(counts, 7);
  return {sums.clone(), counts.clone()};
}

// Only reads, which do not rely on aliasing.
inline Results channel_statistics(Reshape reshape) {
  const Tensor channels = reshape(counted({3, 4, 4}), {3, 16}, here());
  const Tensor means = byre::div(byre::sum(channels, {1}, true), 16.0);
  const Tensor centered = byre::sub(channels, means);
  return {byre::sum(byre::mul(centered, centered), {1})};
}

inline constexpr Pipeline all_pipelines[] = {
    {"key_value_cache", "a cache is written through a reshaped window and read directly",
     ReshapeMode::alias, key_value_cache, as_view},
    {"snapshot_by_reshape", "a reshape serves as a snapshot while the original changes",
     ReshapeMode::copy, snapshot_by_reshape, as_clone},
    {"flat_parameters", "a layer is a reshape of a vector that the optimizer updates",
     ReshapeMode::alias, flat_parameters, as_view},
    {"scratch_filled_twice", "two shapes of one scratch tensor are each filled and then read",
     ReshapeMode::copy, scratch_filled_twice, as_clone},
    {"channel_statistics", "means and variances of channels are computed; nothing is written",
     ReshapeMode::alias, channel_statistics, nullptr},
};

}  // namespace examples::reshape_audit
