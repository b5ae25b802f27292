// SPDX-License-Identifier: BSL-1.0
/// AtomicBuffer, and other places from which threads load shared data while other threads store.
/// Each load is followed by the drop of the loaded value.
///
///   atomic_load         one thread loads
///   atomic_load_2       two threads load from one place: time per load of one thread
///   atomic_load_stored  one thread loads, and another stores four values in turn without pause
///   atomic_tail         the 99.9th percentile of the loads of one thread, each timed by itself
///   atomic_tail_stored  the same percentile while a thread stores four buffers of 1 GiB in
///                       turn without pause. Their pages are not used, so the writer spends its
///                       time in stores.
///   atomic_tail_filled  the same percentile while a thread allocates each buffer in fresh
///                       pages, fills it, and stores it
///
/// `clone` copies a byre::Buffer to which no thread stores. `kept` is an AtomicBuffer whose readers
/// keep what they loaded, and load again only if it is no longer the content. `floor` is one atomic
/// step on each of two cache lines: the least that a load and a drop of an AtomicBuffer can cost.
/// Two threads pass these lines to and fro, so the floor depends on where the two cores are.
///
/// A burst in which a thread waited for a core does not count, and a thread that slept for a mutex
/// waits for a core afterwards. So the figures of `mutex` and `shared_mutex` are those of bursts
/// with little contention.
#include "contenders.hpp"
#include "harness.hpp"
#include "thread_group.hpp"

#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/atomic_buffer.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <shared_mutex>
#include <type_traits>
#include <utility>
#include <vector>

namespace byre_bench {
namespace {

using Pointer = std::shared_ptr<std::byte[]>;

template <class Value>
Value make_value(std::size_t nbytes) {
  if constexpr (std::is_same_v<Value, Pointer>) {
    return std::make_shared_for_overwrite<std::byte[]>(nbytes);
  } else {
    return Value::allocate(nbytes);
  }
}

// The contenders. Each place has cache lines of its own.

struct alignas(64) AtomicPlace {
  using Value = byre::Buffer;
  static constexpr const char* name = "byre";
  Value load() { return place.load(); }
  void store(Value value) { place.store(std::move(value)); }
  byre::AtomicBuffer place;
};

struct Kept : AtomicPlace {
  static constexpr const char* name = "kept";
};

struct Floor {
  using Value = Pointer;
  static constexpr const char* name = "floor";
  void store(const Value&) {}
  alignas(64) std::atomic<std::size_t> taken{1 << 30};
  alignas(64) std::atomic<std::size_t> owners{1 << 30};
};

struct alignas(64) Variable {
  using Value = byre::Buffer;
  static constexpr const char* name = "clone";
  Value load() { return place; }
  void store(Value value) { place = std::move(value); }
  Value place;
};

struct alignas(64) AtomicPointer {
  using Value = Pointer;
  static constexpr const char* name = "atomic_shared_ptr";
  Value load() { return place.load(); }
  void store(Value value) { place.store(std::move(value)); }
  std::atomic<Value> place;
};

template <class Mutex, class ReadLock>
struct alignas(64) Locked {
  using Value = Pointer;
  static constexpr const char* name = std::is_same_v<Mutex, std::mutex> ? "mutex" : "shared_mutex";
  Value load() {
    const ReadLock lock(mutex);
    return place;
  }
  void store(Value value) {
    const std::lock_guard lock(mutex);
    place.swap(value);  // the former value is destroyed after the unlock
  }
  Mutex mutex;
  Value place;
};
using MutexPlace = Locked<std::mutex, std::lock_guard<std::mutex>>;
using SharedMutexPlace = Locked<std::shared_mutex, std::shared_lock<std::shared_mutex>>;

/// Places with a value each. Bursts alternate among them, because the cost depends on the address.
template <class Place>
class Places {
 public:
  explicit Places(std::size_t nbytes) {
    for (std::size_t number = 0; number < 8; ++number) {
      gaps_.emplace_back(64 + 80 * number);
      places_.push_back(std::make_unique<Place>());
      places_.back()->store(make_value<typename Place::Value>(nbytes));
    }
  }
  Place& at(std::size_t burst) { return *places_[burst % places_.size()]; }

