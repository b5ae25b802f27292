// SPDX-License-Identifier: BSL-1.0
/// How benchmarks are named, how often they run, which memory they run on, and how a burst is timed.
///
/// A benchmark is a series of bursts. Each burst is prepared untimed, then timed as a whole with the
/// cost of the clock taken off; the first is not counted. A benchmark's figure is the mean of the
/// middle half of its bursts, per operation (counter `ns`): bursts that lost their core do not move
/// it, and it is finer than the clock's steps.
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

/// Fresh pages cost more than the copy that fills them, so no figure mixes fresh and recycled memory.
enum class Memory {
  recycled,  ///< used before: the default pool, and a malloc that keeps all it ever had
  fresh,  ///< new pages each time: a pool that keeps nothing, and a malloc that maps large blocks
};

/// The default pool, or a pool with a limit of 0 bytes.
byre::Allocator& allocator_for(Memory memory);

/// Settings of this run; main sets them before it adds benchmarks.
struct Settings {
  bool is_smoke = false;              ///< three bursts of each benchmark up to 4 KiB
  unsigned round = 0;                 ///< contenders take turns at going first, from round to round
  bool expect_one_copy_more = false;  ///< to show that a wrong count of copies fails the program
};
Settings& settings();

/// Says why, and makes the program end with `wrong_count_exit`.
void report_wrong_count(const std::string& text);
bool a_count_was_wrong();
inline constexpr int wrong_count_exit = 3;

/// The operation that is measured, its size and its memory. Its contenders run one after the other.
struct Event {
  std::string operation;
  std::size_t nbytes;
  Memory memory = Memory::recycled;
};

/// Adds a contender, if this run and the machine have room for it. Its benchmark is named
/// operation/contender/size/memory. Malloc is pinned to the event's memory before it runs: left
/// alone, its mmap threshold follows the largest block freed so far, and so would the figures.
void add(const Event& event, const std::string& contender,
         std::function<void(benchmark::State&)> run);

/// Gives all benchmarks to Google Benchmark. The round turns the contenders of each event.
void register_all();

/// The mean of the middle half; 0 if `values` is empty.
double middle_mean(std::vector<double> values);

/// Nanoseconds that `work` takes, without the cost of reading the clock.
double clock_cost_ns();
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

/// Runs `burst(index)`, which returns its time in nanoseconds for `operations`, once per iteration
/// of `state` and once before.
void run_bursts(benchmark::State& state, std::size_t operations,
                const std::function<double(std::size_t)>& burst);

/// Bursts of `times` calls of `operation(number)`.
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

/// Sets the counter `bytes` to the memory that malloc hands out while `work` runs, and does not get back,
/// divided by `operations`. The time means nothing.
void report_memory(benchmark::State& state, std::size_t operations,
                   const std::function<void()>& work);

void add_own_bytes();
void add_shared_bytes();
void add_writers();
void add_parts();
void add_tensors();
void add_functionalize();

}  // namespace byre_bench
