// SPDX-License-Identifier: BSL-1.0
#include "memory.hpp"

#include <byre/memory/pages.hpp>
#include <byre/memory/pool.hpp>

#include <malloc.h>

namespace byre_bench {
namespace {

constexpr int mmap_threshold = 128 << 10;
constexpr int mmap_max = 65536;
constexpr int never_trim = -1;

}  // namespace

const char* to_string(Memory memory) {
  return memory == Memory::fresh ? "fresh" : "recycled";
}

byre::Allocator& allocator_for(Memory memory) {
  static auto& fresh = *new byre::RecyclingPool(0);
  return memory == Memory::fresh ? static_cast<byre::Allocator&>(fresh) : byre::default_pool();
}

void pin_malloc([[maybe_unused]] Memory memory) {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, mmap_threshold);  // setting it also ends its adaptation
  mallopt(M_TRIM_THRESHOLD, never_trim);
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_MAX, memory == Memory::fresh ? mmap_max : 0);
  if (memory == Memory::fresh) {
    malloc_trim(0);  // or large blocks would come from what was kept for recycling
  }
#endif
}

std::string malloc_settings() {
#if defined(__GLIBC__)
  return "fresh: M_MMAP_THRESHOLD=" + std::to_string(mmap_threshold) +
         " M_MMAP_MAX=" + std::to_string(mmap_max) +
         "; recycled: M_MMAP_MAX=0; both: M_TRIM_THRESHOLD=-1 M_ARENA_MAX=1";
#else
  return "not pinned";
#endif
}

long long malloc_nbytes_in_use() {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  const auto info = mallinfo2();
  return static_cast<long long>(info.uordblks + info.hblkhd);
#else
  return -1;
#endif
}

bool has_room_for(std::size_t nbytes) {
  constexpr std::size_t most_buffers_at_once = 12;
  return nbytes <= byre::usable_memory_nbytes() / most_buffers_at_once;
}

}  // namespace byre_bench
