// SPDX-License-Identifier: BSL-1.0
#include "failing_new.hpp"

#include <byre/sync/detail/process_state.hpp>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <utility>

namespace byre::test {

constinit thread_local int news_before_failure = never_fails;
constinit thread_local std::size_t max_nbytes_of_new = std::numeric_limits<std::size_t>::max();
constinit thread_local bool failures_persist = false;
constinit thread_local bool new_failed = false;
constinit thread_local std::ptrdiff_t live_new_count = 0;
constinit thread_local Act before_next_new = nullptr;

namespace {

#if defined(_WIN32)
void* allocate_aligned(std::size_t alignment, std::size_t nbytes) noexcept {
  return ::_aligned_malloc(nbytes, alignment);
}
void free_aligned(void* memory) noexcept {
  ::_aligned_free(memory);
}
#else
void* allocate_aligned(std::size_t alignment, std::size_t nbytes) noexcept {
  return std::aligned_alloc(alignment, nbytes);
}
void free_aligned(void* memory) noexcept {
  std::free(memory);
}
#endif

/// Also checks that the thread holds no ProcessMutex: operator new may call a new-handler of the
/// user, which may use byre.
void* allocate_or_fail(std::size_t nbytes,
                       std::size_t alignment = alignof(std::max_align_t)) noexcept {
  if (sync::detail::holds_process_mutex) {
    std::fputs("operator new was called while this thread holds a ProcessMutex\n", stderr);
    std::abort();
  }
  if (const Act first = std::exchange(before_next_new, nullptr)) {
    first();
  }
  const bool has_to_fail = news_before_failure != never_fails && news_before_failure-- == 0;
  if (has_to_fail || (failures_persist && new_failed) || nbytes > max_nbytes_of_new) {
    new_failed = true;
    return nullptr;
  }
  ++live_new_count;
  return alignment <= alignof(std::max_align_t)
             ? std::malloc(nbytes == 0 ? 1 : nbytes)
             : allocate_aligned(alignment, (nbytes / alignment + 1) * alignment);
}

void release(void* memory) noexcept {
  live_new_count -= memory == nullptr ? 0 : 1;
  std::free(memory);
}

void release(void* memory, std::size_t alignment) noexcept {
  if (alignment <= alignof(std::max_align_t)) {
    release(memory);
    return;
  }
  live_new_count -= memory == nullptr ? 0 : 1;
  free_aligned(memory);
}

}  // namespace
}  // namespace byre::test

void* operator new(std::size_t nbytes) {
  void* memory = byre::test::allocate_or_fail(nbytes);
  return memory != nullptr ? memory : throw std::bad_alloc();
}
void* operator new(std::size_t nbytes, const std::nothrow_t&) noexcept {
  return byre::test::allocate_or_fail(nbytes);
}
void* operator new(std::size_t nbytes, std::align_val_t alignment) {
  void* memory = byre::test::allocate_or_fail(nbytes, static_cast<std::size_t>(alignment));
  return memory != nullptr ? memory : throw std::bad_alloc();
}
void operator delete(void* memory, std::align_val_t alignment) noexcept {
  byre::test::release(memory, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory, std::size_t, std::align_val_t alignment) noexcept {
  byre::test::release(memory, static_cast<std::size_t>(alignment));
}
// Sanitizers define their own array forms, which do not call the functions above.
void* operator new[](std::size_t nbytes) {
  return operator new(nbytes);
}
void* operator new[](std::size_t nbytes, const std::nothrow_t& nothrow) noexcept {
  return operator new(nbytes, nothrow);
}
void operator delete(void* memory) noexcept {
  byre::test::release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  byre::test::release(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  byre::test::release(memory);
}
void operator delete[](void* memory) noexcept {
  byre::test::release(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  byre::test::release(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  byre::test::release(memory);
}
