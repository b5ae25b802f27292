// SPDX-License-Identifier: BSL-1.0
/// Memory per clone: the handle, and what the heap gives out for it, malloc's own bytes included.
/// The counter is `bytes_per_clone`; the time means nothing.
#include "contenders.hpp"
#include "harness.hpp"

#include <vector>

namespace byre_bench {
namespace {

constexpr std::size_t clone_count = 10000;

template <class Bytes, class Clone>
void run_memory(benchmark::State& state, const Bytes& source, Clone clone) {
  std::vector<Bytes> clones;
  clones.reserve(clone_count);
  const long long before = malloc_nbytes_in_use();
  if (before < 0) {
    state.SkipWithError("this C library does not say what its heap has handed out");
    return;
  }
  for (std::size_t i = 0; i < clone_count; ++i) {
    clones.push_back(clone(source));
  }
  const auto heap = static_cast<double>(malloc_nbytes_in_use() - before);
  state.counters["bytes_per_clone"] =
      static_cast<double>(sizeof(Bytes)) + heap / static_cast<double>(clone_count);
  for ([[maybe_unused]] auto iteration : state) {
    state.SetIterationTime(1e-9);
  }
}

template <class Contender>
void add_contender() {
  add({"memory_per_clone", 64}, Contender::name, [](benchmark::State& state) {
    const auto source = make_filled<Contender>(64, Memory::recycled);
    run_memory(state, source, [](const auto& bytes) { return bytes; });
  });
}

}  // namespace

void add_memory_per_clone() {
  add_contender<Word>();
  add_contender<SharedPtr>();
  add_contender<Lock>();
  add_contender<Eager>();
  add({"memory_per_clone", 64}, "storage", [](benchmark::State& state) {
    const auto source = byre::Storage::allocate(64);
    run_memory(state, source, [](const auto& storage) { return storage.lazy_clone(); });
  });
}

}  // namespace byre_bench
