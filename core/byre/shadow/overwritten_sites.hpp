// SPDX-License-Identifier: BSL-1.0
/// Every synchronizing step of the writes that were replaced, but for those of the list of their
/// places: see overwritten.hpp.
#pragma once

#include <byre/sync/detail/site.hpp>

namespace byre::inline v0::shadow {

enum class OverwrittenSite : std::uint8_t { noted, raise };

inline constexpr sync::SiteTable<OverwrittenSite, 2> overwritten_sites{{{
    {"overwritten.noted", sync::Operation::load, std::memory_order::relaxed,
     "nothing: who is told of a write comes after what was noted before it",
     "relaxed is the weakest order"},
    {"overwritten.raise", sync::Operation::compare_exchange, std::memory_order::relaxed,
     "nothing: a later write of the same place says all there is to say of it",
     "relaxed is the weakest order; not atomic, later_writes_are_noted: an earlier write replaces "
     "a later one"},
}}};

}  // namespace byre::inline v0::shadow
