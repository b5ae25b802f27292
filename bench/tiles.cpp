// SPDX-License-Identifier: BSL-1.0
/// Data in tiles, beside a Buffer of the same bytes.
///
///   tiles_clone_drop    a clone of it, and its drop
///   tiles_write_1       clone, write of one byte, drop
///   tiles_read          reads of all bytes, in order, tile by tile
///   tiles_append        64 KiB appended to a clone, beside the same bytes into plain memory of the same allocator
///   tiles_memory_N      what the heap gives out for a clone that changed N tiles, spread evenly, beside the tiles
///                       themselves: `bytes`, and as `of_table` a part of the table's 16 bytes a tile
#include "contenders.hpp"
#include "harness.hpp"

#include <byre/storage/tiled_buffer.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace byre_bench {
namespace {

constexpr std::size_t data_nbytes = 1024 * mib;
constexpr std::size_t tile_nbytes = byre::TiledBuffer::default_tile_nbytes;

struct Tiles {
  static constexpr const char* name = "tiles";
  static byre::TiledBuffer make() {
    byre::TiledBuffer tiles(data_nbytes);
    for (std::size_t tile = 0; tile < tiles.tile_count(); ++tile) {
      std::memset(tiles.mutable_tile(tile).data(), 1, tile_nbytes);
    }
    return tiles;
  }
  static void write(byre::TiledBuffer& tiles, std::size_t at) {
    tiles.mutable_tile(at / tile_nbytes)[at % tile_nbytes] = std::byte{2};
  }
};

struct Whole {
  static constexpr const char* name = "byre";
  static byre::Buffer make() { return make_filled<Word>(data_nbytes, Memory::recycled); }
  static void write(byre::Buffer& buffer, std::size_t at) {
    buffer.mutable_data()[at] = std::byte{2};
  }
};

template <class Contender>
void run_clone_drop(benchmark::State& state) {
  const auto source = Contender::make();
  constexpr std::size_t times = 1000;
  run_bursts(state, times, [&](std::size_t) {
    return timed_ns([&] {
      for (std::size_t time = 0; time < times; ++time) {
        auto clone = source;
        benchmark::DoNotOptimize(clone);
      }
    });
  });
}

/// Another tile each time.
template <class Contender>
void run_write(benchmark::State& state) {
  const auto source = Contender::make();
  run_bursts(state, 1, [&](std::size_t burst) {
    const std::size_t at = burst * 1'234'567'891 % data_nbytes;
    return timed_ns([&] {
      auto clone = source;
      Contender::write(clone, at);
    });
  });
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
std::uint64_t sum_of(const byre::TiledBuffer& tiles) {
  std::uint64_t sum = 0;
  tiles.for_each_part(0, tiles.nbytes(),
                      [&](std::span<const std::byte> part) { sum += sum_of(part); });
  return sum;
}
std::uint64_t sum_of(const byre::Buffer& buffer) {
  return sum_of({buffer.data(), buffer.nbytes()});
}

template <class Contender>
void run_read(benchmark::State& state) {
  const auto source = Contender::make();
  run_bursts(state, 1, [&](std::size_t) {
    return timed_ns([&] { benchmark::DoNotOptimize(sum_of(source)); });
  });
}

void run_append(benchmark::State& state) {
  const auto source = Tiles::make();
  const std::vector<std::byte> bytes(tile_nbytes, std::byte{3});
  run_bursts(state, 1, [&](std::size_t) {
    auto clone = source;
    return timed_ns([&] { clone.append(bytes); });
  });
}

void run_plain_append(benchmark::State& state) {
  const std::vector<std::byte> bytes(tile_nbytes, std::byte{3});
  run_bursts(state, 1, [&](std::size_t) {
    return timed_ns([&] {
      auto plain = byre::Buffer::allocate(tile_nbytes);
      std::memcpy(plain.mutable_data(), bytes.data(), tile_nbytes);
    });
  });
}

void run_memory(benchmark::State& state, std::size_t changed) {
  const auto source = Tiles::make();
  const long long before = malloc_nbytes_in_use();
  if (before < 0) {
    state.SkipWithError("this C library does not say what its heap has handed out");
    return;
  }
  auto clone = source;
  for (std::size_t number = 0; number < changed; ++number) {
    Tiles::write(clone, number * (data_nbytes / changed));
  }
  const auto heap = static_cast<double>(malloc_nbytes_in_use() - before);
  state.counters["bytes"] = heap;
  state.counters["of_table"] = heap / static_cast<double>(16 * source.tile_count());
  for ([[maybe_unused]] auto iteration : state) {
    state.SetIterationTime(1e-9);
  }
}

template <class Contender>
void add_contender() {
  add({"tiles_clone_drop", data_nbytes}, Contender::name, run_clone_drop<Contender>);
  add({"tiles_write_1", data_nbytes}, Contender::name, run_write<Contender>);
  add({"tiles_read", data_nbytes}, Contender::name, run_read<Contender>);
}

}  // namespace

void add_tiles() {
  add_contender<Tiles>();
  add_contender<Whole>();
  add({"tiles_append", data_nbytes}, Tiles::name, run_append);
  add({"tiles_append", data_nbytes}, "plain", run_plain_append);
  for (const std::size_t changed : {std::size_t{1}, std::size_t{16}, std::size_t{256}}) {
    add({"tiles_memory_" + std::to_string(changed), data_nbytes}, Tiles::name,
        [=](benchmark::State& state) { run_memory(state, changed); });
  }
}

}  // namespace byre_bench
