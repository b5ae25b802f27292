// SPDX-License-Identifier: BSL-1.0
/// Reshapes, and the cost of tracking them.
///
///   tensor_reshape  A reshape, which is a view of a lazy clone; `view_and_clone` makes both by
///                   hand.
///   tensor_read, tensor_write
///                   Access to an element. `copy` and `warn` access a tensor that was never
///                   reshaped, in that ReshapeMode. `tracked` accesses a reshaped tensor in warn
///                   mode, which byre tracks; no other view of its memory is written.
#include "harness.hpp"

#include <byre/tensor/tensor.hpp>

#include <cstddef>
#include <cstdint>

namespace byre_bench {
namespace {

using byre::DType;
using byre::Tensor;
using byre::shadow::ReshapeMode;
using byre::shadow::ReshapeModeScope;

constexpr std::size_t views_per_burst = 1000;

/// `reshape(tensor, sizes)` flattens two dimensions to one.
template <class Reshape>
void add_reshape(const char* contender, std::size_t nbytes, Reshape reshape) {
  add({"tensor_reshape", nbytes}, contender, [=](benchmark::State& state) {
    const auto numel = static_cast<std::int64_t>(nbytes);
    const Tensor tensor = Tensor::zeros({numel / 16, 16}, DType::u8);
    const byre::Dims sizes{numel};
    run_repeated(state, views_per_burst, [&](std::size_t) { reshape(tensor, sizes); });
  });
}

constexpr std::size_t element_accesses_per_burst = 4096;
constexpr std::size_t element_count = 64;

void run_reads(benchmark::State& state, const Tensor& tensor) {
  std::size_t sum = 0;
  run_repeated(state, element_accesses_per_burst, [&](std::size_t i) {
    sum += tensor.data<std::uint8_t>()[i % element_count];
    benchmark::ClobberMemory();
  });
  benchmark::DoNotOptimize(sum);
}

void run_writes(benchmark::State& state, Tensor& tensor) {
  run_repeated(state, element_accesses_per_burst, [&](std::size_t i) {
    tensor.mutable_data<std::uint8_t>()[i % element_count] = static_cast<std::uint8_t>(i);
    benchmark::ClobberMemory();
  });
}

void add_tracked_access(const char* contender, ReshapeMode mode, bool is_reshaped) {
  for (const bool is_write : {false, true}) {
    add({is_write ? "tensor_write" : "tensor_read", 64}, contender, [=](benchmark::State& state) {
      const ReshapeModeScope scope(mode);
      const Tensor source = Tensor::zeros({element_count}, DType::u8);
      Tensor tensor = is_reshaped ? source.reshape({element_count / 2, 2}) : source;
      benchmark::DoNotOptimize(&tensor);
      is_write ? run_writes(state, tensor) : run_reads(state, tensor);
    });
  }
}

}  // namespace

void add_tensors() {
  for (const std::size_t nbytes : {std::size_t{64}, 16 * mib}) {
    add_reshape("byre", nbytes, [](const Tensor& tensor, const byre::Dims& sizes) {
      const Tensor reshaped = tensor.reshape(sizes);
      benchmark::DoNotOptimize(reshaped.raw_data());
    });
    add_reshape("view_and_clone", nbytes, [](const Tensor& tensor, const byre::Dims& sizes) {
      const Tensor view = tensor.view(sizes);
      const byre::Storage clone = view.storage().lazy_clone();
      benchmark::DoNotOptimize(clone.data());
    });
  }
  add_tracked_access("copy", ReshapeMode::copy, false);
  add_tracked_access("warn", ReshapeMode::warn, false);
  add_tracked_access("tracked", ReshapeMode::warn, true);
}

}  // namespace byre_bench
