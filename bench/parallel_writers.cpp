// SPDX-License-Identifier: BSL-1.0
/// Threads of a parallel loop that ask one storage for write access: byre's way, and what is written without
/// it, a mutex around materialize(). Asked once alone, asked by two threads again and again, and by two threads
/// whose first has to copy.
#include "contenders.hpp"
#include "harness.hpp"
#include "thread_group.hpp"

#include <cstddef>
#include <mutex>
#include <string>

namespace byre_bench {
namespace {

constexpr std::size_t asks_per_burst = 1024;

struct InParallel {
  static constexpr const char* name = "byre";
  std::byte* ask() { return storage.mutable_data_in_parallel(); }
  byre::Storage storage;
};

/// One mutex for each storage, which has to be found room for.
struct UnderMutex {
  static constexpr const char* name = "mutex";
  std::byte* ask() {
    const std::lock_guard lock(mutex);
    return storage.mutable_data();
  }
  byre::Storage storage;
  std::mutex mutex{};
};

template <class Asker>
void ask_often(Asker& asker) {
  for (std::size_t i = 0; i < asks_per_burst; ++i) {
    benchmark::DoNotOptimize(asker.ask());
    benchmark::ClobberMemory();
  }
}

template <class Asker>
void add_asks(std::size_t nbytes) {
  add({"loop_asks_1", nbytes}, Asker::name, [=](benchmark::State& state) {
    Asker asker{byre::Storage(make_filled<Word>(nbytes, Memory::recycled))};
    run_bursts(state, asks_per_burst,
               [&](std::size_t) { return timed_ns([&] { ask_often(asker); }); });
  });
  add({"loop_asks_2", nbytes}, Asker::name, [=](benchmark::State& state) {
    Asker asker{byre::Storage(make_filled<Word>(nbytes, Memory::recycled))};
    ThreadGroup group(2);
    run_bursts(state, 2 * asks_per_burst, [&](std::size_t) {
      return group.run([&](std::size_t) { ask_often(asker); }).wall_ns;
    });
  });
  add({"loop_copies_2", nbytes}, Asker::name, [=](benchmark::State& state) {
    Asker asker{byre::Storage(make_filled<Word>(nbytes, Memory::recycled))};
    ThreadGroup group(2);
    byre::Storage clone;
    run_bursts(state, 1, [&](std::size_t) {
      clone = asker.storage.lazy_clone();
      return group.run([&](std::size_t member) { asker.ask()[member] = std::byte{1}; }).wall_ns;
    });
  });
}

}  // namespace

void add_parallel_writers() {
  for (const std::size_t nbytes : {std::size_t{64}, 256 * kib}) {
    add_asks<InParallel>(nbytes);
    add_asks<UnderMutex>(nbytes);
  }
}

}  // namespace byre_bench
