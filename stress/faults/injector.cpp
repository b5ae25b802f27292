// SPDX-License-Identifier: BSL-1.0
#include "injector.hpp"

#include <byre/error/error.hpp>

#include <new>

#if BYRE_STRESS_FAILS_HEAP
#include "support/failing_new.hpp"
#endif

namespace byre::stress {
namespace {

constinit thread_local Injector* this_threads_injector = nullptr;

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
  this_threads_injector = this;
}

Injector::~Injector() {
  this_threads_injector = nullptr;
}

Injector* Injector::current() noexcept {
  return this_threads_injector;
}

void Injector::arm(std::optional<Fault> fault, std::uint32_t after) noexcept {
  armed_ = fault;
  chances_before_ = after;
  to_throw_.reset();
  at_arm_ = counts_;
  if (is_armed(Fault::heap)) {
    arm_heap(after);
  }
}

void Injector::disarm() noexcept {
  if (is_armed(Fault::heap) && disarm_heap()) {
    note(Fault::heap);
  }
  armed_.reset();
}

void Injector::spare_heap() noexcept {
  if (this_threads_injector != nullptr && this_threads_injector->is_armed(Fault::heap)) {
    this_threads_injector->disarm();
  }
}

bool Injector::strikes(Fault fault) noexcept {
  bool happens = false;
  if (fault == Fault::allocation && ++allocations_ == rates_.allocation_at) {
    happens = true;
  } else if (is_armed(fault)) {
    happens = chances_before_-- == 0;
    if (happens) {
      armed_.reset();
    }
  } else if (const double rate = rate_per_call(fault); rate > 0) {
    happens = boost::random::uniform_01<double>()(random_) < rate;
  }
  if (happens) {
    note(fault);
  }
  return happens;
}

void Injector::note(Fault fault) noexcept {
  ++counts_[fault].injected;
  if (fault != Fault::sink) {
    to_throw_ = fault;
  }
}

void Injector::note_survival() noexcept {
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
