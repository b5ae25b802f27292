// SPDX-License-Identifier: BSL-1.0
/// The benchmark harness: names, repetitions, memory and timing of the benchmarks.
///
/// A benchmark is a series of bursts. The preparation of a burst is not timed; the burst is timed
/// as a whole, minus the cost of reading the clock. The first burst is not counted. A benchmark's
/// figure is the mean of the middle half of its bursts, per operation (counter `ns`). Bursts whose
/// thread lost its core do not affect the figure, and the figure is finer than the clock's
/// resolution.
#pragma once

#include <byre/memory/allocator.hpp>

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace byre_bench {

inline constexpr std::size_t kib = std::size_t{1} << 10;
inline constexpr std::size_t mib = std::size_t{1} << 20;

/// The sizes of operations that touch all bytes.
inline constexpr std::size_t all_sizes[] = {64, 4 * kib, 256 * kib, 16 * mib, 256 * mib};

/// The memory that a benchmark uses. Fresh pages cost more than the copy that fills them, so no
/// figure mixes fresh and recycled memory.
enum class Memory {
  recycled,  ///< reused: the default pool, and a malloc that never returns memory to the system
  fresh,     ///< new pages each time: a pool with a limit of 0, and a malloc that maps large blocks
};

/// For recycled memory, the default pool; for fresh memory, a pool with a limit of 0 bytes.
byre::Allocator& allocator_for(Memory memory);

/// Settings of this run. main() sets them before it adds benchmarks.
struct Settings {
  bool is_smoke = false;  ///< run three bursts, and only benchmarks up to 4 KiB
  unsigned round = 0;     ///< number of the round, which decides the first contender
  /// Expect one copy too many, to test that the check of the count fails.
  bool expect_one_copy_more = false;
};
Settings& settings();

/// Prints `text`, and makes the program exit with `wrong_count_exit` at its end.
void report_wrong_count(const std::string& text);
bool a_count_was_wrong();
inline constexpr int wrong_count_exit = 3;

/// A measured operation with its size and memory. Its contenders run one after the other.
struct Event {
  std::string operation;
  std::size_t nbytes;
  Memory memory = Memory::recycled;
};

/// Adds a contender, unless its size exceeds this run's limit or the machine's memory. Its
/// benchmark is named operation/contender/size/memory. Before it runs, malloc's mmap threshold is
/// fixed for the event's memory: by default, malloc adapts the threshold to the largest freed
/// block, which would change the figures.
void add(const Event& event, const std::string& contender,
         std::function<void(benchmark::State&)> run);

/// Registers all benchmarks with Google Benchmark. The round rotates the contenders of each event.
void register_all();

/// The mean of the middle half; 0 if `values` is empty.
double middle_mean(std::vector<double> values);

double clock_cost_ns();

/// Nanoseconds that `work` takes, without the cost of reading the clock.
template <class Work>
double timed_ns(Work&& work) {
  benchmark::ClobberMemory();
  const auto start = std::chrono::steady_clock::now();
  work();
  benchmark::ClobberMemory();
  const auto end = std::chrono::steady_clock::now();
  const double ns = std::chrono::duration<double, std::nano>(end - start).count();
  return ns > clock_cost_ns() ? ns - clock_cost_ns() : 0.0;
}

/// Runs `burst(index)` once as a warm-up and once per iteration of `state`. `burst` returns the
/// time of `operations` operations in nanoseconds.
void run_bursts(benchmark::State& state, std::size_t operations,
                const std::function<double(std::size_t)>& burst);

/// Runs bursts of `times` calls of `operation(number)` each, for `number` from 0 on.
template <class Operation>
void run_repeated(benchmark::State& state, std::size_t times, Operation operation) {
  run_bursts(state, times, [&](std::size_t) {
    return timed_ns([&] {
      for (std::size_t number = 0; number < times; ++number) {
        operation(number);
      }
    });
  });
}

/// Sets the counter `bytes` to the memory that `work` allocates with malloc and does not free,
/// divided by `operations`. The reported time is meaningless.
void report_memory(benchmark::State& state, std::size_t operations,
                   const std::function<void()>& work);

void add_unique_data();
void add_shared_data();
void add_writers();
void add_atomic_places();
void add_seams();
void add_c_interface();
void add_pages_and_tiles();
void add_tensors();
void add_functionalize();

}  // namespace byre_bench
