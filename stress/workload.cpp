// SPDX-License-Identifier: BSL-1.0
#include "workload.hpp"

#include <algorithm>
#include <vector>

#include "faults/faults.hpp"
#include "world/mixed.hpp"

namespace byre::stress {

std::span<const Workload> all_workloads() {
  static const std::vector<Workload> workloads{
      {"mixed", "every operation of Buffer and Storage, in a random mix", &run_mixed},
      {"faults", "the same, while allocations, copies and sinks fail and files are truncated",
       &run_faults},
  };
  return workloads;
}

const Workload* find_workload(std::string_view name) {
  const auto all = all_workloads();
  const auto found = std::ranges::find(all, name, &Workload::name);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace byre::stress
