// SPDX-License-Identifier: BSL-1.0
#include "harness.hpp"

#include <byre/memory/pages.hpp>
#include <byre/memory/pool.hpp>

#include <malloc.h>
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <utility>
#include <vector>

namespace byre_bench {
namespace {

struct Contender {
  std::string name;
  std::size_t nbytes;
  Memory memory;
  std::function<void(benchmark::State&)> run;
};

struct Group {
  std::string event;
  std::vector<Contender> contenders;
};

std::vector<Group>& groups() {
  static std::vector<Group> all;
  return all;
}

bool wrong_count = false;

bool has_room_for(std::size_t nbytes) {
  constexpr std::size_t most_buffers_at_once = 12;
  return nbytes <=
         (settings().is_smoke ? 4 * kib : byre::usable_memory_nbytes() / most_buffers_at_once);
}

/// The number of bursts: enough for a median, in some tens of milliseconds per benchmark.
benchmark::IterationCount bursts_at(std::size_t nbytes) {
  return settings().is_smoke   ? 3
         : nbytes <= 4 * kib   ? 300
         : nbytes <= 256 * kib ? 100
         : nbytes <= 16 * mib  ? 9
                               : 3;
}

void pin_malloc([[maybe_unused]] Memory memory) {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 128 << 10);  // setting the threshold also stops its adaptation
  mallopt(M_TRIM_THRESHOLD, -1);
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_MAX, memory == Memory::fresh ? 65536 : 0);
  if (memory == Memory::fresh) {
    malloc_trim(0);  // otherwise large blocks would come from recycled memory
  }
#endif
}

/// Returns -1 if the C library does not report the bytes in use.
long long malloc_nbytes_in_use() {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  const auto info = mallinfo2();
  return static_cast<long long>(info.uordblks + info.hblkhd);
#else
  return -1;
#endif
}

std::string size_name(std::size_t nbytes) {
  return nbytes >= 1024 * mib ? std::to_string(nbytes / (1024 * mib)) + "GiB"
         : nbytes >= mib      ? std::to_string(nbytes / mib) + "MiB"
         : nbytes >= kib      ? std::to_string(nbytes / kib) + "KiB"
                              : std::to_string(nbytes) + "B";
}

}  // namespace

byre::Allocator& allocator_for(Memory memory) {
  static auto& fresh = *new byre::RecyclingPool(0);
  return memory == Memory::fresh ? static_cast<byre::Allocator&>(fresh) : byre::default_pool();
}

Settings& settings() {
  static Settings current;
  return current;
}

void report_wrong_count(const std::string& text) {
  wrong_count = true;
  std::fprintf(stderr, "byre-bench: wrong count of copies: %s\n", text.c_str());
}

bool a_count_was_wrong() {
  return wrong_count;
}

double middle_mean(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto quarter = static_cast<std::ptrdiff_t>(values.size() / 4);
  const auto begin = values.begin() + quarter;
  const auto end = values.end() - quarter;
  return begin == end ? 0.0 : std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
}

void add(const Event& event, const std::string& contender,
         std::function<void(benchmark::State&)> run) {
  if (!has_room_for(event.nbytes)) {
    return;
  }
  const std::string where =
      "/" + size_name(event.nbytes) + (event.memory == Memory::fresh ? "/fresh" : "/recycled");
  const std::string key = event.operation + where;
  auto group = std::find_if(groups().begin(), groups().end(),
                            [&](const Group& other) { return other.event == key; });
  if (group == groups().end()) {
    group = groups().insert(group, {key, {}});
  }
  group->contenders.push_back(
      {event.operation + "/" + contender + where, event.nbytes, event.memory, std::move(run)});
}

void register_all() {
  for (Group& group : groups()) {
    auto& contenders = group.contenders;
    const auto turn = settings().round % contenders.size();
    std::rotate(contenders.begin(), contenders.begin() + static_cast<std::ptrdiff_t>(turn),
                contenders.end());
    for (const Contender& contender : contenders) {
      benchmark::RegisterBenchmark(
          contender.name.c_str(),
          [run = contender.run, memory = contender.memory](benchmark::State& state) {
            pin_malloc(memory);
            run(state);
          })
          ->UseManualTime()
          ->Iterations(bursts_at(contender.nbytes));
    }
  }
}

double clock_cost_ns() {
  static const double cost = [] {
    std::vector<double> gaps;
    for (int i = 0; i < 1000; ++i) {
      const auto start = std::chrono::steady_clock::now();
      benchmark::ClobberMemory();
      const auto end = std::chrono::steady_clock::now();
      gaps.push_back(std::chrono::duration<double, std::nano>(end - start).count());
    }
    return middle_mean(std::move(gaps));
  }();
  return cost;
}

void run_bursts(benchmark::State& state, std::size_t operations,
                const std::function<double(std::size_t)>& burst) {
  std::vector<double> per_operation;
  std::size_t index = 0;
  burst(index++);
  for ([[maybe_unused]] auto iteration : state) {
    const double ns = burst(index++) / static_cast<double>(operations);
    per_operation.push_back(ns);
    state.SetIterationTime(ns * 1e-9);
  }
  state.counters["ns"] = middle_mean(std::move(per_operation));
}

void report_memory(benchmark::State& state, std::size_t operations,
                   const std::function<void()>& work) {
  const long long before = malloc_nbytes_in_use();
  if (before < 0) {
    state.SkipWithError(
        "cannot measure memory: this C library does not report allocated heap bytes");
    return;
  }
  work();
  // At least 1, because ratios and logarithms of the figure are taken.
  const auto kept = std::max(1LL, malloc_nbytes_in_use() - before);
  state.counters["bytes"] = static_cast<double>(kept) / static_cast<double>(operations);
  for ([[maybe_unused]] auto iteration : state) {
    state.SetIterationTime(1e-9);
  }
}

}  // namespace byre_bench
