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
  std::function<void(std::size_t number, bool well)> ended;
};

/// For each number up to `count`.
void run_apart(std::size_t count, unsigned at_once, const Pool& pool);

}  // namespace byre::verification
