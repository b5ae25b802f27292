// SPDX-License-Identifier: BSL-1.0
#include "failing_allocator.hpp"

#include <byre/error/error.hpp>

#include <new>

#include "injector.hpp"

namespace byre::stress {

Block FailingAllocator::allocate(const Request& request) {
  fail_if_due(request);
  return count(behind_.allocate(request));
}

Block FailingAllocator::allocate_copy(const Request& request, const void* source,
                                      std::size_t nbytes) {
  const Injector* injector = Injector::current();
  if (injector != nullptr && injector->is_armed(Fault::copy)) {
    return Allocator::allocate_copy(request, source, nbytes);  // by way of copy()
  }
  fail_if_due(request);
  return count(behind_.allocate_copy(request, source, nbytes));
}

void FailingAllocator::deallocate(const Block& block) noexcept {
  // Relaxed, as in all of this class: a sum, which publishes nothing.
  live_nbytes_.fetch_sub(block.capacity, boost::memory_order_relaxed);
  behind_.deallocate(block);
}

void FailingAllocator::copy(void* destination, const void* source, std::size_t nbytes) {
  Injector* injector = Injector::current();
  if (injector != nullptr && injector->fires(Fault::copy)) {
    behind_.copy(destination, source, nbytes / 2);
    throw CopyFailed();
  }
  behind_.copy(destination, source, nbytes);
}

void FailingAllocator::fail_if_due(const Request& request) {
  Injector* injector = Injector::current();
  if (injector == nullptr) {
    return;
  }
  // Both types that an allocator may throw for want of memory.
  if (injector->fires(Fault::allocation)) {
    throw std::bad_alloc();
  }
  if (injector->fires(Fault::random)) {
    throw OutOfMemory(request.nbytes, name());
  }
  if (budget_nbytes_ != 0 &&
      live_nbytes_.load(boost::memory_order_relaxed) + request.nbytes > budget_nbytes_) {
    injector->record(Fault::budget);
    throw OutOfMemory(request.nbytes, name());
  }
}

const Block& FailingAllocator::count(const Block& block) noexcept {
  live_nbytes_.fetch_add(block.capacity, boost::memory_order_relaxed);
  return block;
}

}  // namespace byre::stress
