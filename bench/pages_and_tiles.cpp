// SPDX-License-Identifier: BSL-1.0
/// The cost of a small write to large shared data: in pages, in tiles, and in ordinary memory.
///
///   pages_N            clone, write of one byte in each of N pages spread at random, and drop, all
///                      timed
///   pages_stream       sequential reads of all bytes of an overlay that was read once before
///   pages_snapshots    one writer that is cloned after each 16 pages that it writes
///   pages_writable_N   writable clone, write of one byte in each of N pages of the source, and
///                      drop, all timed
///   pages_threads_2    pages_16 on two threads concurrently
///   pages_among_20000  pages_16 while 20,000 other overlays exist
///   pages_beside       pages_16 while another thread reads: for each copied page and for the drop,
///                      the system interrupts the core of the reading thread
///   pages_read_beside  reads of one byte in each page of other memory while another thread repeats
///                      pages_16, or, for `byre`, writes in place
///   tiles_clone_drop   clone and drop of 1 GiB
///   tiles_write_1      clone, write of one byte, and drop, all timed; a different tile each time
///   tiles_read         sequential reads of all bytes, tile by tile
///   tiles_append       64 KiB appended to a clone; `plain` copies them to ordinary memory of the
///                      pool
///   tiles_memory_N     heap memory of a clone that changed N evenly spread tiles, without the
///                      tiles themselves, which come from the pool
#include "contenders.hpp"
#include "harness.hpp"
#include "thread_group.hpp"

#include <byre/memory/pages.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/tiles/tiled_buffer.hpp>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace byre_bench {
namespace {

using byre::Buffer;
using byre::TiledBuffer;

constexpr std::size_t paged_nbytes = 256 * mib;
constexpr std::size_t all_pages = paged_nbytes / byre::page_nbytes;
constexpr std::size_t tiled_nbytes = 1024 * mib;

Buffer make_plain(std::size_t nbytes) {
  return make_filled<Byre>(nbytes, Memory::recycled);
}

Buffer make_paged(std::size_t nbytes) {
  Buffer buffer = Buffer::allocate(nbytes, byre::paged_allocator());
  std::memset(buffer.mutable_data(), 1, nbytes);
  return buffer;
}

TiledBuffer make_tiled(std::size_t nbytes) {
  TiledBuffer tiles(nbytes);
  for (std::size_t tile = 0; tile < tiles.tile_count(); ++tile) {
    std::memset(tiles.mutable_tile(tile).data(), 1, tiles.tile_nbytes());
  }
  return tiles;
}

/// Offsets in `pages` random pages. All calls use one fixed seed.
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

void write_at(Buffer& buffer, const std::vector<std::size_t>& at) {
  std::byte* const data = buffer.mutable_data();
  for (const std::size_t place : at) {
    data[place] = std::byte{1};
  }
  benchmark::ClobberMemory();
}

void write_at(TiledBuffer& tiles, const std::vector<std::size_t>& at) {
  for (const std::size_t place : at) {
    tiles.mutable_tile(place / tiles.tile_nbytes())[place % tiles.tile_nbytes()] = std::byte{1};
  }
  benchmark::ClobberMemory();
}

std::uint64_t sum_of(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    sum += word;
  }
  return sum;
}
std::uint64_t sum_of(const Buffer& buffer) {
  return sum_of({buffer.data(), buffer.nbytes()});
}
std::uint64_t sum_of(const TiledBuffer& tiles) {
  std::uint64_t sum = 0;
  tiles.for_each_part(0, tiles.nbytes(),
                      [&](std::span<const std::byte> part) { sum += sum_of(part); });
  return sum;
}

template <class Bytes>
void write_to_clone(const Bytes& source, const std::vector<std::size_t>& at) {
  Bytes clone = source;
  write_at(clone, at);
}

template <class Bytes>
void run_clone_write_drop(benchmark::State& state, const Bytes& source, std::size_t pages) {
  const auto at = places(pages);
  run_repeated(state, 1, [&](std::size_t) { write_to_clone(source, at); });
}

template <class Bytes>
void run_reads(benchmark::State& state, const Bytes& bytes) {
  run_repeated(state, 1, [&](std::size_t) { benchmark::DoNotOptimize(sum_of(bytes)); });
}

template <class Make>
void add_writes_of_pages(const char* contender, Make make) {
  for (const std::size_t pages : {1UL, 16UL, 256UL, 4096UL, 16384UL, 65536UL}) {
    add({"pages_" + std::to_string(pages), paged_nbytes}, contender,
        [=](benchmark::State& state) { run_clone_write_drop(state, make(paged_nbytes), pages); });
  }
}

/// A thread that repeats `work` during the lifetime of this object.
class BackgroundThread {
 public:
  explicit BackgroundThread(std::function<void()> work)
      : thread_([this, work = std::move(work)] {
          while (!is_over_.load(std::memory_order_relaxed)) {
            work();
          }
        }) {}
  ~BackgroundThread() {
    is_over_.store(true, std::memory_order_relaxed);
    thread_.join();
  }
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;

