// SPDX-License-Identifier: BSL-1.0
// Releasing a buffer, and the steps of an AtomicBuffer, need no heap. Each buffer is released by a
// new thread while malloc fails, and the counters must still be correct after these threads have
// ended. This is a separate program, because it replaces malloc.
#include <byre/byre.hpp>
#include <byre/storage/atomic_buffer.hpp>

#include <pthread.h>

#include <array>
#include <cstdio>
#include <optional>

extern "C" void* __libc_malloc(std::size_t);
extern "C" void* __libc_calloc(std::size_t, std::size_t);
extern "C" void* __libc_realloc(void*, std::size_t);

namespace {
thread_local bool is_full = false;
}  // namespace

extern "C" {
void* malloc(std::size_t nbytes) {
  return is_full ? nullptr : __libc_malloc(nbytes);
}
void* calloc(std::size_t count, std::size_t nbytes) {
  return is_full ? nullptr : __libc_calloc(count, nbytes);
}
void* realloc(void* block, std::size_t nbytes) {
  return is_full ? nullptr : __libc_realloc(block, nbytes);
}
}

int main() {
  std::array<std::optional<byre::Buffer>, 3> buffers;
  const auto release = [](void* erased) -> void* {
    is_full = true;
    static_cast<std::optional<byre::Buffer>*>(erased)->reset();
    is_full = false;
    return nullptr;
  };
  for (const std::size_t nbytes : std::array<std::size_t, 3>{100, 10'000, 1'000'000}) {
    for (std::optional<byre::Buffer>& buffer : buffers) {
      buffer = byre::Buffer::allocate(nbytes);
    }
    for (std::optional<byre::Buffer>& buffer : buffers) {
      pthread_t thread{};
      if (pthread_create(&thread, nullptr, release, &buffer) != 0 ||
          pthread_join(thread, nullptr) != 0) {
        return 2;
      }
    }
  }
  {
    const byre::Buffer buffer = byre::Buffer::allocate(100);
    byre::Buffer expected = byre::Buffer::allocate(100);
    is_full = true;
    byre::AtomicBuffer place(expected);
    for (int load = 0; load < 10'000; ++load) {
      const byre::Buffer loaded = place.load();
    }
    place.compare_exchange(expected, buffer);
    place.store(place.exchange(byre::Buffer()));
    place.notify();
    is_full = false;
  }
  is_full = true;
  const bool is_replaced = std::fopen("/dev/null", "r") == nullptr;  // compilers may elide malloc
  is_full = false;
  const auto live = byre::stats::snapshot().live_bytes;
  std::printf("%ld bytes are alive\n", static_cast<long>(live));
  return is_replaced && live == 0 ? 0 : 1;
}
