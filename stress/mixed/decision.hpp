// SPDX-License-Identifier: BSL-1.0
/// What a thread does next. It follows from the thread's seed alone: not from its slots or mailbox, nor
/// from how an operation ended, since those depend on timing. A seed gives each thread's sequence of
/// decisions, not their results.
#pragma once

#include <boost/functional/hash.hpp>
#include <boost/random/discrete_distribution.hpp>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_01.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "../settings.hpp"

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
      : random_(seed), operation_(settings.mix), sizes_(settings.sizes), faults_(settings.faults) {}

  Decision next() {
    Decision decision;
    decision.operation = static_cast<Operation>(operation_(random_));
    decision.slot = draw32();
    decision.other = draw32();
    decision.choice = draw32();
    decision.nbytes = sizes_.draw(random_);
    decision.fault = draw_fault();
    decision.fault_after = draw32() % 2;
    add_to_digest(decision);
    return decision;
  }

  /// Of all decisions so far. Equal sequences have equal digests.
  std::size_t digest() const noexcept { return digest_; }

 private:
  std::uint32_t draw32() { return static_cast<std::uint32_t>(random_()); }

  std::optional<Fault> draw_fault() {
    double chance = boost::random::uniform_01<double>()(random_);
    const auto falls_to = [&](double rate) { return (chance -= rate) < 0; };
    if (falls_to(faults_.allocation)) {
      return Fault::allocation;
    }
    if (falls_to(faults_.copy)) {
      return Fault::copy;
    }
    return falls_to(faults_.heap) ? std::optional(Fault::heap) : std::nullopt;
  }

  void add_to_digest(const Decision& decision) {
    boost::hash_combine(digest_, static_cast<std::size_t>(decision.operation));
    boost::hash_combine(digest_, decision.slot);
    boost::hash_combine(digest_, decision.other);
    boost::hash_combine(digest_, decision.choice);
    boost::hash_combine(digest_, decision.nbytes);
    boost::hash_combine(digest_,
                        decision.fault ? 1 + static_cast<std::size_t>(*decision.fault) : 0);
    boost::hash_combine(digest_, decision.fault_after);
  }

  boost::random::mt19937_64 random_;
  boost::random::discrete_distribution<std::uint32_t> operation_;
  Sizes sizes_;
  FaultRates faults_;
  std::size_t digest_ = 0;
};

}  // namespace byre::stress
