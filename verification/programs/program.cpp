// SPDX-License-Identifier: BSL-1.0
#include "program.hpp"

#include <algorithm>
#include <numeric>

namespace byre::verification {
std::string Program::name() const {
  std::string name;
  for (const Steps& steps : threads) {
    name += &steps == &threads.front() ? "" : " | ";
    name += steps.empty() ? "idle" : "";
    for (std::size_t i = 0; i < steps.size(); ++i) {
      name += i == 0 ? "" : "; ";
      name += operation_names[static_cast<std::size_t>(steps[i])];
    }
  }
  return name;
}

std::size_t Program::step_count() const {
  return std::accumulate(threads.begin(), threads.end(), std::size_t{0},
                         [](std::size_t sum, const Steps& steps) { return sum + steps.size(); });
}

std::vector<Steps> all_steps(std::size_t most) {
  std::vector<Steps> all(1);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Steps begun = all[i];  // a copy, since `all` grows
    if (begun.size() == most || (!begun.empty() && begun.back() == Operation::drop)) {
      continue;
    }
    for (std::size_t next = 0; next < operation_names.size(); ++next) {
      all.push_back(begun);
      all.back().push_back(static_cast<Operation>(next));
    }
  }
  return all;
}

std::vector<Program> all_programs(std::size_t threads, std::span<const Steps> steps) {
  if (threads == 0) {
    return {Program()};
  }
  std::vector<Program> all;
  for (std::size_t first = 0; first < steps.size(); ++first) {
    // Those after it choose from there on, which leaves one order of each choice.
    for (Program& rest : all_programs(threads - 1, steps.subspan(first))) {
      rest.threads.insert(rest.threads.begin(), steps[first]);
      all.push_back(std::move(rest));
    }
  }
  return all;
}

}  // namespace byre::verification
