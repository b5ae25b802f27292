// SPDX-License-Identifier: BSL-1.0
/// What the process holds, to be compared before and after: memory, mappings, open files, threads.
/// Thread-safe; exact while other threads do nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace byre::stress {

/// 0 where the system does not tell.
struct Resources {
  std::uint64_t resident_nbytes = 0;
  std::uint64_t heap_nbytes = 0;  ///< that malloc has given out
  std::uint64_t mappings = 0;
  std::uint64_t files = 0;
  std::uint64_t threads = 0;
};

/// Has malloc give back what is freed: its thresholds would grow with the largest block so far, and
/// every thread's arena then keep up to 64 MiB that no trimming reaches. To be called before threads.
void pin_malloc_thresholds();

/// Gives back what is idle first: the default pool's blocks, this thread's small blocks, malloc's
/// free memory.
Resources resources_after_trimming();

/// The most that ever was resident.
std::uint64_t peak_resident_nbytes();

/// Whether growth can be judged: a sanitizer keeps what is freed.
bool can_judge_growth() noexcept;

/// What there is too much of, one line each. Of the heap, a MiB is allowed for what libraries keep;
/// of resident memory, which includes the ends of malloc's arenas, 16 MiB; of mappings, as many as
/// these may add; of files and threads, none.
std::vector<std::string> growth(const Resources& before, const Resources& after);

}  // namespace byre::stress
