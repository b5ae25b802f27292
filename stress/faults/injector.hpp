// SPDX-License-Identifier: BSL-1.0
/// Injector: decides for one thread which of its steps fail.
#pragma once

#include <boost/random/uniform_01.hpp>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>

#include "fault.hpp"
#include "support/random.hpp"

namespace byre::stress {

/// Thrown by a copy that is made to fail: an error type of the embedder's.
struct CopyFailed : std::runtime_error {
  CopyFailed() : runtime_error("the copy was made to fail") {}
};

/// While it lives, the allocations, copies and sinks of the thread that made it ask it. The faults of an
/// operation follow from the seed. Faults with a chance per call depend on the number of calls so far, but
/// change no decision.
class Injector {
 public:
  Injector(const FaultRates& rates, std::uint64_t seed);
  ~Injector();
  Injector(const Injector&) = delete;
  Injector& operator=(const Injector&) = delete;

  /// The calling thread's, or null.
  static Injector* current() noexcept;

  /// The fault happens once, at the opportunity after the next `after`.
  void arm(std::optional<Fault> fault, std::uint32_t after) noexcept;
  void disarm() noexcept;
  /// The calling thread's operator new does not fail any more.
  static void suspend_heap_fault() noexcept;
  bool is_armed(Fault fault) const noexcept { return armed_ == fault; }

  /// An opportunity for `fault`. Returns whether it happens, and counts it.
  bool fires(Fault fault) noexcept;
  /// The fault happens, by the caller's decision.
  void record(Fault fault) noexcept;

  /// Whether a fault happened since arm().
  bool has_fired() const noexcept { return counts_.total().injected != at_arm_.total().injected; }
  /// The last fault since arm() that makes an operation throw.
  std::optional<Fault> to_throw() const noexcept { return to_throw_; }
  /// The checks passed after the faults since arm().
  void record_survival() noexcept;

  const FaultCounts& counts() const noexcept { return counts_; }

 private:
  double rate_per_call(Fault fault) const noexcept;

  FaultRates rates_;
  test::Random random_;
  std::optional<Fault> armed_;
  std::uint32_t opportunities_before_ = 0;
  std::uint64_t allocations_ = 0;  // opportunities
  std::optional<Fault> to_throw_;
  FaultCounts at_arm_;
  FaultCounts counts_;
};

/// Whether `fault` makes an operation throw such an error.
bool is_of(Fault fault, const std::exception& error) noexcept;

/// Whether operator new can be made to fail: not if a sanitizer replaces it.
bool can_fail_heap() noexcept;

}  // namespace byre::stress
