// SPDX-License-Identifier: BSL-1.0
#include "injector.hpp"

#include <byre/error/error.hpp>

#include <new>

#if BYRE_STRESS_FAILS_HEAP
#include "support/failing_new.hpp"
#endif

namespace byre::stress {
namespace {

constinit thread_local Injector* current_injector = nullptr;

void arm_heap([[maybe_unused]] std::uint32_t after) noexcept {
#if BYRE_STRESS_FAILS_HEAP
  test::new_failed = false;
  test::news_until_failure = static_cast<int>(after);
#endif
}

/// Whether it failed since it was armed.
bool disarm_heap() noexcept {
#if BYRE_STRESS_FAILS_HEAP
  test::news_until_failure = test::never_fails;
  return test::new_failed;
#else
  return false;
#endif
}

}  // namespace

bool can_fail_heap() noexcept {
  return BYRE_STRESS_FAILS_HEAP != 0;
}

Injector::Injector(const FaultRates& rates, std::uint64_t seed) : rates_(rates), random_(seed) {
  current_injector = this;
}

Injector::~Injector() {
  current_injector = nullptr;
}

Injector* Injector::current() noexcept {
  return current_injector;
}

void Injector::arm(std::optional<Fault> fault, std::uint32_t after) noexcept {
  armed_ = fault;
  opportunities_before_ = after;
  to_throw_.reset();
  at_arm_ = counts_;
  if (is_armed(Fault::heap)) {
    arm_heap(after);
  }
}

void Injector::disarm() noexcept {
  if (is_armed(Fault::heap) && disarm_heap()) {
    record(Fault::heap);
  }
  armed_.reset();
}

void Injector::suspend_heap_fault() noexcept {
  if (current_injector != nullptr && current_injector->is_armed(Fault::heap)) {
    current_injector->disarm();
  }
}

bool Injector::fires(Fault fault) noexcept {
  bool happens = false;
  if (fault == Fault::allocation && ++allocations_ == rates_.allocation_at) {
    happens = true;
  } else if (is_armed(fault)) {
    happens = opportunities_before_-- == 0;
    if (happens) {
      armed_.reset();
    }
  } else if (const double rate = rate_per_call(fault); rate > 0) {
    happens = fraction(random_) < rate;
  }
  if (happens) {
    record(fault);
  }
  return happens;
}

void Injector::record(Fault fault) noexcept {
  ++counts_[fault].injected;
  if (fault != Fault::sink) {
    to_throw_ = fault;
  }
}

void Injector::record_survival() noexcept {
  for (std::size_t at = 0; at < fault_count; ++at) {
    const auto fault = static_cast<Fault>(at);
    counts_[fault].survived += counts_[fault].injected - at_arm_[fault].injected;
  }
}

bool is_of(Fault fault, const std::exception& error) noexcept {
  switch (fault) {
    case Fault::allocation:
    case Fault::random:
    case Fault::budget:
      return dynamic_cast<const OutOfMemory*>(&error) != nullptr;
    case Fault::heap:  // the harness's own memory too, of which the library knows nothing
      return dynamic_cast<const OutOfMemory*>(&error) != nullptr ||
             dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
    case Fault::copy:
      return dynamic_cast<const CopyFailed*>(&error) != nullptr;
    case Fault::sink:
    case Fault::truncation:
      return false;
  }
  return false;
}

double Injector::rate_per_call(Fault fault) const noexcept {
  switch (fault) {
    case Fault::random:
      return rates_.random;
    case Fault::sink:
      return rates_.sink;
    default:
      return 0;
  }
}

}  // namespace byre::stress
