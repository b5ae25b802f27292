// SPDX-License-Identifier: BSL-1.0
/// Clone and drop. Each operation copies a handle, shows the data pointer of the copy to the
/// compiler, and destroys the copy. The floor does what cannot be left out: one relaxed add and one
/// acq_rel subtract on a line that no other thread touches.
#include "contenders.hpp"
#include "harness.hpp"

#include <atomic>
#include <cstdlib>
#include <deque>
#include <memory>
#include <vector>

namespace byre_bench {
namespace {

constexpr std::size_t placements = 8;
constexpr std::size_t clones_per_burst = 1000;

/// Objects at different places, for bursts to take turns on, since what a place costs depends on
/// its address.
template <class Thing, class Make>
std::deque<Thing> spread(Make make) {
  std::deque<Thing> things;
  std::vector<std::vector<std::byte>> gaps;
  for (std::size_t i = 0; i < placements; ++i) {
    gaps.emplace_back(64 + 80 * i);
    things.push_back(make());
  }
  return things;
}

template <class Bytes>
double clone_and_drop(const Bytes& source, std::size_t times) {
  return timed_ns([&] {
    for (std::size_t i = 0; i < times; ++i) {
      const Bytes clone(source);
      benchmark::DoNotOptimize(clone.data());
    }
  });
}

template <class Contender>
void run_clone_drop(benchmark::State& state, std::size_t nbytes, std::size_t times,
                    std::size_t different) {
  using Bytes = typename Contender::Bytes;
  std::deque<Bytes> sources;
  if (different == 1) {
    sources.push_back(make_filled<Contender>(nbytes, Memory::recycled));
  } else {
    sources = spread<Bytes>([&] { return Contender::make(nbytes, Memory::recycled); });
  }
  run_bursts(state, times, [&](std::size_t burst) {
    return clone_and_drop(sources[burst % sources.size()], times);
  });
}

template <class Contender>
void add_lazy(std::size_t nbytes) {
  add({"clone_drop", nbytes}, Contender::name, [=](benchmark::State& state) {
    run_clone_drop<Contender>(state, nbytes, clones_per_burst, placements);
  });
}

void add_eager(std::size_t nbytes) {
  const std::size_t times = nbytes <= 4 * kib ? 200 : 1;
  add({"clone_drop", nbytes}, Eager::name, [=](benchmark::State& state) {
    run_clone_drop<Eager>(state, nbytes, times, nbytes <= 4 * kib ? placements : 1);
  });
}

struct alignas(64) CountedLine {
  std::atomic<std::size_t> count{1};
  void* data = this;
};

void run_floor(benchmark::State& state) {
  auto lines = spread<std::unique_ptr<CountedLine>>([] { return std::make_unique<CountedLine>(); });
  run_bursts(state, clones_per_burst, [&](std::size_t burst) {
    CountedLine& line = *lines[burst % placements];
    return timed_ns([&] {
      for (std::size_t i = 0; i < clones_per_burst; ++i) {
        line.count.fetch_add(1, std::memory_order::relaxed);
        benchmark::DoNotOptimize(line.data);
        if (line.count.fetch_sub(1, std::memory_order::acq_rel) == 1) {
          std::abort();
        }
      }
    });
  });
}

/// A storage's clone is a new identity, so that it allocates.
void run_storage(benchmark::State& state, std::size_t nbytes) {
  const auto sources = spread<byre::Storage>([&] { return byre::Storage::allocate(nbytes); });
  run_bursts(state, clones_per_burst, [&](std::size_t burst) {
    const byre::Storage& source = sources[burst % placements];
    return timed_ns([&] {
      for (std::size_t i = 0; i < clones_per_burst; ++i) {
        const byre::Storage clone = source.lazy_clone();
        benchmark::DoNotOptimize(clone.data());
      }
    });
  });
}

}  // namespace

void add_clone_drop() {
  for (const std::size_t nbytes : all_sizes) {
    add({"clone_drop", nbytes}, "floor", run_floor);
    add_lazy<Word>(nbytes);
    add_lazy<SharedPtr>(nbytes);
    add({"clone_drop", nbytes}, "storage",
        [=](benchmark::State& state) { run_storage(state, nbytes); });
    add_eager(nbytes);
  }
}

}  // namespace byre_bench
