// SPDX-License-Identifier: BSL-1.0
#include "harness.hpp"

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

std::size_t largest_size() {
  switch (settings().effort) {
    case Effort::smoke:
      return 4 * kib;
    case Effort::quick:
      return 16 * mib;
    case Effort::full:
      return 1024 * mib;
  }
  return 0;
}

/// So many that a benchmark takes some tens of milliseconds, and not fewer than a median needs.
benchmark::IterationCount bursts_at(std::size_t nbytes) {
  const benchmark::IterationCount bursts = nbytes <= 4 * kib     ? 300
                                           : nbytes <= 256 * kib ? 100
                                           : nbytes <= 16 * mib  ? 9
                                                                 : 3;
  switch (settings().effort) {
    case Effort::smoke:
      return 3;
    case Effort::quick:
      return std::max<benchmark::IterationCount>(bursts / 3, 3);
    case Effort::full:
      return bursts;
  }
  return bursts;
}

}  // namespace

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

std::string size_name(std::size_t nbytes) {
  return nbytes >= 1024 * mib ? std::to_string(nbytes / (1024 * mib)) + "GiB"
         : nbytes >= mib      ? std::to_string(nbytes / mib) + "MiB"
         : nbytes >= kib      ? std::to_string(nbytes / kib) + "KiB"
                              : std::to_string(nbytes) + "B";
}

void add(const Event& event, const std::string& contender,
         std::function<void(benchmark::State&)> run) {
  if (event.nbytes > largest_size() || !has_room_for(event.nbytes)) {
    return;
  }
  const std::string where = "/" + size_name(event.nbytes) + "/" + to_string(event.memory);
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

}  // namespace byre_bench
