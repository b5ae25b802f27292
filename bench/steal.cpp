// SPDX-License-Identifier: BSL-1.0
/// A steal: the write of a last owner whose data was shared. It happens once per clone, so an array
/// of buffers is cloned and the clones are dropped, untimed, and then each buffer is written once.
/// The same walk is done over buffers that were always alone, and over raw pointers to the same
/// bytes of buffers that were cloned and dropped in the same way, so that the caches hold the same.
#include "contenders.hpp"
#include "harness.hpp"

#include <string>
#include <vector>

namespace byre_bench {
namespace {

constexpr std::size_t array_size = 200;

template <class Handles>
double write_each(Handles& handles, std::size_t index) {
  return timed_ns([&] {
    for (auto& handle : handles) {
      std::byte* const bytes = handle.mutable_data();
      bytes[index] = std::byte{1};
      benchmark::ClobberMemory();
    }
  });
}

template <class Bytes>
void clone_and_drop_each(const std::vector<Bytes>& sources) {
  for (const Bytes& source : sources) {
    const Bytes clone(source);
    benchmark::DoNotOptimize(clone.data());
  }
}

template <class Contender>
auto make_array(std::size_t nbytes) {
  std::vector<typename Contender::Bytes> array;
  for (std::size_t i = 0; i < array_size; ++i) {
    array.push_back(make_filled<Contender>(nbytes, Memory::recycled));
  }
  return array;
}

template <class Contender>
void add_steal(std::size_t nbytes) {
  add({"steal", nbytes}, Contender::name, [=](benchmark::State& state) {
    auto array = make_array<Contender>(nbytes);
    const auto before = byre::stats::snapshot();
    run_bursts(state, array_size, [&](std::size_t burst) {
      clone_and_drop_each(array);
      return write_each(array, burst % nbytes);
    });
    const auto copies = (byre::stats::snapshot() - before).copies;
    state.counters["copies"] = static_cast<double>(copies);
    if (copies != 0) {
      report_wrong_count(std::string(Contender::name) + ": steals made " + std::to_string(copies) +
                         " copies");
    }
  });
}

void add_alone(std::size_t nbytes) {
  add({"steal", nbytes}, "byre_alone", [=](benchmark::State& state) {
    auto array = make_array<Word>(nbytes);
    run_bursts(state, array_size, [&](std::size_t burst) {
      clone_and_drop_each(array);
      write_each(array, burst % nbytes);  // untimed: from here on they are alone
      return write_each(array, burst % nbytes);
    });
  });
}

void add_raw(std::size_t nbytes) {
  struct RawBytes {
    std::byte* bytes;
    std::byte* mutable_data() noexcept { return bytes; }
  };
  add({"steal", nbytes}, "raw", [=](benchmark::State& state) {
    auto array = make_array<Word>(nbytes);
    std::vector<RawBytes> pointers;
    for (auto& bytes : array) {
      pointers.push_back({bytes.mutable_data()});
    }
    run_bursts(state, array_size, [&](std::size_t burst) {
      clone_and_drop_each(array);
      return write_each(pointers, burst % nbytes);
    });
  });
}

}  // namespace

void add_steals() {
  for (const std::size_t nbytes : {std::size_t{64}, 4 * kib}) {
    add_raw(nbytes);
    add_alone(nbytes);
    add_steal<Word>(nbytes);
    add_steal<SharedPtr>(nbytes);
    add_steal<Lock>(nbytes);
  }
}

}  // namespace byre_bench
