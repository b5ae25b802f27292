// SPDX-License-Identifier: BSL-1.0
/// writers_N: N owners of shared data write simultaneously. The time runs from the first start to
/// the last end. Clones before and releases after the writes are not timed, except that copy-first
/// releases the original data in the write that drops its last reference. byre must make exactly
/// N-1 copies in each burst; otherwise the program fails.
#include "contenders.hpp"
#include "harness.hpp"
#include "thread_group.hpp"

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

namespace byre_bench {
namespace {

void check_copies(long long copies, std::size_t writers) {
  const auto expected = static_cast<long long>(writers) - (settings().expect_one_copy_more ? 0 : 1);
  if (BYRE_STATS && copies != expected) {
    report_wrong_count(std::to_string(writers) + " writers at once made " + std::to_string(copies) +
                       " copies instead of " + std::to_string(expected));
  }
}

template <class Contender>
class Writers {
 public:
  Writers(std::size_t count, std::size_t nbytes, Memory memory)
      : threads_(count), buffers_(count, make_filled<Contender>(nbytes, memory)), nbytes_(nbytes) {}

  /// One burst: all writers share the first writer's data, and then write.
  ThreadGroup::Burst run(std::size_t index) {
    for (std::size_t i = 1; i < buffers_.size(); ++i) {
      buffers_[i] = buffers_[0];
    }
    const auto before = byre::stats::snapshot().copies;
    const auto burst = threads_.run([&](std::size_t member) {
      std::byte* data = buffers_[member].mutable_data();
      data[index % nbytes_] = static_cast<std::byte>(member);
      benchmark::DoNotOptimize(data);
    });
    if (std::is_same_v<Contender, Byre>) {
      check_copies(byre::stats::snapshot().copies - before, buffers_.size());
    }
    return burst;
  }

 private:
  ThreadGroup threads_;
  std::vector<typename Contender::Bytes> buffers_;
  std::size_t nbytes_;
};

template <class Contender>
void run_writers(benchmark::State& state, std::size_t count, std::size_t nbytes, Memory memory) {
  Writers<Contender> writers(count, nbytes, memory);
  run_undisturbed_bursts(state, 1, [&](std::size_t index) { return writers.run(index); });
}

template <class Contender>
void add_writers_at_once(std::size_t count, std::size_t nbytes, Memory memory) {
  add({"writers_" + std::to_string(count), nbytes, memory}, Contender::name,
      [=](benchmark::State& state) { run_writers<Contender>(state, count, nbytes, memory); });
}

}  // namespace

void add_writers() {
  for (const std::size_t nbytes : all_sizes) {
    add_writers_at_once<Byre>(2, nbytes, Memory::recycled);
    add_writers_at_once<CopyFirst>(2, nbytes, Memory::recycled);
    add_writers_at_once<SharedPtr>(2, nbytes, Memory::recycled);
    if (nbytes > 4 * kib) {  // malloc recycles smaller blocks
      add_writers_at_once<Byre>(2, nbytes, Memory::fresh);
      add_writers_at_once<CopyFirst>(2, nbytes, Memory::fresh);
    }
  }
  for (const std::size_t nbytes : {std::size_t{64}, 16 * mib}) {
    add_writers_at_once<Byre>(8, nbytes, Memory::recycled);
    add_writers_at_once<CopyFirst>(8, nbytes, Memory::recycled);
  }
}

}  // namespace byre_bench
