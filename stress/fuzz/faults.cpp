// SPDX-License-Identifier: BSL-1.0
#include "faults.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace byre::fuzz {
namespace {

/// Those of the call under way: operator new is called with nothing of the target.
Faults* in_this_call = nullptr;

}  // namespace

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
    if (steps_in_new_) {
      in_this_call = this;
      test::before_next_new = &run_steps_in_new;
    }
  }
}

void Faults::stop_heap() noexcept {
  if (!this_call_.active) {
    return;
  }
  test::before_next_new = nullptr;
  left(Fault::heap) = std::exchange(test::news_until_failure, test::never_fails);
  if (std::exchange(test::new_failed, false)) {
    left(Fault::heap) = test::never_fails;
    this_call_.fault = Fault::heap;
  }
}

void Faults::run_steps_in_new() {
  const Pause pause(*in_this_call);
  if (const auto steps = std::exchange(in_this_call->steps_in_new_, nullptr)) {
    steps();
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
    std::memset(destination, std::to_integer<int>(half_copied), nbytes / 2);
    throw CopyFailed();
  }
  Allocator::copy(destination, source, nbytes);
  faults_.this_call_.copies += 1;
}

}  // namespace byre::fuzz
