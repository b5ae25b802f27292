// SPDX-License-Identifier: BSL-1.0
#include "decision.hpp"

#include <boost/container_hash/hash.hpp>

#include <numeric>

namespace byre::stress {

Decision Decisions::next() {
  Decision decision;
  decision.operation = draw_operation();
  const auto draw32 = [this] { return static_cast<std::uint32_t>(random_.engine()() >> 32); };
  decision.slot = draw32();
  decision.other = draw32();
  decision.choice = draw32();
  decision.nbytes = sizes_.draw(random_);
  decision.fault = draw_fault();
  decision.fault_after = draw32() % 2;
  add_to_digest(decision);
  return decision;
}

Operation Decisions::draw_operation() {
  auto drawn = random_.below(std::accumulate(mix_.begin(), mix_.end(), std::uint64_t{0}));
  std::size_t at = 0;
  for (; drawn >= mix_[at]; ++at) {
    drawn -= mix_[at];
  }
  return static_cast<Operation>(at);
}

std::optional<Fault> Decisions::draw_fault() {
  double left = fraction(random_);
  const auto falls_to = [&](double rate) { return (left -= rate) < 0; };
  if (falls_to(faults_.allocation)) {
    return Fault::allocation;
  }
  if (falls_to(faults_.copy)) {
    return Fault::copy;
  }
  return falls_to(faults_.heap) ? std::optional(Fault::heap) : std::nullopt;
}

void Decisions::add_to_digest(const Decision& decision) {
  const std::size_t fault = decision.fault ? 1 + static_cast<std::size_t>(*decision.fault) : 0;
  for (const std::size_t part :
       {static_cast<std::size_t>(decision.operation), std::size_t{decision.slot},
        std::size_t{decision.other}, std::size_t{decision.choice}, decision.nbytes, fault,
        std::size_t{decision.fault_after}}) {
    boost::hash_combine(digest_, part);
  }
}

}  // namespace byre::stress