 private:
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

void read_all_pages(const Buffer& buffer) {
  const std::byte* const data = buffer.data();
  std::uint64_t sum = 0;
  for (std::size_t page = 0; page < all_pages; ++page) {
    sum += std::to_integer<std::uint64_t>(data[page * byre::page_nbytes + page % 64 * 64]);
  }
  benchmark::DoNotOptimize(sum);
}

void add_paged_or_not(const char* contender, bool is_paged) {
  const auto make = is_paged ? make_paged : make_plain;
  const auto add_one = [=](const std::string& operation, auto run) {
    add({operation, paged_nbytes}, contender, [=](benchmark::State& state) {
      Buffer source = make(paged_nbytes);
      run(state, source);
    });
  };
  add_writes_of_pages(contender, make);
  add_one("pages_stream", [](benchmark::State& state, const Buffer& source) {
    Buffer clone = source;
    write_at(clone, {0});
    run_reads(state, clone);
  });
  add_one("pages_snapshots", [](benchmark::State& state, Buffer& writer) {
    Buffer snapshot = writer;
    const auto at = places(16);
    run_repeated(state, 1, [&](std::size_t) {
      snapshot = writer;
      write_at(writer, at);
    });
  });
  for (const std::size_t pages : {1UL, 256UL, 4096UL}) {
    add_one("pages_writable_" + std::to_string(pages),
            [=](benchmark::State& state, Buffer& source) {
              const auto at = places(pages);
              run_repeated(state, 1, [&](std::size_t) {
                const auto clone = source.writable_clone();
                write_at(source, at);
              });
            });
  }
  add_one("pages_read_beside", [=](benchmark::State& state, Buffer& written) {
    const Buffer read = make_plain(paged_nbytes);
    const auto at = places(16);
    const BackgroundThread writer(
        [&] { is_paged ? write_to_clone(written, at) : write_at(written, at); });
    run_repeated(state, 1, [&](std::size_t) { read_all_pages(read); });
  });
}

void run_two_threads(benchmark::State& state) {
  const Buffer source = make_paged(paged_nbytes);
  const auto at = places(16);
  ThreadGroup group(2);
  run_bursts(state, 2, [&](std::size_t) {
    return group.run([&](std::size_t) { write_to_clone(source, at); }).wall_ns;
  });
}

void run_among(benchmark::State& state, std::size_t overlays) {
  const Buffer source = make_paged(paged_nbytes);
  std::vector<Buffer> others;
  while (others.size() != overlays) {
    others.push_back(source);
    write_at(others.back(), {0});
  }
  run_clone_write_drop(state, source, 16);
}

void run_with_reader(benchmark::State& state) {
  const Buffer source = make_paged(paged_nbytes);
  const BackgroundThread reader([&] { read_all_pages(source); });
  run_clone_write_drop(state, source, 16);
}

template <class Make>
void add_tiled_or_not(const char* contender, Make make) {
  const auto add_one = [=](const char* operation, auto run) {
    add({operation, tiled_nbytes}, contender, [=](benchmark::State& state) {
      const auto source = make(tiled_nbytes);
      run(state, source);
    });
  };
  add_one("tiles_clone_drop", [](benchmark::State& state, const auto& source) {
    run_repeated(state, 1000, [&](std::size_t) {
      auto clone = source;
      benchmark::DoNotOptimize(clone);
    });
  });
  add_one("tiles_write_1", [](benchmark::State& state, const auto& source) {
    run_bursts(state, 1, [&](std::size_t burst) {
      const std::vector<std::size_t> at{burst * 1'234'567'891 % tiled_nbytes};
      return timed_ns([&] { write_to_clone(source, at); });
    });
  });
  add_one("tiles_read",
          [](benchmark::State& state, const auto& source) { run_reads(state, source); });
}

void run_append(benchmark::State& state) {
  const TiledBuffer source = make_tiled(tiled_nbytes);
  const std::vector<std::byte> bytes(source.tile_nbytes(), std::byte{3});
  run_bursts(state, 1, [&](std::size_t) {
    TiledBuffer clone = source;
    return timed_ns([&] { clone.append(bytes); });
  });
}

void run_plain_append(benchmark::State& state) {
  const std::vector<std::byte> bytes(TiledBuffer::default_tile_nbytes, std::byte{3});
  run_repeated(state, 1, [&](std::size_t) {
    Buffer plain = Buffer::allocate(bytes.size());
    std::memcpy(plain.mutable_data(), bytes.data(), bytes.size());
  });
}

void run_memory_of_tiles(benchmark::State& state, std::size_t changed) {
  const TiledBuffer source = make_tiled(tiled_nbytes);
  TiledBuffer clone;
  report_memory(state, 1, [&] {
    clone = source;
    for (std::size_t number = 0; number < changed; ++number) {
      clone.mutable_tile(number * (source.tile_count() / changed))[0] = std::byte{2};
    }
  });
}

}  // namespace

void add_pages_and_tiles() {
  add_paged_or_not("paged", true);
  add_paged_or_not("byre", false);
  add_writes_of_pages("tiles", make_tiled);
  add({"pages_threads_2", paged_nbytes}, "paged", run_two_threads);
  add({"pages_among_20000", paged_nbytes}, "paged",
      [](benchmark::State& state) { run_among(state, 20000); });
  add({"pages_beside", paged_nbytes}, "paged", run_with_reader);
  add_tiled_or_not("tiles", make_tiled);
  add_tiled_or_not("byre", make_plain);
  add({"tiles_append", tiled_nbytes}, "tiles", run_append);
  add({"tiles_append", tiled_nbytes}, "plain", run_plain_append);
  for (const std::size_t changed : {1UL, 16UL, 256UL}) {
    add({"tiles_memory_" + std::to_string(changed), tiled_nbytes}, "tiles",
        [=](benchmark::State& state) { run_memory_of_tiles(state, changed); });
  }
}

}  // namespace byre_bench
