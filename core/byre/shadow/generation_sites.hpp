// SPDX-License-Identifier: BSL-1.0
/// Every synchronizing step of the generations: see generation.hpp.
#pragma once

#include <byre/shadow/write_mark.hpp>
#include <byre/sync/detail/site.hpp>

namespace byre::inline v0::shadow {

enum class GenerationSite : std::uint8_t {
  known,
  learn,
  unread,
  leave_unread,
  forget_unread,
  silence_read,
  silenced_read,
  look,
  write,
  look_again,
  write_anyway,
};

inline constexpr sync::SiteTable<GenerationSite, 11> generation_sites{{{
    {"generation.known", sync::Operation::load, std::memory_order::relaxed,
     "nothing: accesses of one family are ordered by who makes them, but for reads",
     "relaxed is the weakest order"},
    {"generation.learn", sync::Operation::store, std::memory_order::relaxed,
     "nothing: two reads of one family that learn at once may leave what the earlier saw",
     "relaxed is the weakest order; left out, families_read_and_write: a family does not know its "
     "own write"},
    {"generation.unread", sync::Operation::load, std::memory_order::relaxed,
     "nothing: what it finds was left by a write of the family, which its reads come after",
     "relaxed is the weakest order"},
    {"generation.leave_unread", sync::Operation::store, std::memory_order::relaxed,
     "nothing: a write of the family excludes what else the family does",
     "relaxed is the weakest order; left out, families_leave_unread: a read is not told of what "
     "the family did not write over"},
    {"generation.forget_unread", sync::Operation::store, std::memory_order::relaxed,
     "nothing: of two reads of one family at once both may be told",
     "relaxed is the weakest order; left out, families_leave_unread: a read is told of what the "
     "family was told of before"},
    {"generation.silence_read", sync::Operation::store, std::memory_order::release,
     "silenced_read (acquire): what was said of the place comes before it is known",
     "families_are_silenced: the place of a read is read before it was said"},
    {"generation.silenced_read", sync::Operation::load, std::memory_order::acquire,
     "silence_read (release): who finds a silenced read finds its place",
     "families_are_silenced: the place of a read is read before it was said"},
    {"generation.look", sync::Operation::load, std::memory_order::acquire,
     "write and write_anyway (release): who sees a write finds its place",
     "families_read_and_write: the place of a write is read before it was said"},
    {"generation.write", sync::Operation::compare_exchange, std::memory_order::release,
     "look and look_again (acquire): what was said of the place comes before the write",
     "families_race: the place of a write is read before it was said; not atomic, two families "
     "that write at once both find that nobody else did"},
    {"generation.look_again", sync::Operation::load, std::memory_order::acquire,
     "write and write_anyway (release): who is too late with a write finds the other's place",
     "families_race: the place of the other write is read before it was said"},
    {"generation.write_anyway", sync::Operation::compare_exchange, std::memory_order::release,
     "look and look_again (acquire): what was said of the place comes before the write",
     "families_disagree_twice: the place of a write is read before it was said"},
}}};

enum class GenerationConstant : std::uint8_t { step };

inline constexpr sync::ConstantTable<GenerationConstant, 1> generation_constants{{{
    {"generation.step", std::uint64_t{1} << WriteMark::place_bits,
     "that a write has another mark than the one before, and its own place in it"},
}}};

}  // namespace byre::inline v0::shadow
