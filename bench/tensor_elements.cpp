// SPDX-License-Identifier: BSL-1.0
/// Adding contiguous floats. Each operation is one sum of two tensors, into a new tensor or into the
/// first. The loop is what a user would write instead, at the optimization that vectorizes it, and
/// takes the memory of its result where the tensor does.
#include "contenders.hpp"
#include "harness.hpp"

#include <byre/tensor/elements.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace byre_bench {
namespace {

#if defined(__GNUC__) && !defined(__clang__)
#define BYRE_BENCH_VECTORIZED [[gnu::noinline, gnu::optimize("O3")]]
#else
#define BYRE_BENCH_VECTORIZED [[gnu::noinline]]
#endif

BYRE_BENCH_VECTORIZED void add_loop(float* sums, const float* a, const float* b,
                                    std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    sums[i] = a[i] + b[i];
  }
}

BYRE_BENCH_VECTORIZED void add_in_place_loop(float* a, const float* b, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    a[i] += b[i];
  }
}

struct Operands {
  std::size_t count;
  byre::Tensor a;
  byre::Tensor b;

  explicit Operands(std::size_t nbytes) : count(nbytes / sizeof(float)) {
    const byre::Dims sizes{static_cast<std::int64_t>(count)};
    a = byre::Tensor::empty(sizes, byre::DType::f32);
    b = byre::Tensor::empty(sizes, byre::DType::f32);
    fill_(a, 1.5);
    fill_(b, 0.25);
  }
};

std::size_t operations_per_burst(std::size_t nbytes) {
  return nbytes <= 4 * kib ? 200 : nbytes <= 256 * kib ? 20 : 1;
}

/// `operation(operands)` is one of those that are counted.
template <class Operation>
void add_adder(const std::string& name, const std::string& contender, std::size_t nbytes,
               Operation operation) {
  add({name, nbytes}, contender, [=](benchmark::State& state) {
    Operands operands(nbytes);
    const std::size_t times = operations_per_burst(nbytes);
    run_bursts(state, times, [&](std::size_t) {
      return timed_ns([&] {
        for (std::size_t i = 0; i < times; ++i) {
          operation(operands);
        }
      });
    });
  });
}

}  // namespace

void add_tensor_elements() {
  for (const std::size_t nbytes : {4 * kib, 256 * kib, 16 * mib}) {
    add_adder("tensor_add", "byre", nbytes, [](Operands& operands) {
      const byre::Tensor sums = add(operands.a, operands.b);
      benchmark::DoNotOptimize(sums.raw_data());
    });
    add_adder("tensor_add", "loop", nbytes, [](Operands& operands) {
      EagerBytes sums(operands.a.nbytes(), allocator_for(Memory::recycled));
      add_loop(reinterpret_cast<float*>(sums.mutable_data()), operands.a.data<float>(),
               operands.b.data<float>(), operands.count);
      benchmark::DoNotOptimize(sums.data());
    });
    add_adder("tensor_add_in_place", "byre", nbytes, [](Operands& operands) {
      add_(operands.a, operands.b);
      benchmark::DoNotOptimize(operands.a.raw_data());
    });
    add_adder("tensor_add_in_place", "loop", nbytes, [](Operands& operands) {
      add_in_place_loop(operands.a.mutable_data<float>(), operands.b.data<float>(), operands.count);
      benchmark::DoNotOptimize(operands.a.raw_data());
    });
  }
}

}  // namespace byre_bench
