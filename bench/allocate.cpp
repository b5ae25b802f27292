// SPDX-License-Identifier: BSL-1.0
/// A buffer that is allocated and dropped again and again, so that the pool has an idle block for it; beside
/// malloc, which is told to keep what is freed, too.
#include <byre/byre.hpp>

#include <cstdlib>

#include "harness.hpp"

namespace byre_bench {
namespace {

constexpr std::size_t allocations_per_burst = 1000;

template <class Once>
void add_repeated(std::size_t nbytes, const char* contender, Once once) {
  add({"allocate_drop", nbytes}, contender, [=](benchmark::State& state) {
    run_bursts(state, allocations_per_burst, [=](std::size_t) {
      return timed_ns([=] {
        for (std::size_t i = 0; i < allocations_per_burst; ++i) {
          once(nbytes);
        }
      });
    });
  });
}

void allocate_and_drop(std::size_t nbytes) {
  const auto buffer = byre::Buffer::allocate(nbytes);
  benchmark::DoNotOptimize(buffer.data());
}

void malloc_and_free(std::size_t nbytes) {
  void* const bytes = std::malloc(nbytes);
  benchmark::DoNotOptimize(bytes);
  std::free(bytes);
}

}  // namespace

void add_allocations() {
  for (const std::size_t nbytes : all_sizes) {
    add_repeated(nbytes, "byre", allocate_and_drop);
    add_repeated(nbytes, "malloc", malloc_and_free);
  }
}

}  // namespace byre_bench
