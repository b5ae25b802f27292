// SPDX-License-Identifier: BSL-1.0
/// Data in pages, beside the same in ordinary memory: what a small write to a large shared buffer costs.
///
///   pages_N              clone, write of one byte in each of N pages spread at random, and drop, all timed; of
///                        data in tiles too
///   pages_stream         reads of all bytes, in order; of pages, of an overlay that was read once
///   pages_snapshots      one writer that is cloned after every 16 pages that it writes
///   pages_writable_N     writable clone, write of one byte in each of N pages of the source, and drop, all timed
///   pages_threads_T      T threads at once, each with a clone of its own: clone, write of 16 pages, drop
///   pages_among_N        the same of one thread, where there are N overlays
///   pages_beside         the same of one thread, while another reads: each page that is copied, and the drop,
///                        has the system interrupt its core
///   pages_read_beside    a read of a word in each page of other memory, while another thread does that; of byre,
///                        while it writes in place
#include "contenders.hpp"
#include "harness.hpp"
#include "thread_group.hpp"

#include <byre/memory/pages.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/tiled_buffer.hpp>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace byre_bench {
namespace {

constexpr std::size_t data_nbytes = 256 * mib;
constexpr std::size_t all_pages = data_nbytes / byre::page_nbytes;

struct Paged {
  static constexpr const char* name = "paged";
  using Bytes = byre::Buffer;
  static Bytes make(std::size_t size, Memory) {
    return Bytes::allocate(size, byre::paged_allocator());
  }
};

/// Offsets in so many pages, in a random order that is always the same.
std::vector<std::size_t> places(std::size_t pages) {
  std::vector<std::size_t> all(all_pages);
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::mt19937_64 random(1);
  for (std::size_t place = 0; place < pages; ++place) {
    std::swap(all[place], all[place + random() % (all.size() - place)]);
    all[place] = all[place] * byre::page_nbytes + random() % byre::page_nbytes;
  }
  all.resize(pages);
  return all;
}

template <class Bytes>
void write_at(Bytes& bytes, const std::vector<std::size_t>& at) {
  std::byte* const data = bytes.mutable_data();
  for (const std::size_t place : at) {
    data[place] = std::byte{1};
  }
  benchmark::ClobberMemory();
}

struct Tiled {
  static constexpr const char* name = "tiles";
};

void write_at(byre::TiledBuffer& tiles, const std::vector<std::size_t>& at) {
  for (const std::size_t place : at) {
    tiles.mutable_tile(place / tiles.tile_nbytes())[place % tiles.tile_nbytes()] = std::byte{1};
  }
  benchmark::ClobberMemory();
}

template <class Contender>
auto make_source() {
  if constexpr (std::is_same_v<Contender, Tiled>) {
    byre::TiledBuffer tiles(data_nbytes);
    for (std::size_t tile = 0; tile < tiles.tile_count(); ++tile) {
      std::memset(tiles.mutable_tile(tile).data(), 1, tiles.tile_nbytes());
    }
    return tiles;
  } else {
    return make_filled<Contender>(data_nbytes, Memory::recycled);
  }
}

template <class Contender>
void run_pages(benchmark::State& state, std::size_t pages) {
  const auto source = make_source<Contender>();
  const auto at = places(pages);
  run_bursts(state, 1, [&](std::size_t) {
    return timed_ns([&] {
      auto clone = source;
      write_at(clone, at);
    });
  });
}

std::uint64_t sum_of_words(const byre::Buffer& buffer) {
  const auto* const words = reinterpret_cast<const std::uint64_t*>(buffer.data());
  std::uint64_t sum = 0;
  for (std::size_t word = 0; word < data_nbytes / sizeof(std::uint64_t); ++word) {
    sum += words[word];
  }
  return sum;
}

template <class Contender>
void run_stream(benchmark::State& state) {
  const auto source = make_filled<Contender>(data_nbytes, Memory::recycled);
  auto clone = source;
  write_at(clone, {0});
  run_bursts(state, 1, [&](std::size_t) {
    return timed_ns([&] { benchmark::DoNotOptimize(sum_of_words(clone)); });
  });
}

template <class Contender>
void run_snapshots(benchmark::State& state) {
  auto writer = make_filled<Contender>(data_nbytes, Memory::recycled);
  auto snapshot = writer;
  const auto at = places(16);
  run_bursts(state, 1, [&](std::size_t) {
    return timed_ns([&] {
      snapshot = writer;
      write_at(writer, at);
    });
  });
}

template <class Contender>
void run_writable(benchmark::State& state, std::size_t pages) {
  auto source = make_filled<Contender>(data_nbytes, Memory::recycled);
  const auto at = places(pages);
  run_bursts(state, 1, [&](std::size_t) {
    return timed_ns([&] {
      const auto clone = source.writable_clone();
      write_at(source, at);
    });
  });
}

template <class Contender>
void run_threads(benchmark::State& state, std::size_t threads) {
  const auto source = make_filled<Contender>(data_nbytes, Memory::recycled);
  const auto at = places(16);
  ThreadGroup group(threads);
  run_bursts(state, threads, [&](std::size_t) {
    return group
        .run([&](std::size_t) {
          auto clone = source;
          write_at(clone, at);
        })
        .wall_ns;
  });
}

void run_among(benchmark::State& state, std::size_t overlays) {
  const auto source = make_filled<Paged>(data_nbytes, Memory::recycled);
  std::vector<byre::Buffer> others;
  while (others.size() != overlays) {
    others.push_back(source);
    others.back().mutable_data()[0] = std::byte{1};
  }
  const auto at = places(16);
  run_bursts(state, 1, [&](std::size_t) {
    return timed_ns([&] {
      auto clone = source;
      write_at(clone, at);
    });
  });
}

/// What another thread does again and again, while this lives.
class Beside {
 public:
  explicit Beside(std::function<void()> work)
      : thread_([this, work = std::move(work)] {
          while (!is_over_.load(std::memory_order_relaxed)) {
            work();
          }
        }) {}
  ~Beside() {
    is_over_.store(true, std::memory_order_relaxed);
    thread_.join();
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

 private:
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

void read_all_pages(const byre::Buffer& buffer) {
  const std::byte* const data = buffer.data();
  std::uint64_t sum = 0;
  for (std::size_t page = 0; page < all_pages; ++page) {
    sum += std::to_integer<std::uint64_t>(data[page * byre::page_nbytes + page % 64 * 64]);
  }
  benchmark::DoNotOptimize(sum);
}

void run_beside(benchmark::State& state) {
  const auto source = make_filled<Paged>(data_nbytes, Memory::recycled);
  const auto at = places(16);
  const Beside reader([&] { read_all_pages(source); });
  run_bursts(state, 1, [&](std::size_t) {
    return timed_ns([&] {
      auto clone = source;
      write_at(clone, at);
    });
  });
}

template <class Contender>
void run_read_beside(benchmark::State& state) {
  const auto read = make_filled<Word>(data_nbytes, Memory::recycled);
  auto written = make_filled<Contender>(data_nbytes, Memory::recycled);
  const auto at = places(16);
  const Beside writer([&] {
    if constexpr (std::is_same_v<Contender, Paged>) {
      auto clone = written;
      write_at(clone, at);
    } else {
      write_at(written, at);
    }
  });
  run_bursts(state, 1, [&](std::size_t) { return timed_ns([&] { read_all_pages(read); }); });
}

template <class Contender>
void add_writes() {
  constexpr std::size_t counts[] = {1, 16, 256, 4096, 16384, 65536};
  for (const std::size_t pages : counts) {
    add({"pages_" + std::to_string(pages), data_nbytes}, Contender::name,
        [=](benchmark::State& state) { run_pages<Contender>(state, pages); });
  }
}

template <class Contender>
void add_paged_or_not() {
  add_writes<Contender>();
  add({"pages_stream", data_nbytes}, Contender::name, run_stream<Contender>);
  add({"pages_snapshots", data_nbytes}, Contender::name, run_snapshots<Contender>);
  for (const std::size_t pages : {std::size_t{1}, std::size_t{256}, std::size_t{4096}}) {
    add({"pages_writable_" + std::to_string(pages), data_nbytes}, Contender::name,
        [=](benchmark::State& state) { run_writable<Contender>(state, pages); });
  }
  for (const std::size_t threads : {std::size_t{1}, std::size_t{2}}) {
    add({"pages_threads_" + std::to_string(threads), data_nbytes}, Contender::name,
        [=](benchmark::State& state) { run_threads<Contender>(state, threads); });
  }
  add({"pages_read_beside", data_nbytes}, Contender::name, run_read_beside<Contender>);
}

}  // namespace

void add_pages() {
  add_paged_or_not<Paged>();
  add_paged_or_not<Word>();
  add_writes<Tiled>();
  for (const std::size_t overlays : {std::size_t{0}, std::size_t{1000}, std::size_t{20000}}) {
    add({"pages_among_" + std::to_string(overlays), data_nbytes}, Paged::name,
        [=](benchmark::State& state) { run_among(state, overlays); });
  }
  add({"pages_beside", data_nbytes}, Paged::name, run_beside);
}

}  // namespace byre_bench
