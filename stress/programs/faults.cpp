// SPDX-License-Identifier: BSL-1.0
#include "faults.hpp"

#include <algorithm>

// A program can replace operator new only once, and clang's thread sanitizer replaces it already.
#if BYRE_FAILS_NEW
#include "support/failing_new.hpp"
#endif

namespace byre::programs {
namespace {

/// The faults of the call that this thread is making. operator new reads them here, because it has
/// no argument that could pass them.
constinit thread_local Faults* current_faults = nullptr;

}  // namespace

Faults* Faults::current() noexcept {
  return current_faults;
}

bool Faults::is_armed() const noexcept {
  return std::ranges::any_of(armed_, [](const Armed& armed) { return armed.times != 0; });
}

bool Faults::fires(Fault fault) {
  Armed& armed = of(fault);
  if (armed.times == 0 || (armed.after != 0 && armed.after-- != 0)) {
    return false;
  }
  --armed.times;
  this_call_.fault = fault;
  return true;
}

Faults::AllowFailures::AllowFailures(Faults& faults) noexcept
    : faults_(faults), outer_(std::exchange(current_faults, &faults)) {
  faults_.start_heap();
}

Faults::AllowFailures::~AllowFailures() {
  faults_.stop_heap();
  current_faults = outer_;
}

#if BYRE_FAILS_NEW

void Faults::start_heap() noexcept {
  const Armed& heap = of(Fault::heap);
  test::news_before_failure = heap.times == 0 ? test::never_fails : heap.after;
  if (this_call_.steps_in_new) {
    test::before_next_new = &run_steps_in_new;
  }
}

void Faults::stop_heap() noexcept {
  test::before_next_new = nullptr;
  const int left = std::exchange(test::news_before_failure, test::never_fails);
  Armed& heap = of(Fault::heap);
  heap.after = heap.times == 0 ? never : left;
  if (std::exchange(test::new_failed, false)) {
    heap = {};
    this_call_.fault = Fault::heap;
  }
}

#else

void Faults::start_heap() noexcept {}
void Faults::stop_heap() noexcept {}

#endif

void Faults::run_steps_in_new() {
  const Pause pause;
  if (const auto steps = std::exchange(current_faults->this_call_.steps_in_new, nullptr)) {
    steps();
  }
}

}  // namespace byre::programs
