// SPDX-License-Identifier: BSL-1.0
/// The synchronizing steps of basic_share_word, one row each: order, partner, and what breaks; and
/// the numbers it is made of. What breaks is named as a scenario for a model checker: no test on
/// real threads can be trusted to show a weakened order.
#pragma once

#include <byre/sync/detail/site.hpp>

#include <cstdint>

namespace byre::inline v0::cow {

enum class ShareWordSite : std::uint8_t {
  add_owner,
  drop_alone,
  drop_owner,
  is_writable,
  is_unique,
  use_count,
  load_state,
  load_in_order,
  stop_waiting,
  claim_copy,
  announce_wait,
  still_pending,
  park,
  finish_copy,
  wake_after_copy,
  abandon_copy,
  wake_after_abandon,
  is_sole_copier,
  add_copy,
};

enum class ShareWordConstant : std::uint8_t {
  one_owner,
  waiting_bit,
  one_copy,
  read_only_bit,
  last_owner,
  no_copies,
  last_copy,
};

inline constexpr sync::ConstantTable<ShareWordConstant, 7> share_word_constants{{{
    {"share_word.one_owner", 1, "what an owner counts; the word of data that may be written"},
    {"share_word.waiting_bit", std::uint64_t{1} << 31, "who is woken; where the owners end"},
    {"share_word.one_copy", std::uint64_t{1} << 32, "what a copier counts"},
    {"share_word.read_only_bit", std::uint64_t{1} << 63, "whether data may be written in place"},
    {"share_word.last_owner", 1,
     "whether a claim copies at once, and whether it still has to wait"},
    {"share_word.no_copies", 0, "whether a waiter still has somebody to wait for"},
    {"share_word.last_copy", 1, "which copier wakes the waiter"},
}}};

inline constexpr sync::SiteTable<ShareWordSite, 19> share_word_sites{{{
    {"share_word.add_owner", sync::Operation::fetch_add, std::memory_order::relaxed,
     "nothing: the owner that is cloned keeps the data alive; a clone reaches another thread by a "
     "hand-over of the user's",
     "relaxed is the weakest order; not atomic, two clones at once count one: "
     "first_clones_at_once counts an owner too few"},
    {"share_word.drop_alone", sync::Operation::load, std::memory_order::acquire,
     "drop_owner and finish_copy (release), through the release sequence of the word",
     "drops_race_drops: the free races the last reads of the others"},
    {"share_word.drop_owner", sync::Operation::fetch_sub, std::memory_order::acq_rel,
     "release: is_writable and load_state of a stealer, and the acquire of whoever frees; acquire: "
     "the "
     "releases of drop_owner and finish_copy before it, when this one frees",
     "without release, reads_race_a_steal: a former owner reads what a stealer writes; without "
     "acquire, drops_race_drops: the free races the last reads"},
    {"share_word.is_writable", sync::Operation::load, std::memory_order::acquire,
     "drop_owner and finish_copy (release), through the release sequence of the word",
     "reads_race_a_steal: the write that follows races a former owner's reads"},
    {"share_word.is_unique", sync::Operation::load, std::memory_order::acquire,
     "drop_owner and finish_copy (release), through the release sequence of the word",
     "resizes_race_drops: the change of the size races a former owner's look at it"},
    {"share_word.use_count", sync::Operation::load, std::memory_order::relaxed,
     "nothing: a number for people", "relaxed is the weakest order"},
    {"share_word.load_state", sync::Operation::load, std::memory_order::acquire,
     "drop_owner and finish_copy (release), where it leads to a steal",
     "writers_race_writers: the stealer writes while a copier reads"},
    {"share_word.load_in_order", sync::Operation::load, std::memory_order::acquire,
     "drop_owner (release), where it leads to a steal",
     "resizes_in_order: the change of the size races a former owner's look at it"},
    {"share_word.stop_waiting", sync::Operation::store, std::memory_order::relaxed,
     "nothing: a sole owner of data nobody copies is alone with the word",
     "relaxed is the weakest order; left out, the last copier of later owners is not told to free: "
     "later_copiers_free leaks"},
    {"share_word.claim_copy", sync::Operation::compare_exchange, std::memory_order::relaxed,
     "nothing: the data has not changed since this owner got it, and finish_copy releases the "
     "reads",
     "relaxed is the weakest order; not atomic, writers_race_writers: every owner copies, or one "
     "ends a copy that is not counted"},
    {"share_word.announce_wait", sync::Operation::compare_exchange, std::memory_order::relaxed,
     "finish_copy and abandon_copy, by the word's modification order alone: who comes later sees "
     "it",
     "relaxed is the weakest order; left out, writers_race_writers: nobody wakes the waiter"},
    {"share_word.still_pending", sync::Operation::load, std::memory_order::relaxed,
     "nothing: the parking lot's lock orders it with the wake",
     "relaxed is the weakest order; left out, known_wrong.parks_without_recheck: a wake before the "
     "sleep is lost"},
    {"share_word.park", sync::Operation::park, std::memory_order::seq_cst,
     "wake_after_copy, wake_after_abandon",
     "left out, two_claims_steal_once: the waiter spins, without end where nobody else runs"},
    {"share_word.finish_copy", sync::Operation::fetch_sub, std::memory_order::acq_rel,
     "release: is_writable and load_state of a stealer, and the acquire of whoever frees; acquire: "
     "the "
     "releases before it, when this one frees",
     "without release, writers_race_writers: a stealer writes what is still being copied; without "
     "acquire, drops_race_copies: the free races the last reads"},
    {"share_word.wake_after_copy", sync::Operation::unpark, std::memory_order::seq_cst, "park",
     "left out, writers_race_writers: the last owner waits forever"},
    {"share_word.abandon_copy", sync::Operation::fetch_sub, std::memory_order::relaxed,
     "nothing: the failed copier owns again, and its next drop_owner or finish_copy releases",
     "relaxed is the weakest order; left out, failing_copies: an owner is lost"},
    {"share_word.wake_after_abandon", sync::Operation::unpark, std::memory_order::seq_cst, "park",
     "left out, failing_copies: the waiter, no longer the last owner, waits for an owner that may "
     "never leave"},
    {"share_word.is_sole_copier", sync::Operation::load, std::memory_order::acquire,
     "drop_owner and finish_copy (release), through the release sequence of the word",
     "last_overlays_write_back: the file is written while a former owner reads it"},
    {"share_word.add_copy", sync::Operation::fetch_add, std::memory_order::relaxed,
     "nothing: the copier that it is added to keeps the data alive and constant",
     "relaxed is the weakest order; left out, unwritten_overlays: the file is freed while an "
     "overlay shows it"},
}}};

}  // namespace byre::inline v0::cow
