// SPDX-License-Identifier: BSL-1.0
/// What a thread does next. It follows from the thread's seed alone: not from its slots or mailbox, nor
/// from how an operation ended, since those depend on timing. A seed gives each thread's sequence of
/// decisions, not their results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "../settings.hpp"
#include "support/random.hpp"

namespace byre::stress {

/// Complete: an operation draws no more random numbers.
struct Decision {
  Operation operation{};
  std::uint32_t slot = 0;         ///< of the thread's own
  std::uint32_t other = 0;        ///< another slot, thread, file or shared slot
  std::uint32_t choice = 0;       ///< a bit for each variant
  std::size_t nbytes = 0;         ///< of an allocation
  std::optional<Fault> fault{};   ///< injected into it
  std::uint32_t fault_after = 0;  ///< so many opportunities pass first

  bool chooses(unsigned bit) const noexcept { return (choice >> bit & 1) != 0; }
};

/// Used by one thread.
class Decisions {
 public:
  Decisions(const Settings& settings, std::uint64_t seed)
      : random_(seed), mix_(settings.mix), sizes_(settings.sizes), faults_(settings.faults) {}

  Decision next();

  /// Of all decisions so far. Equal sequences have equal digests.
  std::size_t digest() const noexcept { return digest_; }

 private:
  Operation draw_operation();
  std::optional<Fault> draw_fault();
  void add_to_digest(const Decision& decision);

  test::Random random_;
  Mix mix_;
  Sizes sizes_;
  FaultRates faults_;
  std::size_t digest_ = 0;
};

}  // namespace byre::stress
