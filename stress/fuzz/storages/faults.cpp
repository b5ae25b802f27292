// SPDX-License-Identifier: BSL-1.0
#include "faults.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace byre::fuzz {

bool Faults::is_armed() const {
  return std::ranges::any_of(left_, [](int left) { return left != test::never_fails; });
}

bool Faults::fires(Fault fault) {
  int& left = this->left(fault);
  if (left == test::never_fails || left-- != 0) {
    return false;
  }
  left = test::never_fails;
  this_call_.fault = fault;
  return true;
}

void Faults::start_heap() noexcept {
  if (this_call_.active) {
    test::news_until_failure = left(Fault::heap);
  }
}

void Faults::stop_heap() noexcept {
  if (!this_call_.active) {
    return;
  }
  left(Fault::heap) = std::exchange(test::news_until_failure, test::never_fails);
  if (std::exchange(test::new_failed, false)) {
    left(Fault::heap) = test::never_fails;
    this_call_.fault = Fault::heap;
  }
}

Block FaultyAllocator::allocate(const Request& request) {
  const Faults::Pause pause(faults_);
  if (faults_.fires(Fault::allocation)) {
    throw std::bad_alloc();
  }
  const Block block = aligned_allocator().allocate(request);
  out_.insert(block.base);
  std::memset(block.data, 0xA5, request.nbytes);
  return block;
}

void FaultyAllocator::deallocate(const Block& block) noexcept {
  if (out_.erase(block.base) != 1) {
    fail("a block of %zu bytes was released that is not out", block.capacity);
  }
  std::memset(block.data, 0x5A, block.capacity);
  aligned_allocator().deallocate(block);
}

void FaultyAllocator::copy(void* destination, const void* source, std::size_t nbytes) {
  const Faults::Pause pause(faults_);
  const bool fails = faults_.fires(Fault::copy);
  if (const auto steps = std::exchange(faults_.nested_steps_, nullptr)) {
    steps();
  }
  if (fails) {
    std::memset(destination, 0xEE, nbytes / 2);
    throw CopyFailed();
  }
  Allocator::copy(destination, source, nbytes);
  faults_.this_call_.has_copied = true;
}

}  // namespace byre::fuzz
