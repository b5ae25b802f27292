// SPDX-License-Identifier: BSL-1.0
/// Every synchronizing step of the writes that were replaced: see overwritten.hpp.
#pragma once

#include <byre/sync/site.hpp>

namespace byre::inline v0::shadow {

enum class OverwrittenSite : std::uint8_t { look, push, look_again, noted, raise };

inline constexpr sync::SiteTable<OverwrittenSite, 5> overwritten_sites{{{
    {"overwritten.look", sync::Operation::load, std::memory_order::acquire,
     "push (release): who finds a place finds what was noted of it first",
     "places_are_noted_at_once: a place is compared before it was written"},
    {"overwritten.push", sync::Operation::compare_exchange, std::memory_order::release,
     "look and look_again (acquire): a place is written before it is found",
     "places_are_noted_at_once: a place is compared before it was written; not atomic, one of two "
     "places is lost"},
    {"overwritten.look_again", sync::Operation::load, std::memory_order::acquire,
     "push (release): the place that came first is whole",
     "places_are_noted_at_once: a place is compared before it was written"},
    {"overwritten.noted", sync::Operation::load, std::memory_order::relaxed,
     "nothing: who is told of a write comes after what was noted before it",
     "relaxed is the weakest order"},
    {"overwritten.raise", sync::Operation::compare_exchange, std::memory_order::relaxed,
     "nothing: a later write of the same place says all there is to say of it",
     "relaxed is the weakest order; not atomic, later_writes_are_noted: an earlier write replaces "
     "a "
     "later one"},
}}};

}  // namespace byre::inline v0::shadow
