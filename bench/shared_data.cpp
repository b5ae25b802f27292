// SPDX-License-Identifier: BSL-1.0
/// Data that several owners share.
///
///   clone_drop    Copies a handle, makes the compiler compute the data pointer of the copy, and
///                 destroys the copy. The floor is the unavoidable minimum: one relaxed add and one
///                 acq_rel subtraction on a cache line that no other thread uses.
///   write_shared  Up to 4 KiB, a batch of clones is made untimed; the write to each clone and the
///                 release of its copy are timed, so that malloc recycles as it does in a program.
///                 Above 4 KiB, one clone is made untimed and only its write is timed.
///
/// A write calls mutable_data() and writes one byte. Its floors are copies by hand, without byre:
///
///   memcpy_warm  recycled: memcpy between two buffers that are already in use, in huge pages if
///                the system has any.
///   raw_*        fresh: pages from the system and a copy into them. Mapping, advice and copy are
///                timed, unmapping is not. The fastest raw_* benchmark is the floor.
#include "contenders.hpp"
#include "harness.hpp"

#include <sys/mman.h>
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <optional>
#include <vector>

namespace byre_bench {
namespace {

constexpr std::size_t clones_per_burst = 1000;
constexpr std::size_t batch = 100;

/// Objects at different addresses. Bursts alternate among them, because the cost depends on the
/// address.
template <class Make>
auto make_at_places(std::size_t count, Make make) {
  std::deque<decltype(make())> things;
  std::vector<std::vector<std::byte>> gaps;
  while (things.size() != count) {
    gaps.emplace_back(64 + 80 * things.size());
    things.push_back(make());
  }
  return things;
}

template <class Contender>
void add_clone_drop(std::size_t nbytes, bool is_eager = false) {
  add({"clone_drop", nbytes}, Contender::name, [=](benchmark::State& state) {
    const bool is_large = is_eager && nbytes > 4 * kib;
    const std::size_t times = is_large ? 1 : is_eager ? 200 : clones_per_burst;
    const auto sources = make_at_places(is_large ? 1 : 8, [=] {
      return is_large ? make_filled<Contender>(nbytes, Memory::recycled)
                      : Contender::make(nbytes, Memory::recycled);
    });
    run_bursts(state, times, [&](std::size_t burst) {
      const auto& source = sources[burst % sources.size()];
      return timed_ns([&] {
        for (std::size_t i = 0; i < times; ++i) {
          const typename Contender::Bytes clone(source);
          benchmark::DoNotOptimize(clone.data());
        }
      });
    });
  });
}

struct alignas(64) CountedLine {
  std::atomic<std::size_t> count{1};
  void* data = this;
};

void run_floor(benchmark::State& state) {
  const auto lines = make_at_places(8, [] { return std::make_unique<CountedLine>(); });
  run_bursts(state, clones_per_burst, [&](std::size_t burst) {
    CountedLine& line = *lines[burst % lines.size()];
    return timed_ns([&] {
      for (std::size_t i = 0; i < clones_per_burst; ++i) {
        line.count.fetch_add(1, std::memory_order::relaxed);
        benchmark::DoNotOptimize(line.data);
        if (line.count.fetch_sub(1, std::memory_order::acq_rel) == 1) {
          std::abort();
        }
      }
    });
  });
}

template <class Bytes>
void write_one_byte(Bytes& bytes, std::size_t index) {
  std::byte* data = bytes.mutable_data();
  data[index] = std::byte{1};
  benchmark::DoNotOptimize(data);
}

template <class Contender>
void run_batched_writes(benchmark::State& state, std::size_t nbytes) {
  using Bytes = typename Contender::Bytes;
  const Bytes source = make_filled<Contender>(nbytes, Memory::recycled);
  std::vector<std::optional<Bytes>> clones(batch);
  run_bursts(state, batch, [&](std::size_t burst) {
    for (auto& clone : clones) {
      clone.emplace(source);
    }
    return timed_ns([&] {
      for (auto& clone : clones) {
        write_one_byte(*clone, burst % nbytes);
        clone.reset();
      }
    });
  });
}

template <class Contender>
void run_single_writes(benchmark::State& state, std::size_t nbytes, Memory memory) {
  using Bytes = typename Contender::Bytes;
  const Bytes source = make_filled<Contender>(nbytes, memory);
  run_bursts(state, 1, [&](std::size_t burst) {
    Bytes clone(source);
    benchmark::DoNotOptimize(clone.data());
    return timed_ns([&] { write_one_byte(clone, burst % nbytes); });
  });
}

template <class Contender>
void add_write_shared(std::size_t nbytes) {
  if (nbytes <= 4 * kib) {  // malloc recycles such small blocks with any setting
    add({"write_shared", nbytes}, Contender::name,
        [=](benchmark::State& state) { run_batched_writes<Contender>(state, nbytes); });
    return;
  }
  for (const Memory memory : {Memory::recycled, Memory::fresh}) {
    add({"write_shared", nbytes, memory}, Contender::name,
        [=](benchmark::State& state) { run_single_writes<Contender>(state, nbytes, memory); });
  }
}

constexpr std::size_t huge = 2 * mib;
constexpr int populate_write = 23;  // MADV_POPULATE_WRITE, Linux 5.14; older headers lack it

/// A way to copy into fresh pages. `step`: number of bytes that are populated (allocated in
/// advance) before bytes are copied to them, or 0 to populate none. `upwards`: populates the end of
/// a step first, so that the system zeroes the huge page upwards, and copies the step upwards in
/// pieces.
struct CopyWay {
  const char* name;
  bool huge_pages;
  std::size_t step;
  bool upwards = false;
};

constexpr std::size_t all_at_once = static_cast<std::size_t>(-1);
constexpr CopyWay copy_ways[] = {
    {"raw_small", false, 0},
    {"raw_small_populated", false, all_at_once},
    {"raw_huge", true, 0},
    {"raw_huge_populated", true, all_at_once},
    {"raw_huge_stepwise", true, huge},
    {"raw_huge_upwards", true, huge, true},
};

/// Fresh pages. They start at a huge page if `huge_pages` is true.
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
  const auto source = make_filled<Byre>(nbytes, Memory::fresh);
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
  const auto source = make_filled<Byre>(nbytes, Memory::recycled);
  auto target = make_filled<Byre>(nbytes, Memory::recycled);
  std::byte* to = target.mutable_data();
  run_bursts(state, 1, [&](std::size_t burst) {
    return timed_ns([&] {
      std::memcpy(to, source.data(), nbytes);
      to[burst % nbytes] = std::byte{1};
      benchmark::DoNotOptimize(to);
    });
  });
}

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

}  // namespace

void add_shared_data() {
  for (const std::size_t nbytes : all_sizes) {
    add({"clone_drop", nbytes}, "floor", run_floor);
    add_clone_drop<Byre>(nbytes);
    add_clone_drop<SharedPtr>(nbytes);
    add_clone_drop<Eager>(nbytes, true);
    add_write_shared<Byre>(nbytes);
    add_write_shared<SharedPtr>(nbytes);
  }
  add_raw_copies();
}

}  // namespace byre_bench