 private:
  std::vector<std::vector<std::byte>> gaps_;
  std::vector<std::unique_ptr<Place>> places_;
};

const std::byte* data_of(const byre::Buffer& buffer) {
  return buffer.data();
}
const std::byte* data_of(const Pointer& pointer) {
  return pointer.get();
}

template <class Place>
void load_repeatedly(Place& place, std::size_t times) {
  for (std::size_t i = 0; i < times; ++i) {
    const auto value = place.load();
    benchmark::DoNotOptimize(data_of(value));
  }
}

void load_repeatedly(Kept& place, std::size_t times) {
  byre::Buffer kept = place.load();
  for (std::size_t i = 0; i < times; ++i) {
    if (!place.place.holds(kept)) {
      kept = place.load();
    }
    benchmark::DoNotOptimize(data_of(kept));
  }
}

void load_repeatedly(Floor& place, std::size_t times) {
  for (std::size_t i = 0; i < times; ++i) {
    place.taken.fetch_add(1, std::memory_order::acquire);
    place.owners.fetch_sub(1, std::memory_order::acq_rel);
  }
}

constexpr std::size_t loads_per_burst = 1000;
constexpr std::size_t value_nbytes = 64;

template <class Place>
void run_alone(benchmark::State& state) {
  Places<Place> places(value_nbytes);
  run_bursts(state, loads_per_burst, [&](std::size_t burst) {
    return timed_ns([&] { load_repeatedly(places.at(burst), loads_per_burst); });
  });
}

template <class Place>
void run_two_readers(benchmark::State& state) {
  Places<Place> places(value_nbytes);
  ThreadGroup threads(2);
  run_undisturbed_bursts(state, loads_per_burst, [&](std::size_t burst) {
    return threads.run([&](std::size_t) { load_repeatedly(places.at(burst), loads_per_burst); });
  });
}

template <class Value>
std::vector<Value> make_values(std::size_t nbytes) {
  std::vector<Value> values;
  while (values.size() < 4) {
    values.push_back(make_value<Value>(nbytes));
  }
  return values;
}

/// The first of two threads calls `load()`, which loads `loads` times; the second stores values in
/// turn meanwhile. On a virtual machine the host may run one of the two cores at a time, which the
/// system does not report: the burst counts as disturbed if there were few stores.
template <class Place, class Load>
ThreadGroup::Burst run_with_writer(ThreadGroup& threads, Place& place,
                                   const std::vector<typename Place::Value>& values,
                                   std::size_t loads, const Load& load) {
  std::atomic<bool> is_over{false};
  std::size_t stores = 0;
  auto burst = threads.run([&](std::size_t member) {
    if (member == 0) {
      load();
      is_over.store(true);
    } else {
      for (; !is_over.load(std::memory_order::relaxed); ++stores) {
        place.store(values[stores % values.size()]);
      }
    }
  });
  burst.is_undisturbed = burst.is_undisturbed && stores >= loads / 100;
  return burst;
}

template <class Place>
void run_while_stored(benchmark::State& state) {
  Places<Place> places(value_nbytes);
  const auto values = make_values<typename Place::Value>(value_nbytes);
  ThreadGroup threads(2);
  run_undisturbed_bursts(state, loads_per_burst, [&](std::size_t index) {
    Place& place = places.at(index);
    return run_with_writer(threads, place, values, loads_per_burst,
                           [&] { load_repeatedly(place, loads_per_burst); });
  });
}

/// Counts times, in nanoseconds, from which it computes percentiles.
class Histogram {
 public:
  void count(double ns) { ++counts_[std::min(static_cast<std::size_t>(ns), counts_.size() - 1)]; }
  void add(const Histogram& other) {
    std::transform(counts_.begin(), counts_.end(), other.counts_.begin(), counts_.begin(),
                   std::plus<>());
  }
  double percentile(double part) const {
    const auto total = std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
    auto left = static_cast<std::uint64_t>(static_cast<double>(total) * part);
    std::size_t ns = 0;
    while (counts_[ns] <= left) {
      left -= counts_[ns++];
    }
    return static_cast<double>(ns);
  }

