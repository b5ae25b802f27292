// SPDX-License-Identifier: BSL-1.0
/// The threads that serve branches, each its own part of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace examples::branching_cache {

/// Some of all branches, by number.
struct Part {
  std::size_t begin;
  std::size_t end;
};

struct Spent {
  std::int64_t wall_ns;       ///< from when the first thread began to when the last one ended
  std::int64_t processor_ns;  ///< of all threads, the system's work for them included
};

/// Calls `work(part)` on `threads` threads at once, and waits. Throws what one threw, and what starting threads
/// throws.
Spent on_threads(std::size_t threads, std::size_t branches, const std::function<void(Part)>& work);

}  // namespace examples::branching_cache
