// SPDX-License-Identifier: BSL-1.0
/// What all measures share: how they are named, how often they run, and how a burst is timed.
///
/// A measure is a series of bursts. Each burst is prepared untimed, then timed as a whole with the
/// cost of the clock taken off; the first is not counted. A benchmark's figure is the mean of the
/// middle half of its bursts, per operation (counter `ns`): bursts that lost their core do not move
/// it, and it is finer than the clock's steps.
#pragma once

#include "memory.hpp"

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace byre_bench {

inline constexpr std::size_t kib = std::size_t{1} << 10;
inline constexpr std::size_t mib = std::size_t{1} << 20;

enum class Effort { smoke, quick, full };

/// How this run was asked to be; set by main before anything is registered.
struct Settings {
  Effort effort = Effort::full;
  unsigned round = 0;                 ///< contenders take turns at going first, from round to round
  bool expect_one_copy_more = false;  ///< to show that a wrong count of copies fails the program
};
Settings& settings();

/// Makes the program end with `wrong_count_exit`, and says why.
void report_wrong_count(const std::string& text);
bool a_count_was_wrong();
inline constexpr int wrong_count_exit = 3;

/// What is measured, on which size and memory. Those who compete in it run one after the other.
struct Event {
  std::string operation;
  std::size_t nbytes;
  Memory memory = Memory::recycled;
};

/// "64B", "4KiB", "256MiB".
std::string size_name(std::size_t nbytes);

/// Adds a contender, if the effort and the machine have room for it. Its benchmark is named
/// operation/contender/size/memory. Malloc is pinned to the event's memory before it runs.
void add(const Event& event, const std::string& contender,
         std::function<void(benchmark::State&)> run);

/// Gives everything added to Google Benchmark. Contenders of an event are turned by the round.
void register_all();

/// The sizes that operations which touch all bytes are measured at.
inline constexpr std::size_t all_sizes[] = {64, 4 * kib, 256 * kib, 16 * mib, 256 * mib};

/// The mean of the middle half; 0 of nothing.
double middle_mean(std::vector<double> values);

/// Nanoseconds that `work` takes, without what reading the clock costs.
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

void add_access();
void add_allocations();
void add_clone_drop();
void add_functionalize();
void add_memory_per_clone();
void add_pages();
void add_parallel_writers();
void add_raw_copies();
void add_shared_writes();
void add_steals();
void add_tensor_elements();
void add_tensor_views();
void add_tiles();
void add_tracked_access();
void add_writers_at_once();

}  // namespace byre_bench