 private:
  std::vector<std::uint32_t> counts_ = std::vector<std::uint32_t>(1 << 16);
};

constexpr std::size_t stored_nbytes = 1024 * mib;
constexpr std::size_t timed_loads = 20'000;

template <class Place>
void load_timed(Place& place, std::size_t count, Histogram& times) {
  for (std::size_t i = 0; i < count; ++i) {
    times.count(timed_ns([&] { load_repeatedly(place, 1); }));
  }
}

template <class Place>
void run_tail(benchmark::State& state) {
  Places<Place> places(value_nbytes);
  run_bursts(state, 1, [&](std::size_t burst) {
    Histogram times;
    load_timed(places.at(burst), timed_loads, times);
    return times.percentile(0.999);
  });
}

/// A figure is the percentile of ten undisturbed bursts together. If fewer than ten of twenty
/// bursts are undisturbed, it is the percentile of all of them, and the counter `is_disturbed` is
/// 1.
template <class Place>
void run_tail_while_stored(benchmark::State& state) {
  Places<Place> places(value_nbytes);
  const auto values = make_values<typename Place::Value>(stored_nbytes);
  ThreadGroup threads(2);
  bool is_disturbed = false;
  run_bursts(state, 1, [&](std::size_t index) {
    Place& place = places.at(index);
    Histogram undisturbed;
    Histogram all;
    std::size_t count = 0;
    for (std::size_t tries = 0; count < 10 && tries < 20; ++tries) {
      Histogram times;
      const auto burst = run_with_writer(threads, place, values, timed_loads / 10,
                                         [&] { load_timed(place, timed_loads / 10, times); });
      all.add(times);
      if (burst.is_undisturbed) {
        undisturbed.add(times);
        ++count;
      }
    }
    is_disturbed = is_disturbed || count != 10;
    return (count == 10 ? undisturbed : all).percentile(0.999);
  });
  state.counters["is_disturbed"] = is_disturbed ? 1 : 0;
}

/// A burst takes seconds, in which every thread loses its core. This changes few of the times.
void run_tail_while_filled(benchmark::State& state) {
  constexpr std::size_t stores_per_burst = 2;
  Places<AtomicPlace> places(value_nbytes);
  ThreadGroup threads(2);
  run_bursts(state, 1, [&](std::size_t burst) {
    Histogram times;
    std::atomic<std::size_t> stores{0};
    threads.run([&](std::size_t member) {
      if (member == 0) {
        while (stores.load() != stores_per_burst) {
          load_timed(places.at(burst), timed_loads, times);
        }
      } else {
        while (stores.load() != stores_per_burst) {
          auto next = byre::Buffer::allocate(stored_nbytes, byre::paged_allocator());
          std::memset(next.mutable_data(), 0x5a, stored_nbytes);
          places.at(burst).store(std::move(next));
          stores.fetch_add(1);
        }
      }
    });
    places.at(burst).store(byre::Buffer());  // frees the memory
    return times.percentile(0.999);
  });
}

template <class Place>
void add_readers() {
  add({"atomic_load", value_nbytes}, Place::name, run_alone<Place>);
  add({"atomic_load_2", value_nbytes}, Place::name, run_two_readers<Place>);
}

template <class Place>
void add_place() {
  add_readers<Place>();
  add({"atomic_load_stored", value_nbytes}, Place::name, run_while_stored<Place>);
  add({"atomic_tail", stored_nbytes}, Place::name, run_tail<Place>);
  add({"atomic_tail_stored", stored_nbytes}, Place::name, run_tail_while_stored<Place>);
}

}  // namespace

void add_atomic_places() {
  add_place<AtomicPlace>();
  add_readers<Variable>();
  add_readers<Floor>();
  add_readers<Kept>();
  add_place<AtomicPointer>();
  add_place<MutexPlace>();
  add_place<SharedMutexPlace>();
  add({"atomic_tail_filled", stored_nbytes}, AtomicPlace::name, run_tail_while_filled);
}

}  // namespace byre_bench
