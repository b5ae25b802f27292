// SPDX-License-Identifier: BSL-1.0
/// Bytes that several owners share.
///
///   clone_drop    Copies a handle, shows the data pointer of the copy to the compiler, and destroys the
///                 copy. The floor does what cannot be left out: one relaxed add and one acq_rel subtract
///                 on a line that no other thread touches.
///   write_shared  Up to 4 KiB: a batch of clones is made untimed; timed is each clone's write and the
///                 release of its copy, so that malloc recycles as it does in a program. Above: one clone,
///                 made untimed; timed is its write alone.
///
/// A write gets the pointer to write and touches one byte.
#include "contenders.hpp"
#include "harness.hpp"

#include <atomic>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace byre_bench {
namespace {

constexpr std::size_t clones_per_burst = 1000;
constexpr std::size_t batch = 100;

/// Objects at different places, for bursts to take turns on: the cost of a place depends on its address.
template <class Make>
auto make_at_places(std::size_t count, Make make) {
  std::deque<decltype(make())> things;
  std::vector<std::vector<std::byte>> gaps;
  while (things.size() != count) {
    gaps.emplace_back(64 + 80 * things.size());
    things.push_back(make());
  }
  return things;
}

template <class Contender>
void add_clone_drop(std::size_t nbytes, bool is_eager = false) {
  add({"clone_drop", nbytes}, Contender::name, [=](benchmark::State& state) {
    const bool is_large = is_eager && nbytes > 4 * kib;
    const std::size_t times = is_large ? 1 : is_eager ? 200 : clones_per_burst;
    const auto sources = make_at_places(is_large ? 1 : 8, [=] {
      return is_large ? make_filled<Contender>(nbytes, Memory::recycled)
                      : Contender::make(nbytes, Memory::recycled);
    });
    run_bursts(state, times, [&](std::size_t burst) {
      const auto& source = sources[burst % sources.size()];
      return timed_ns([&] {
        for (std::size_t i = 0; i < times; ++i) {
          const typename Contender::Bytes clone(source);
          benchmark::DoNotOptimize(clone.data());
        }
      });
    });
  });
}

struct alignas(64) CountedLine {
  std::atomic<std::size_t> count{1};
  void* data = this;
};

void run_floor(benchmark::State& state) {
  const auto lines = make_at_places(8, [] { return std::make_unique<CountedLine>(); });
  run_bursts(state, clones_per_burst, [&](std::size_t burst) {
    CountedLine& line = *lines[burst % lines.size()];
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

template <class Bytes>
void write_one_byte(Bytes& bytes, std::size_t index) {
  std::byte* data = bytes.mutable_data();
  data[index] = std::byte{1};
  benchmark::DoNotOptimize(data);
}

template <class Contender>
void run_batched_writes(benchmark::State& state, std::size_t nbytes) {
  using Bytes = typename Contender::Bytes;
  const Bytes source = make_filled<Contender>(nbytes, Memory::recycled);
  std::vector<std::optional<Bytes>> clones(batch);
  run_bursts(state, batch, [&](std::size_t burst) {
    for (auto& clone : clones) {
      clone.emplace(source);
    }
    return timed_ns([&] {
      for (auto& clone : clones) {
        write_one_byte(*clone, burst % nbytes);
        clone.reset();
      }
    });
  });
}

template <class Contender>
void run_single_writes(benchmark::State& state, std::size_t nbytes, Memory memory) {
  using Bytes = typename Contender::Bytes;
  const Bytes source = make_filled<Contender>(nbytes, memory);
  run_bursts(state, 1, [&](std::size_t burst) {
    Bytes clone(source);
    benchmark::DoNotOptimize(clone.data());
    return timed_ns([&] { write_one_byte(clone, burst % nbytes); });
  });
}

template <class Contender>
void add_write_shared(std::size_t nbytes) {
  if (nbytes <= 4 * kib) {  // malloc recycles blocks that small, however it is pinned
    add({"write_shared", nbytes}, Contender::name,
        [=](benchmark::State& state) { run_batched_writes<Contender>(state, nbytes); });
    return;
  }
  for (const Memory memory : {Memory::recycled, Memory::fresh}) {
    add({"write_shared", nbytes, memory}, Contender::name,
        [=](benchmark::State& state) { run_single_writes<Contender>(state, nbytes, memory); });
  }
}

}  // namespace

void add_shared_bytes() {
  for (const std::size_t nbytes : all_sizes) {
    add({"clone_drop", nbytes}, "floor", run_floor);
    add_clone_drop<Word>(nbytes);
    add_clone_drop<SharedPtr>(nbytes);
    add_clone_drop<Eager>(nbytes, true);
    add_write_shared<Word>(nbytes);
    add_write_shared<SharedPtr>(nbytes);
  }
}

}  // namespace byre_bench
