// SPDX-License-Identifier: BSL-1.0
#include "program.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace byre::verification {
namespace {

constexpr std::string_view idle = "idle";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

Operation parse_operation(std::string_view name) {
  const auto found = std::find(operation_names.begin(), operation_names.end(), name);
  if (found == operation_names.end()) {
    std::string known;
    for (const std::string_view each : operation_names) {
      known.append(each).append(", ");
    }
    throw std::invalid_argument("there is no operation '" + std::string(name) + "'; there are " +
                                known + "and idle for a thread that does nothing");
  }
  return static_cast<Operation>(found - operation_names.begin());
}

Steps parse_steps(std::string_view text) {
  Steps steps;
  if (text == idle) {
    return steps;
  }
  for (const std::string_view name : split(text, ';')) {
    if (!steps.empty() && steps.back() == Operation::drop) {
      throw std::invalid_argument("nothing follows a drop");
    }
    steps.push_back(parse_operation(name));
  }
  if (steps.size() > Program::most_steps) {
    throw std::invalid_argument("a thread has at most 2 operations");
  }
  return steps;
}

}  // namespace

std::string Program::name() const {
  std::string name;
  for (const Steps& steps : threads) {
    name += &steps == &threads.front() ? "" : " | ";
    name += steps.empty() ? idle : "";
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

Program parse_program(std::string_view text) {
  Program program;
  for (const std::string_view thread : split(text, '|')) {
    program.threads.push_back(parse_steps(thread));
  }
  if (program.threads.size() < 2 || program.threads.size() > Program::most_threads) {
    throw std::invalid_argument("a program has 2 or 3 threads, with a | between, not " +
                                std::to_string(program.threads.size()));
  }
  return program;
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
