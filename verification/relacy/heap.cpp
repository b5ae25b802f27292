// SPDX-License-Identifier: BSL-1.0
/// Relacy replaces only the plain forms of operator new and delete. Whether the standard library's
/// other forms call the plain ones depends on the compiler. The definitions here call the plain
/// ones.
#include <new>

#include "detector.hpp"

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return ::operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return ::operator new[](size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void operator delete(void* address, const std::nothrow_t&) noexcept {
  ::operator delete(address);
}
void operator delete[](void* address, const std::nothrow_t&) noexcept {
  ::operator delete[](address);
}
void operator delete(void* address, std::size_t) noexcept {
  ::operator delete(address);
}
void operator delete[](void* address, std::size_t) noexcept {
  ::operator delete[](address);
}

namespace byre::verification {

/// Refers to the plain forms, so that the libraries find them even if all calls here are inlined.
[[gnu::used]] void* (*const plain_new)(std::size_t) = &::operator new;
[[gnu::used]] void* (*const plain_array_new)(std::size_t) = &::operator new[];

}  // namespace byre::verification
