// SPDX-License-Identifier: BSL-1.0
/// Every synchronizing step of lists of places: see place_list.hpp.
#pragma once

#include <byre/sync/detail/site.hpp>

namespace byre::inline v0::shadow {

enum class PlaceListSite : std::uint8_t { look, push, look_again };

inline constexpr sync::SiteTable<PlaceListSite, 3> place_list_sites{{{
    {"place_list.look", sync::Operation::load, std::memory_order::acquire,
     "push (release): who finds a place finds what was noted of it first",
     "places_are_noted_at_once: a place is compared before it was written"},
    {"place_list.push", sync::Operation::compare_exchange, std::memory_order::release,
     "look and look_again (acquire): a place is written before it is found",
     "places_are_noted_at_once: a place is compared before it was written; not atomic, one of two "
     "places is lost"},
    {"place_list.look_again", sync::Operation::load, std::memory_order::acquire,
     "push (release): the place that came first is whole",
     "places_are_noted_at_once: a place is compared before it was written"},
}}};

}  // namespace byre::inline v0::shadow
