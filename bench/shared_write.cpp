// SPDX-License-Identifier: BSL-1.0
/// Writes to bytes that somebody else shares, so that they are copied.
///
///   write_shared  up to 4 KiB: a batch of clones is made untimed; timed is each clone's write and
///                 the release of its copy, so that malloc recycles as it does in a program. Above:
///                 one clone, made untimed; timed is its write alone, the release is not.
///   clone_write   clone, write and release, all timed.
///
/// A write gets the pointer to write and touches one byte. The eager copy has paid at the clone.
#include "contenders.hpp"
#include "harness.hpp"

#include <optional>
#include <vector>

namespace byre_bench {
namespace {

constexpr std::size_t batch = 100;
constexpr std::size_t largest_batched = 4 * kib;

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
void run_clone_writes(benchmark::State& state, std::size_t nbytes, Memory memory) {
  using Bytes = typename Contender::Bytes;
  const Bytes source = make_filled<Contender>(nbytes, memory);
  const std::size_t times = nbytes <= largest_batched ? batch : 1;
  run_bursts(state, times, [&](std::size_t burst) {
    return timed_ns([&] {
      for (std::size_t i = 0; i < times; ++i) {
        Bytes clone(source);
        write_one_byte(clone, burst % nbytes);
      }
    });
  });
}

template <class Contender>
void add_write_shared(std::size_t nbytes, Memory memory) {
  add({"write_shared", nbytes, memory}, Contender::name, [=](benchmark::State& state) {
    nbytes <= largest_batched ? run_batched_writes<Contender>(state, nbytes)
                              : run_single_writes<Contender>(state, nbytes, memory);
  });
}

template <class Contender>
void add_clone_write(std::size_t nbytes, Memory memory) {
  add({"clone_write", nbytes, memory}, Contender::name,
      [=](benchmark::State& state) { run_clone_writes<Contender>(state, nbytes, memory); });
}

}  // namespace

void add_shared_writes() {
  for (const std::size_t nbytes : all_sizes) {
    for (const Memory memory : {Memory::recycled, Memory::fresh}) {
      if (memory == Memory::fresh && nbytes <= largest_batched) {
        continue;  // malloc recycles blocks that small, whatever it is told
      }
      add_write_shared<Word>(nbytes, memory);
      add_write_shared<SharedPtr>(nbytes, memory);
      add_clone_write<Word>(nbytes, memory);
      add_clone_write<SharedPtr>(nbytes, memory);
      add_clone_write<Eager>(nbytes, memory);
    }
  }
}

}  // namespace byre_bench
