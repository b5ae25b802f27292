// SPDX-License-Identifier: BSL-1.0
/// The resources of the process, to be compared before and after: memory, mappings, open files, threads.
/// Exact while other threads are idle.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace byre::stress {

/// 0 where the system does not say.
struct Resources {
  std::uint64_t resident_nbytes = 0;
  std::uint64_t heap_nbytes = 0;  ///< allocated by malloc
  std::uint64_t mappings = 0;
  std::uint64_t files = 0;
  std::uint64_t threads = 0;
};

/// Makes malloc return freed memory. Its thresholds grow with the largest block so far; each thread's arena
/// would keep up to 64 MiB that no trimming reaches. To be called before threads start.
void pin_malloc_thresholds();

/// First trims the default pool, this thread's cache and malloc.
Resources resources_after_trimming();

/// False under a sanitizer, which keeps freed memory.
bool can_judge_growth() noexcept;

/// The resources that grew by more than is allowed, one line each: 1 MiB of the heap, for what libraries
/// keep; 16 MiB resident, for the ends of malloc's arenas; as many mappings as arenas may add; no file and
/// no thread.
std::vector<std::string> growth(const Resources& before, const Resources& after);

}  // namespace byre::stress
