// SPDX-License-Identifier: BSL-1.0
/// The operations of the storage core that compare_revisions.py compares. The program times each
/// operation in bursts and prints a line with its name and the nanoseconds of the fastest burst.
/// With the argument `recording`, each burst is recorded. With `tagged`, all data has a tag. With
/// `budgeted`, all data counts in a budget. With `test`, bursts are short.
#include <byre/byre.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

// Older revisions include these headers in byre.hpp, or have them in another folder.
#if __has_include(<byre/pages/paged_allocator.hpp>)
#include <byre/pages/paged_allocator.hpp>
#endif
#if __has_include(<byre/storage/tiles/tiled_buffer.hpp>)
#include <byre/storage/tiles/tiled_buffer.hpp>
#elif __has_include(<byre/storage/tiled_buffer.hpp>)
#include <byre/storage/tiled_buffer.hpp>
#endif
#if __has_include(<byre/observe/recording.hpp>)
#include <byre/observe/recording.hpp>
using Recording = byre::trace::Recording;
#else
struct Recording {};
#endif
#if __has_include(<byre/observe/memory_report.hpp>)
#include <byre/observe/memory_report.hpp>
using byre::ScopedTag;
#else
struct ScopedTag {
  explicit ScopedTag(const char*) {}
};
#endif
#if __has_include(<byre/memory/budget.hpp>)
#include <byre/memory/budget.hpp>
struct Budgeted {
  byre::Budget budget{std::size_t{1} << 40};
  byre::BudgetedAllocator host = byre::budgeted(byre::default_allocator(), budget);
  byre::BudgetedAllocator paged = byre::budgeted(byre::paged_allocator(), budget);
};
#else
struct Budgeted {
  byre::Allocator& host = byre::default_allocator();
  byre::Allocator& paged = byre::paged_allocator();
};
#endif

namespace {

using byre::Buffer;
using byre::Storage;
using Clock = std::chrono::steady_clock;

constexpr std::size_t mib = std::size_t{1} << 20;

/// Prevents the compiler from optimizing away operations on `value`.
template <class T>
void use(const T& value) {
  asm volatile("" : : "r"(&value) : "memory");
}

struct Mode {
  bool is_recorded = false;
  bool is_tagged = false;
  bool is_budgeted = false;
  bool is_test = false;  ///< few operations, whose times are not used
};

template <class Operation>
void measure(const char* name, int times, Mode mode, Operation operation) {
  times = std::min(times, mode.is_test ? 10 : mode.is_recorded ? 20'000 : times);
  const int bursts = mode.is_test ? 1 : times == 1 ? 5 : 20;
  double least_ns = 0;
  for (int burst = 0; burst < bursts; ++burst) {
    std::optional<Recording> recording;
    if (mode.is_recorded) {
      recording.emplace();
    }
    const auto begin = Clock::now();
    for (int done = 0; done < times; ++done) {
      operation();
    }
    const double ns =
        std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / times;
    least_ns = burst == 0 ? ns : std::min(least_ns, ns);
  }
  std::printf("%s\t%.3f\n", name, least_ns);
}

Buffer filled(std::size_t nbytes, byre::Allocator& allocator) {
  Buffer buffer = Buffer::allocate(nbytes, allocator);
  std::memset(buffer.mutable_data(), 1, nbytes);
  return buffer;
}

}  // namespace

int main(int argc, char** argv) {
  Mode mode;
  for (const char* const argument : std::span(argv + 1, static_cast<std::size_t>(argc - 1))) {
    mode.is_recorded |= std::strcmp(argument, "recording") == 0;
    mode.is_tagged |= std::strcmp(argument, "tagged") == 0;
    mode.is_budgeted |= std::strcmp(argument, "budgeted") == 0;
    mode.is_test |= std::strcmp(argument, "test") == 0;
  }
  Budgeted budgeted;
  byre::Allocator& host = mode.is_budgeted ? budgeted.host : byre::default_allocator();
  byre::Allocator& in_pages = mode.is_budgeted ? budgeted.paged : byre::paged_allocator();
  std::optional<ScopedTag> tag;
  if (mode.is_tagged) {
    tag.emplace("measured");
  }
  const Buffer small = filled(4096, host);
  Buffer unique = filled(4096, host);
  measure("lazy clone and drop", 500'000, mode, [&] {
    const Buffer clone = small;
    use(clone);
  });
  measure("write to unique data", 1'000'000, mode, [&] {
    unique.mutable_data();
    use(unique);
  });
  const Storage small_storage(small);
  Storage unique_storage(filled(4096, host));
  measure("lazy clone and drop of a storage", 200'000, mode, [&] {
    const Storage clone = small_storage.lazy_clone();
    use(clone);
  });
  measure("write to a unique storage", 1'000'000, mode, [&] {
    unique_storage.mutable_data();
    use(unique_storage);
  });
  measure("clone, write, drop a storage of 64 B", 100'000, mode,
          [shared = Storage(filled(64, host))] {
            Storage clone = shared.lazy_clone();
            clone.mutable_data();
            use(clone);
          });
  measure("allocate and release 256 B", 200'000, mode, [&] {
    const Buffer buffer = Buffer::allocate(256, host);
    use(buffer);
  });
  const struct {
    const char* name;
    std::size_t nbytes;
    int times;
  } writes[] = {
      {"clone, write, drop 64 B", 64, 200'000},      {"clone, write, drop 4 KiB", 4096, 100'000},
      {"clone, write, drop 256 KiB", mib / 4, 1000}, {"clone, write, drop 1 MiB", mib, 300},
      {"clone, write, drop 16 MiB", 16 * mib, 5},    {"clone, write, drop 256 MiB", 256 * mib, 1}};
  for (const auto& write : writes) {
    const Buffer shared = filled(write.nbytes, host);
    measure(write.name, write.times, mode, [&] {
      Buffer clone = shared;
      clone.mutable_data();
      use(clone);
    });
  }
  const Buffer paged = filled(16 * mib, in_pages);
  measure("clone, write a page, drop", 500, mode, [&] {
    Buffer clone = paged;
    clone.mutable_data()[0] = std::byte{2};
    use(clone);
  });
  for (const auto& [name, nbytes] : {std::pair("allocate, fill, drop 256 KiB in pages", mib / 4),
                                     std::pair("allocate, fill, drop 1 MiB in pages", mib)}) {
    measure(name, 300, mode, [&, nbytes = nbytes] { use(filled(nbytes, in_pages)); });
  }
  byre::TiledBuffer tiles(16 * mib, host);
  for (std::size_t tile = 0; tile < tiles.tile_count(); ++tile) {
    std::memset(tiles.mutable_tile(tile).data(), 1, tiles.tile_nbytes());
  }
  measure("clone, write a tile, drop", 2000, mode, [&] {
    byre::TiledBuffer clone = tiles;
    clone.mutable_tile(0)[0] = std::byte{2};
    use(clone);
  });
}
