// SPDX-License-Identifier: BSL-1.0
// The end of a program that contains byre frees no state of a thread that still runs.
#include <byre/storage/buffer.hpp>

#include <windows.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <thread>

namespace {

std::atomic<DWORD> worker = 0;
std::atomic<bool> is_ready = false;
std::atomic<bool> is_ending = false;
void* of_worker[1000];
std::atomic<std::size_t> count = 0;

void* take(std::size_t nbytes, std::size_t alignment) noexcept {
  void* const memory = ::_aligned_malloc(nbytes, alignment);
  if (::GetCurrentThreadId() == worker && count < std::size(of_worker)) {
    of_worker[count++] = memory;
  }
  return memory;
}

void give_back(void* memory) noexcept {
  if (is_ending && memory != nullptr &&
      std::find(of_worker, of_worker + count, memory) != of_worker + count) {
    std::puts("the end of the program frees state of a thread that still runs");
    std::fflush(stdout);
    std::_Exit(1);
  }
  ::_aligned_free(memory);
}

}  // namespace

void* operator new(std::size_t nbytes) {
  return take(nbytes, 16);
}
void* operator new(std::size_t nbytes, const std::nothrow_t&) noexcept {
  return take(nbytes, 16);
}
void* operator new(std::size_t nbytes, std::align_val_t alignment) {
  return take(nbytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t nbytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return take(nbytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  give_back(memory);
}

int main() {
  std::thread([] {
    worker = ::GetCurrentThreadId();
    {
      const byre::Buffer buffer = byre::Buffer::allocate(100);
      byre::Buffer clone = buffer;
      clone.mutable_data();
    }
    is_ready = true;
    ::Sleep(INFINITE);
  }).detach();
  while (!is_ready) {
    std::this_thread::yield();
  }
  if (count == 0) {
    std::puts("the thread made no state");
    return 1;
  }
  is_ending = true;
}
