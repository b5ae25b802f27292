// SPDX-License-Identifier: BSL-1.0
#include "seam.hpp"

#include <byre/storage/buffer.hpp>

#include <atomic>
#include <cstdint>
#include <thread>

namespace byre_bench {
namespace {

constexpr std::size_t nbytes = 64;
constexpr std::size_t stride = 67;

/// Makes the compiler assume that memory was read and written.
void clobber(void* pointer) {
  asm volatile("" : : "r"(pointer) : "memory");
}

[[gnu::noinline]] void clone_and_drop(std::size_t times) {
  static const byre::Buffer buffer = byre::Buffer::allocate(nbytes);
  for (std::size_t number = 0; number < times; ++number) {
    byre::Buffer clone = buffer;
    clobber(&clone);
  }
}

[[gnu::noinline]] void write_alone(std::size_t times) {
  static byre::Buffer buffer = byre::Buffer::allocate(nbytes);
  for (std::size_t number = 0; number < times; ++number) {
    buffer.mutable_data()[number * stride % nbytes] = std::byte{1};
    clobber(&buffer);
  }
}

[[gnu::noinline]] void write_shared(std::size_t times) {
  static const byre::Buffer buffer = byre::Buffer::allocate(nbytes);
  for (std::size_t number = 0; number < times; ++number) {
    byre::Buffer clone = buffer;
    clone.mutable_data()[number % nbytes] = std::byte{1};
    clobber(&clone);
  }
}

void wait_and_wake(std::size_t times) {
  std::atomic<std::uint64_t> turn{0};
  const auto take_turns = [&](std::uint64_t first) {
    for (std::uint64_t mine = first; mine < 2 * times; mine += 2) {
      const auto keep_waiting = [&] { return turn.load() != mine; };
      while (keep_waiting()) {
        byre::sync::detail::park(&turn, keep_waiting);
      }
      turn.store(mine + 1);
      byre::sync::detail::unpark_all(&turn);
    }
  };
  std::thread other(take_turns, 1);
  take_turns(0);
  other.join();
}

}  // namespace

#if BYRE_SYNC == 1
const Seam boost_seam
#else
const Seam standard_seam
#endif
    {clone_and_drop, write_alone, write_shared, wait_and_wake};

}  // namespace byre_bench
