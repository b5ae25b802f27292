// SPDX-License-Identifier: BSL-1.0
/// Access to bytes that are already one's own. Each operation fetches the pointer from memory,
/// since a program that holds a handle has it there, and touches one byte at an index that varies.
/// The raw pointer lies in memory too, and is fetched as often.
///
///   floor     write_alone: the raw pointer, and the check by hand: a load of where the count is, a load of it, and
///             a branch. It is what a write costs by who asks a count that lies beside the data.
///   raw_adds  write_alone: the raw pointer, and beside it two additions of registers that nothing waits for. It
///             shows whether a write waits for the check, or only has more instructions.
#include "contenders.hpp"
#include "harness.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace byre_bench {
namespace {

constexpr std::size_t accesses_per_burst = 4096;
constexpr std::size_t stride = 67;  // odd: visits every byte of a power of two

struct RawPointer {
  std::byte* bytes;
  const std::byte* data() const noexcept { return bytes; }
  std::byte* mutable_data() noexcept { return bytes; }
};

struct CheckedPointer {
  std::byte* bytes;
  const std::atomic<std::uint64_t>* count;
  std::byte* mutable_data() noexcept {
    if (count->load(std::memory_order::acquire) != 1) [[unlikely]] {
      std::abort();
    }
    return bytes;
  }
};

struct Nothing {
  void operator()(std::size_t) const noexcept {}
};

struct Additions {
  void operator()(std::size_t i) const noexcept { asm("" : : "r"(i + 2), "r"(i + 3)); }
};

/// What is shown to the compiler: that all memory may have changed since, and at the end the sum of
/// the bytes, so that each is loaded into a register.
template <class Handle>
double read_bytes(const Handle& handle, std::size_t mask) {
  std::size_t sum = 0;
  const double ns = timed_ns([&] {
    for (std::size_t i = 0; i < accesses_per_burst; ++i) {
      sum += std::to_integer<std::size_t>(handle.data()[(i * stride) & mask]);
      benchmark::ClobberMemory();
    }
    benchmark::DoNotOptimize(sum);
  });
  return ns;
}

/// What is shown to the compiler: that somebody may look at all memory, and change it. `beside` is called before
/// each write.
template <class Handle, class Beside>
double write_bytes(Handle& handle, std::size_t mask, Beside beside) {
  return timed_ns([&] {
    for (std::size_t i = 0; i < accesses_per_burst; ++i) {
      beside(i);
      std::byte* const bytes = handle.mutable_data();
      bytes[(i * stride) & mask] = static_cast<std::byte>(i);
      benchmark::ClobberMemory();
    }
  });
}

/// Measures `handle` with nobody else holding its `nbytes` bytes.
template <class Handle>
void run_access(benchmark::State& state, Handle& handle, std::size_t nbytes, bool write) {
  benchmark::DoNotOptimize(&handle);
  run_bursts(state, accesses_per_burst, [&](std::size_t) {
    return write ? write_bytes(handle, nbytes - 1, Nothing()) : read_bytes(handle, nbytes - 1);
  });
}

const char* operation_name(bool write) {
  return write ? "write_alone" : "read";
}

template <class Contender>
void add_contender(std::size_t nbytes, bool write) {
  add({operation_name(write), nbytes}, Contender::name, [=](benchmark::State& state) {
    auto bytes = make_filled<Contender>(nbytes, Memory::recycled);
    run_access(state, bytes, nbytes, write);
  });
}

void add_raw(std::size_t nbytes, bool write) {
  add({operation_name(write), nbytes}, "raw", [=](benchmark::State& state) {
    auto bytes = make_filled<Word>(nbytes, Memory::recycled);
    RawPointer raw{bytes.mutable_data()};
    run_access(state, raw, nbytes, write);
  });
}

void add_floor(std::size_t nbytes) {
  add({"write_alone", nbytes}, "floor", [=](benchmark::State& state) {
    auto bytes = make_filled<Word>(nbytes, Memory::recycled);
    const std::atomic<std::uint64_t> count = 1;
    CheckedPointer checked{bytes.mutable_data(), &count};
    benchmark::DoNotOptimize(&checked);
    run_bursts(state, accesses_per_burst,
               [&](std::size_t) { return write_bytes(checked, nbytes - 1, Nothing()); });
  });
}

void add_raw_with_additions(std::size_t nbytes) {
  add({"write_alone", nbytes}, "raw_adds", [=](benchmark::State& state) {
    auto bytes = make_filled<Word>(nbytes, Memory::recycled);
    RawPointer raw{bytes.mutable_data()};
    benchmark::DoNotOptimize(&raw);
    run_bursts(state, accesses_per_burst,
               [&](std::size_t) { return write_bytes(raw, nbytes - 1, Additions()); });
  });
}

void add_storage(std::size_t nbytes, bool write) {
  add({operation_name(write), nbytes}, "storage", [=](benchmark::State& state) {
    byre::Storage storage(make_filled<Word>(nbytes, Memory::recycled));
    run_access(state, storage, nbytes, write);
  });
}

}  // namespace

void add_access() {
  for (const bool write : {false, true}) {
    for (const std::size_t nbytes : {std::size_t{64}, 4 * kib, 256 * kib}) {
      add_raw(nbytes, write);
      add_contender<Word>(nbytes, write);
      add_contender<SharedPtr>(nbytes, write);
      add_contender<Lock>(nbytes, write);
      add_storage(nbytes, write);
      if (write) {
        add_floor(nbytes);
        add_raw_with_additions(nbytes);
      }
    }
  }
}

}  // namespace byre_bench
