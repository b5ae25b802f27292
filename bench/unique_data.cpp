// SPDX-License-Identifier: BSL-1.0
/// Data that has one owner.
///
///   read, write_alone  Each operation loads the pointer from memory, as in a program that holds a
///                      handle, and accesses one byte at a varying index. The raw pointer is also
///                      stored in memory and loaded each time.
///     floor            a raw pointer with a check by hand: a load of the address of the count, a
///                      load of the count, and a branch. This is the cost of a count outside the
///                      handle.
///     raw_adds         a raw pointer and two additions of independent registers. It shows whether
///                      a write waits for the check, or only executes more instructions.
///   steal              The first write of a last owner after its data was shared. A steal happens
///                      once per clone, so an array of buffers is cloned and the clones are
///                      dropped, untimed; then each buffer is written once. `byre_alone` writes
///                      unique buffers, and `raw` writes raw pointers, after equal clones and
///                      drops, so that the caches contain equal data.
///   memory_per_clone   The size of the handle and the heap memory that it allocates.
#include "contenders.hpp"
#include "harness.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace byre_bench {
namespace {

constexpr std::size_t accesses_per_burst = 4096;
constexpr std::size_t stride = 67;  // odd: visits every byte if the size is a power of two

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

/// Returns the nanoseconds of accesses_per_burst reads. The compiler must assume that memory
/// changes after each access, and must load each byte for the sum.
template <class Handle>
[[gnu::noinline]] double read_bytes(const Handle& handle, std::size_t mask) {
  std::size_t sum = 0;
  return timed_ns([&] {
    for (std::size_t i = 0; i < accesses_per_burst; ++i) {
      sum += std::to_integer<std::size_t>(handle.data()[(i * stride) & mask]);
      benchmark::ClobberMemory();
    }
    benchmark::DoNotOptimize(sum);
  });
}

/// Like read_bytes(), for writes. Calls `before(index)` before each write. docs/costs.md prints the
/// machine code of this loop.
template <class Handle, class Before>
[[gnu::noinline]] double write_bytes(Handle& handle, std::size_t mask, Before before) {
  return timed_ns([&] {
    for (std::size_t i = 0; i < accesses_per_burst; ++i) {
      before(i);
      std::byte* const bytes = handle.mutable_data();
      bytes[(i * stride) & mask] = static_cast<std::byte>(i);
      benchmark::ClobberMemory();
    }
  });
}

/// Adds a benchmark. `access(handle_to(buffer), mask)` returns the nanoseconds of the accesses to a
/// buffer of `nbytes`.
template <class HandleTo, class Access>
void add_access(const char* operation, const char* contender, std::size_t nbytes,
                HandleTo handle_to, Access access) {
  add({operation, nbytes}, contender, [=](benchmark::State& state) {
    auto buffer = make_filled<Byre>(nbytes, Memory::recycled);
    auto&& handle = handle_to(buffer);
    run_bursts(state, accesses_per_burst, [&](std::size_t) { return access(handle, nbytes - 1); });
  });
}

byre::Buffer& itself(byre::Buffer& buffer) {
  return buffer;
}

RawPointer raw_pointer(byre::Buffer& buffer) {
  return {buffer.mutable_data()};
}

CheckedPointer checked_pointer(byre::Buffer& buffer) {
  static std::atomic<std::uint64_t> count = 1;
  benchmark::DoNotOptimize(count);
  return {buffer.mutable_data(), &count};
}

void add_accesses(std::size_t nbytes) {
  const auto read = [](const auto& handle, std::size_t mask) { return read_bytes(handle, mask); };
  const auto write = [](auto& handle, std::size_t mask) {
    return write_bytes(handle, mask, Nothing());
  };
  add_access("read", "raw", nbytes, raw_pointer, read);
  add_access("read", "byre", nbytes, itself, read);
  add_access("write_alone", "raw", nbytes, raw_pointer, write);
  add_access("write_alone", "byre", nbytes, itself, write);
  if (nbytes <= 4 * kib) {
    add_access("write_alone", "floor", nbytes, checked_pointer, write);
    add_access("write_alone", "raw_adds", nbytes, raw_pointer, [](auto& handle, std::size_t mask) {
      return write_bytes(handle, mask, Additions());
    });
  }
}

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

/// Adds a benchmark. `write(buffers, pointers, index)` writes each element of one of the two arrays
/// and returns the nanoseconds that this took.
template <class Write>
void add_walk(const char* contender, std::size_t nbytes, Write write) {
  add({"steal", nbytes}, contender, [=](benchmark::State& state) {
    std::vector<byre::Buffer> buffers;
    std::vector<RawPointer> pointers;
    for (std::size_t i = 0; i < array_size; ++i) {
      buffers.push_back(make_filled<Byre>(nbytes, Memory::recycled));
      pointers.push_back(raw_pointer(buffers.back()));
    }
    const auto before = byre::stats::snapshot();
    run_bursts(state, array_size, [&](std::size_t burst) {
      for (const byre::Buffer& buffer : buffers) {
        const byre::Buffer clone(buffer);
        benchmark::DoNotOptimize(clone.data());
      }
      return write(buffers, pointers, burst % nbytes);
    });
    const auto copies = (byre::stats::snapshot() - before).copies;
    if (copies != 0) {
      report_wrong_count("steals made " + std::to_string(copies) + " copies");
    }
  });
}

void add_steals(std::size_t nbytes) {
  add_walk("raw", nbytes,
           [](auto&, auto& pointers, auto index) { return write_each(pointers, index); });
  add_walk("byre", nbytes,
           [](auto& buffers, auto&, auto index) { return write_each(buffers, index); });
  add_walk("byre_alone", nbytes, [](auto& buffers, auto&, auto index) {
    write_each(buffers, index);  // untimed: these writes steal
    return write_each(buffers, index);
  });
}

template <class Bytes>
void add_memory_per_clone(const char* contender) {
  add({"memory_per_clone", 64}, contender, [](benchmark::State& state) {
    constexpr std::size_t clone_count = 10000;
    const Bytes source = Bytes::allocate(64);
    std::vector<Bytes> clones;
    report_memory(state, clone_count, [&] {
      clones.reserve(clone_count);
      for (std::size_t i = 0; i < clone_count; ++i) {
        clones.push_back(source.lazy_clone());
      }
    });
  });
}

}  // namespace

void add_unique_data() {
  for (const std::size_t nbytes : {std::size_t{64}, 4 * kib, 256 * kib}) {
    add_accesses(nbytes);
  }
  for (const std::size_t nbytes : {std::size_t{64}, 4 * kib}) {
    add_steals(nbytes);
  }
  add_memory_per_clone<byre::Buffer>("byre");
  add_memory_per_clone<byre::Storage>("storage");
}

}  // namespace byre_bench
