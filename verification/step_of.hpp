// SPDX-License-Identifier: BSL-1.0
/// Sites (named atomic steps) for code outside core: the textbook form, known-wrong designs, litmus
/// tests. Also addresses at which threads of scenarios wait.
#pragma once

#include <byre/sync/detail/site.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace byre::verification {

inline constexpr auto relaxed = std::memory_order::relaxed;
inline constexpr auto acquire = std::memory_order::acquire;
inline constexpr auto release = std::memory_order::release;
inline constexpr auto acq_rel = std::memory_order::acq_rel;
inline constexpr auto seq_cst = std::memory_order::seq_cst;

/// A text such as "type.operation" as a template argument.
template <std::size_t Size>
struct StepName {
  consteval StepName(const char (&name)[Size]) { std::copy_n(name, Size, text); }
  char text[Size];
};

/// The checker takes the operation from the call and the order from the step, so the operation and
/// order in this site are unused.
template <StepName Name>
inline constexpr sync::Site own_site{Name.text, sync::Operation::load, seq_cst};

/// The step named `Name`. Locks and parking ignore `order`: their orders are fixed.
template <StepName Name>
constexpr sync::Step step_of(std::memory_order order = seq_cst) noexcept {
  return {&own_site<Name>, order};
}

/// The address with index `number` among the addresses that fall into `bucket`. The address belongs
/// to no object: never dereference it.
template <class Buckets>
const void* address_in(std::size_t bucket, unsigned number = 0) {
  for (std::uintptr_t word = 64;; word += 64) {
    const auto* const address = reinterpret_cast<const void*>(word);
    if (Buckets::bucket_of(address) == bucket && number-- == 0) {
      return address;
    }
  }
}

}  // namespace byre::verification
