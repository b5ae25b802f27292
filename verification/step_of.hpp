// SPDX-License-Identifier: BSL-1.0
/// Steps of code outside core: the textbook form, known-wrong designs, litmus tests. And addresses that it waits at.
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

/// "type.operation", or another text, as an argument of a template.
template <std::size_t Size>
struct StepName {
  consteval StepName(const char (&name)[Size]) { std::copy_n(name, Size, text); }
  char text[Size];
};

/// A checker asks a step what it does, and not its site.
template <StepName Name>
inline constexpr sync::Site own_site{Name.text, sync::Operation::load, seq_cst};

/// The step of that name. Locks and parking bring their own order.
template <StepName Name>
constexpr sync::Step step_of(std::memory_order order = seq_cst) noexcept {
  return {&own_site<Name>, order};
}

/// An address that nobody may touch, one of those in that bucket.
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
