// SPDX-License-Identifier: BSL-1.0
/// Work done in processes of their own, a few at a time: the checker leaks its stacks, and what a
/// mutant does to its process is nobody else's concern.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace byre::verification {

using WriteLine = std::function<void(const std::string&)>;

struct Pool {
  /// In a process of its own.
  std::function<void(std::size_t number, const WriteLine&)> work;
  /// Here: of each line it wrote, and of its end.
  std::function<void(std::size_t number, const std::string& line)> line;
  std::function<void(std::size_t number, int status)> ended;  ///< as waitpid tells it
  /// What one of them takes at most, before it is ended.
  std::function<unsigned(std::size_t number)> most_seconds = [](std::size_t) { return 3600U; };
};

/// Whether a process came to its own end.
bool ended_well(int status) noexcept;

/// For each number up to `count`.
void run_apart(std::size_t count, unsigned at_once, const Pool& pool);

}  // namespace byre::verification
