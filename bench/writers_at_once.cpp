// SPDX-License-Identifier: BSL-1.0
/// N owners of the same bytes all write at the same moment. Timed is from the first start to the
/// last end; cloning before and releasing after are not, but where a writer's giving up the last
/// reference releases the original, as copy-first does, that is part of its write.
///
/// byre, in both forms, has to make exactly N-1 copies in every burst, or the program fails. The
/// others are said to make up to N; how many it were is reported (counter `copies_per_burst`).
#include "contenders.hpp"
#include "harness.hpp"
#include "thread_group.hpp"

#include <string>
#include <type_traits>
#include <vector>

namespace byre_bench {
namespace {

template <class Contender>
constexpr bool is_exact = std::is_same_v<Contender, Word> || std::is_same_v<Contender, Lock>;

long long copies_made_so_far() {
  return byre::stats::snapshot().copies + CopyFirst::Bytes::copies_made().load() +
         SharedPtr::Bytes::copies_made().load();
}

void check_copies(const std::string& contender, std::size_t nbytes, long long copies,
                  std::size_t writers) {
  const auto expected = static_cast<long long>(writers) - (settings().expect_one_copy_more ? 0 : 1);
  if (BYRE_STATS && copies != expected) {
    report_wrong_count(contender + ", " + size_name(nbytes) + ": " + std::to_string(writers) +
                       " writers at once made " + std::to_string(copies) + " copies instead of " +
                       std::to_string(expected));
  }
}

/// The bursts in which nobody waited for its core; all of them if there are none, which report.py
/// leaves out where it can (counter `bursts_kept`).
class KeptBursts {
 public:
  void add(const ThreadGroup::Burst& burst) {
    (burst.undisturbed ? kept_ : disturbed_).push_back(burst);
  }

  void report(benchmark::State& state) const {
    state.counters["ns"] = middle_mean(each(&ThreadGroup::Burst::wall_ns));
    state.counters["cpu_ns"] = middle_mean(each(&ThreadGroup::Burst::cpu_ns));
    state.counters["bursts_kept"] = static_cast<double>(kept_.size());
    state.counters["bursts_disturbed"] = static_cast<double>(disturbed_.size());
  }

 private:
  std::vector<double> each(double ThreadGroup::Burst::*figure) const {
    std::vector<double> figures;
    for (const auto& burst : kept_.empty() ? disturbed_ : kept_) {
      figures.push_back(burst.*figure);
    }
    return figures;
  }

  std::vector<ThreadGroup::Burst> kept_;
  std::vector<ThreadGroup::Burst> disturbed_;
};

template <class Contender>
class Writers {
 public:
  Writers(std::size_t count, std::size_t nbytes, Memory memory)
      : threads_(count), buffers_(count, make_filled<Contender>(nbytes, memory)), nbytes_(nbytes) {}

  /// One burst: the first writer's bytes, whoever keeps them, become everybody's, and are written.
  ThreadGroup::Burst run(std::size_t index) {
    for (std::size_t i = 1; i < buffers_.size(); ++i) {
      buffers_[i] = buffers_[0];
    }
    const auto before = copies_made_so_far();
    const auto burst = threads_.run([&](std::size_t member) {
      std::byte* data = buffers_[member].mutable_data();
      data[index % nbytes_] = static_cast<std::byte>(member);
      benchmark::DoNotOptimize(data);
    });
    copies_ = copies_made_so_far() - before;
    return burst;
  }

  long long copies() const { return copies_; }
  bool has_cores() const { return threads_.has_cores(); }

 private:
  ThreadGroup threads_;
  std::vector<typename Contender::Bytes> buffers_;
  std::size_t nbytes_;
  long long copies_ = 0;
};

template <class Contender>
void run_writers(benchmark::State& state, std::size_t count, std::size_t nbytes, Memory memory) {
  // On a machine that is too busy to be left alone, the run must end all the same.
  const std::size_t most_bursts = 2 * static_cast<std::size_t>(state.max_iterations) + 8;
  Writers<Contender> writers(count, nbytes, memory);
  KeptBursts bursts;
  long long copies = 0;
  std::size_t index = 0;
  const auto run_one = [&] {
    const auto burst = writers.run(index++);
    copies += writers.copies();
    if (is_exact<Contender>) {
      check_copies(Contender::name, nbytes, writers.copies(), count);
    }
    return burst;
  };
  run_one();
  for ([[maybe_unused]] auto iteration : state) {
    auto burst = run_one();
    while (writers.has_cores() && !burst.undisturbed && index < most_bursts) {
      bursts.add(burst);
      burst = run_one();
    }
    if (!writers.has_cores()) {
      burst.undisturbed = true;  // there is nothing to be undisturbed on
    }
    bursts.add(burst);
    state.SetIterationTime(burst.wall_ns * 1e-9);
  }
  bursts.report(state);
  state.counters["copies_per_burst"] = static_cast<double>(copies) / static_cast<double>(index);
  state.counters["each_had_a_core"] = writers.has_cores() ? 1 : 0;
}

template <class Contender>
void add_writers(std::size_t count, std::size_t nbytes, Memory memory) {
  add({"writers_" + std::to_string(count), nbytes, memory}, Contender::name,
      [=](benchmark::State& state) { run_writers<Contender>(state, count, nbytes, memory); });
}

}  // namespace

void add_writers_at_once() {
  for (const std::size_t count : {std::size_t{2}, std::size_t{8}}) {
    for (const std::size_t nbytes : all_sizes) {
      for (const Memory memory : {Memory::recycled, Memory::fresh}) {
        const bool malloc_recycles = memory == Memory::fresh && nbytes <= 4 * kib;
        if (malloc_recycles || (count == 8 && nbytes > 16 * mib)) {
          continue;
        }
        add_writers<Word>(count, nbytes, memory);
        add_writers<CopyFirst>(count, nbytes, memory);
        add_writers<SharedPtr>(count, nbytes, memory);
        add_writers<Lock>(count, nbytes, memory);
      }
    }
  }
}

}  // namespace byre_bench
