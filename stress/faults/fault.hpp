// SPDX-License-Identifier: BSL-1.0
/// The faults that are injected, and how often.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "support/random.hpp"

namespace byre::stress {

enum class Fault : std::uint8_t {
  allocation,  ///< the first or second allocation of an operation fails; or the Nth of a thread
  random,      ///< any allocation fails, with a chance of its own
  budget,      ///< an allocation fails while so many bytes are live
  copy,        ///< Allocator::copy throws half-way
  heap,        ///< operator new fails, for a header or an identity
  sink,        ///< a copy sink throws
  truncation,  ///< a file is truncated under its mapping, in a process of its own
};
inline constexpr std::size_t fault_count = 7;

std::string_view name_of(Fault fault) noexcept;

/// Chances in [0, 1]: of an operation for allocation, copy and heap; of an allocation for random; of
/// a copy for sink.
struct FaultRates {
  double allocation = 0;
  double random = 0;
  double copy = 0;
  double heap = 0;
  double sink = 0;
  std::size_t budget_nbytes = 0;    ///< 0: no budget
  std::uint64_t allocation_at = 0;  ///< this one of each thread fails, counted from 1; 0: none

  bool any() const noexcept { return *this != FaultRates{}; }
  friend bool operator==(const FaultRates&, const FaultRates&) = default;
};

inline constexpr FaultRates usual_faults{.allocation = 0.04,
                                         .random = 0.01,
                                         .copy = 0.04,
                                         .heap = 0.04,
                                         .sink = 0.02,
                                         .budget_nbytes = std::size_t{24} << 20};

/// "none", "usual", or "allocation=0.1,budget=64M,allocation_at=7". Throws std::invalid_argument,
/// with a text for the user.
FaultRates parse_faults(std::string_view text);

/// The inverse of parse_faults.
std::string text_of(const FaultRates& rates);

/// In [0, 1), to be compared with a chance.
inline double fraction(test::Random& random) noexcept {
  return static_cast<double>(random.engine()() >> 11) * 0x1p-53;
}

struct FaultCount {
  std::uint64_t injected = 0;
  std::uint64_t survived = 0;  ///< the checks after it passed
};

class FaultCounts {
 public:
  FaultCount& operator[](Fault fault) noexcept { return counts_[static_cast<std::size_t>(fault)]; }
  const FaultCount& operator[](Fault fault) const noexcept {
    return counts_[static_cast<std::size_t>(fault)];
  }
  FaultCounts& operator+=(const FaultCounts& other) noexcept {
    for (std::size_t at = 0; at < fault_count; ++at) {
      counts_[at].injected += other.counts_[at].injected;
      counts_[at].survived += other.counts_[at].survived;
    }
    return *this;
  }
  FaultCount total() const noexcept {
    FaultCount total;
    for (const FaultCount& count : counts_) {
      total.injected += count.injected;
      total.survived += count.survived;
    }
    return total;
  }

 private:
  std::array<FaultCount, fault_count> counts_{};
};

}  // namespace byre::stress
