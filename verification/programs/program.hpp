// SPDX-License-Identifier: BSL-1.0
/// Programs as data: what each of a few threads does, in order, with a buffer of its own that shares
/// its data with those of the others from the start. And all of them that are small, as
/// scenarios: one for each family of them, and any one by itself.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../scenario.hpp"

namespace byre::verification {

enum class Operation : std::uint8_t {
  read,
  write,
  write_failing,  ///< a write that is out of memory should it need some
  clone_keep,     ///< a lazy clone, kept to the end
  clone_drop,
  clone_write,  ///< writes the clone, and drops it
  drop,         ///< its own buffer; the last thing a thread does
};

inline constexpr std::array<std::string_view, 7> operation_names{
    "read", "write", "write-failing", "clone-keep", "clone-drop", "clone-write", "drop"};

/// What one thread does; nothing: it owns, to the end.
using Steps = std::vector<Operation>;

struct Program {
  static constexpr std::size_t most_threads = 3;
  static constexpr std::size_t most_steps = 2;

  std::vector<Steps> threads;

  /// "write; drop | clone-write".
  std::string name() const;
  std::size_t step_count() const;  ///< of all threads
};

/// Everything one thread can do in up to `most` operations, nothing at all included. Nothing
/// follows a drop: an empty buffer has no data to share.
std::vector<Steps> all_steps(std::size_t most);

/// Every choice of one of `steps` for each of `threads` threads. Threads that change places are the
/// same program, and only one of those is listed.
std::vector<Program> all_programs(std::size_t threads, std::span<const Steps> steps);

/// One program by its name, "write; drop | clone-write", as a scenario of that name; or null.
const Scenario* find_program(const std::string& name);

}  // namespace byre::verification
