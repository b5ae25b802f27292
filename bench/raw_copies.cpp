// SPDX-License-Identifier: BSL-1.0
/// The floors under a write to shared bytes: copies by hand, without anything of byre. They compete
/// in the events of write_shared.
///
///   memcpy_warm  recycled: memcpy between two buffers that are both in use already, on huge pages
///                where there are any.
///   raw_*        fresh: pages from the system, and a copy into them. Timed is mapping, advice and copy, not
///                giving the pages back. The best of them is the floor.
#include "contenders.hpp"
#include "harness.hpp"

#include <sys/mman.h>
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>

namespace byre_bench {
namespace {

constexpr std::size_t huge = 2 * mib;
constexpr int populate_write = 23;  // MADV_POPULATE_WRITE, Linux 5.14; older headers lack it

/// How fresh pages are come by. `step`: bytes populated before they are copied to; 0: none are. `upwards`: the end
/// of a step first, so that its huge page is zeroed upwards; it is copied upwards too, in pieces.
struct CopyWay {
  const char* name;
  bool huge_pages;
  std::size_t step;
  bool upwards = false;
};

constexpr std::size_t everything = static_cast<std::size_t>(-1);
constexpr CopyWay copy_ways[] = {
    {"raw_small", false, 0},
    {"raw_small_populated", false, everything},
    {"raw_huge", true, 0},
    {"raw_huge_populated", true, everything},
    {"raw_huge_stepwise", true, huge},
    {"raw_huge_upwards", true, huge, true},
};

/// Fresh pages that start on a huge page if asked to.
class Pages {
 public:
  Pages(std::size_t nbytes, bool huge_pages) : length_(nbytes + (huge_pages ? huge : 0)) {
    base_ = ::mmap(nullptr, length_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base_ == MAP_FAILED) {
      throw std::bad_alloc();
    }
    const auto address = reinterpret_cast<std::uintptr_t>(base_);
    data_ = static_cast<std::byte*>(base_) + (huge_pages ? (huge - address % huge) % huge : 0);
    if (huge_pages) {
      ::madvise(data_, nbytes, MADV_HUGEPAGE);
    }
  }
  ~Pages() { ::munmap(base_, length_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::byte* data() const { return data_; }

 private:
  std::size_t length_;
  void* base_;
  std::byte* data_;
};

void copy_into(std::byte* to, const std::byte* from, std::size_t nbytes, const CopyWay& way) {
  const std::size_t step = way.step == 0 ? nbytes : std::min(way.step, nbytes);
  const std::size_t piece = way.upwards ? 128 * kib : step;
  for (std::size_t at = 0; at < nbytes; at += piece) {
    if (way.upwards && at % step == 0) {
      ::madvise(to + at + step - 4 * kib, 4 * kib, populate_write);
    }
    if (way.step != 0 && at % step == 0) {
      ::madvise(to + at, std::min(step, nbytes - at), populate_write);
    }
    std::memcpy(to + at, from + at, std::min(piece, nbytes - at));
  }
}

void run_raw(benchmark::State& state, std::size_t nbytes, CopyWay way) {
  const auto source = make_filled<Word>(nbytes, Memory::fresh);
  run_bursts(state, 1, [&](std::size_t burst) {
    std::optional<Pages> pages;
    return timed_ns([&] {
      pages.emplace(nbytes, way.huge_pages);
      copy_into(pages->data(), source.data(), nbytes, way);
      pages->data()[burst % nbytes] = std::byte{1};
      benchmark::DoNotOptimize(pages->data());
    });
  });
}

void run_warm(benchmark::State& state, std::size_t nbytes) {
  const auto source = make_filled<Word>(nbytes, Memory::recycled);
  auto target = make_filled<Word>(nbytes, Memory::recycled);
  std::byte* to = target.mutable_data();
  run_bursts(state, 1, [&](std::size_t burst) {
    return timed_ns([&] {
      std::memcpy(to, source.data(), nbytes);
      to[burst % nbytes] = std::byte{1};
      benchmark::DoNotOptimize(to);
    });
  });
}

}  // namespace

void add_raw_copies() {
  for (const std::size_t nbytes : {256 * kib, 16 * mib, 256 * mib}) {
    add({"write_shared", nbytes, Memory::recycled}, "memcpy_warm",
        [=](benchmark::State& state) { run_warm(state, nbytes); });
    for (const CopyWay& way : copy_ways) {
      if (!way.huge_pages || nbytes >= huge) {
        add({"write_shared", nbytes, Memory::fresh}, way.name,
            [=](benchmark::State& state) { run_raw(state, nbytes, way); });
      }
    }
  }
}

}  // namespace byre_bench
