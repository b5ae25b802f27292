// SPDX-License-Identifier: BSL-1.0
/// Every synchronizing step of interning: see intern_table.hpp.
#pragma once

#include <byre/sync/detail/site.hpp>

namespace byre::inline v0::shadow {

enum class InternSite : std::uint8_t {
  look,
  push,
  look_again,
  taken,
  take,
  find_segment,
  install_segment,
  find_installed,
  use_segment,
};

inline constexpr sync::SiteTable<InternSite, 9> intern_sites{{{
    {"intern.look", sync::Operation::load, std::memory_order::acquire,
     "push (release): who finds a value finds it whole",
     "values_are_interned_once: a value is compared before it was written"},
    {"intern.push", sync::Operation::compare_exchange, std::memory_order::release,
     "look and look_again (acquire): a value is written before it is found",
     "values_are_interned_once: a value is compared before it was written; not atomic, one of two "
     "values is lost"},
    {"intern.look_again", sync::Operation::load, std::memory_order::acquire,
     "push (release): the value that came first is whole",
     "values_are_interned_once: a value is compared before it was written"},
    {"intern.taken", sync::Operation::load, std::memory_order::relaxed,
     "nothing: how many numbers are left", "relaxed is the weakest order"},
    {"intern.take", sync::Operation::fetch_add, std::memory_order::relaxed,
     "nothing: a number is whose it is",
     "relaxed is the weakest order; not atomic, values_are_interned_once: two values have one "
     "number"},
    {"intern.find_segment", sync::Operation::load, std::memory_order::acquire,
     "install_segment (release): the segment is made before values are written to it",
     "values_are_interned_once: a value is written before its place was made"},
    {"intern.install_segment", sync::Operation::compare_exchange, std::memory_order::release,
     "find_segment and find_installed (acquire): the segment is made before it is used",
     "values_are_interned_once: a value is written before its place was made; not atomic, a "
     "segment with values is lost"},
    {"intern.find_installed", sync::Operation::load, std::memory_order::acquire,
     "install_segment (release): the segment of who came first is made",
     "values_are_interned_once: a value is written before its place was made"},
    {"intern.use_segment", sync::Operation::load, std::memory_order::relaxed,
     "nothing: who knows a number knows of its segment", "relaxed is the weakest order"},
}}};

}  // namespace byre::inline v0::shadow
