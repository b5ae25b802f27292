// SPDX-License-Identifier: BSL-1.0
/// Decides for one thread whether what could fail now does.
#pragma once

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_01.hpp>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>

#include "fault.hpp"

namespace byre::stress {

/// What a copy that was told to fail throws: an error of the embedder's own.
struct CopyFailed : std::runtime_error {
  CopyFailed() : runtime_error("the copy was told to fail") {}
};

/// While it lives, the thread that made it has its allocations, copies and sinks ask it. The faults
/// of an operation follow from the seed; those with a chance per call depend on how many calls the
/// operations came to, but change no decision.
class Injector {
 public:
  Injector(const FaultRates& rates, std::uint64_t seed);
  ~Injector();
  Injector(const Injector&) = delete;
  Injector& operator=(const Injector&) = delete;

  /// The calling thread's, or null.
  static Injector* current() noexcept;

  /// From now on `fault` happens at its chance after the next `after`, once.
  void arm(std::optional<Fault> fault, std::uint32_t after) noexcept;
  void disarm() noexcept;
  /// The calling thread's next operator new is not to fail.
  static void suspend_heap_fault() noexcept;
  bool is_armed(Fault fault) const noexcept { return armed_ == fault; }

  /// Here is a chance for `fault`: whether it happens. Then it is counters.
  bool fires(Fault fault) noexcept;
  /// It happens for a reason of the caller's.
  void record(Fault fault) noexcept;

  /// Whether anything happened since arm().
  bool has_fired() const noexcept { return counts_.total().injected != at_arm_.total().injected; }
  /// What happened last since arm() of all that an operation throws for.
  std::optional<Fault> to_throw() const noexcept { return to_throw_; }
  /// What happened since arm() was survived.
  void record_survival() noexcept;

  const FaultCounts& counts() const noexcept { return counts_; }

 private:
  double rate_per_call(Fault fault) const noexcept;

  FaultRates rates_;
  boost::random::mt19937_64 random_;
  std::optional<Fault> armed_;
  std::uint32_t chances_before_ = 0;
  std::uint64_t allocations_ = 0;  // chances for one to fail
  std::optional<Fault> to_throw_;
  FaultCounts at_arm_;
  FaultCounts counts_;
};

/// Whether `error` is what an operation throws that `fault` made fail.
bool is_of(Fault fault, const std::exception& error) noexcept;

/// Whether operator new can be made to fail in this build: not where a sanitizer replaces it too.
bool can_fail_heap() noexcept;

}  // namespace byre::stress
