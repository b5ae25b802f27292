// SPDX-License-Identifier: BSL-1.0
/// The synchronizing steps of basic_share_lock, one row each: order, partner, and what breaks; and
/// the numbers it is made of.
#pragma once

#include <byre/sync/detail/site.hpp>

#include <cstdint>

namespace byre::inline v0::cow {

enum class ShareLockSite : std::uint8_t {
  add_user,
  add_owner,
  drop_owner,
  drop_user,
  is_unique,
  use_count,
  lock_copy,
  count_owners,
  claim_copy,
  unlock_claim,
  lock_steal,
  last_owner,
  unlock_steal,
  unlock_finish,
  abandon_copy,
  unlock_abandon,
};

enum class ShareLockConstant : std::uint8_t {
  first_owner,
  first_user,
  owners_to_copy,
  owners_never_to_wait,
  owners_to_steal,
  last_user,
  sole_user,
};

inline constexpr sync::ConstantTable<ShareLockConstant, 7> share_lock_constants{{{
    {"share_lock.first_owner", 1, "who is the last owner"},
    {"share_lock.first_user", 1, "who frees"},
    {"share_lock.owners_to_copy", 2, "whether a claim copies at once"},
    {"share_lock.owners_never_to_wait", 1, "whether one that may not wait does"},
    {"share_lock.owners_to_steal", 1, "whether a claim steals"},
    {"share_lock.last_user", 1, "who frees"},
    {"share_lock.sole_user", 1, "whether data is written in place without a claim"},
}}};

inline constexpr sync::SiteTable<ShareLockSite, 16> share_lock_sites{{{
    {"share_lock.add_user", sync::Operation::fetch_add, std::memory_order::relaxed,
     "nothing: the owner that is cloned keeps the data alive",
     "relaxed is the weakest order; left out, locked_first_clones_at_once counts an owner too few"},
    {"share_lock.add_owner", sync::Operation::fetch_add, std::memory_order::relaxed,
     "nothing: the owner that is cloned keeps the data alive",
     "relaxed is the weakest order; left out, locked_writers_race_writers: a steal races reads"},
    {"share_lock.drop_owner", sync::Operation::fetch_sub, std::memory_order::release,
     "last_owner (acquire)",
     "locked_reads_race_a_steal: a former owner reads what a stealer writes"},
    {"share_lock.drop_user", sync::Operation::fetch_sub, std::memory_order::acq_rel,
     "release: is_unique, and drop_user of whoever frees; acquire: the drop_users before it",
     "locked_drops_race_copies: the free races the last reads"},
    {"share_lock.is_unique", sync::Operation::load, std::memory_order::acquire,
     "drop_user (release)",
     "locked_reads_race_a_steal: the write that follows races a former owner"},
    {"share_lock.use_count", sync::Operation::load, std::memory_order::relaxed,
     "nothing: a number for people", "relaxed is the weakest order"},
    {"share_lock.lock_copy", sync::Operation::lock, std::memory_order::seq_cst, "unlock_steal",
     "left out, locked_writers_race_writers: a steal does not wait for the copy, and races it"},
    {"share_lock.count_owners", sync::Operation::load, std::memory_order::relaxed,
     "nothing: the compare-exchange that follows decides", "relaxed is the weakest order"},
    {"share_lock.claim_copy", sync::Operation::compare_exchange, std::memory_order::relaxed,
     "nothing: the lock orders the copy with a steal",
     "relaxed is the weakest order; not atomic, locked_writers_race_writers: nobody steals"},
    {"share_lock.unlock_claim", sync::Operation::unlock, std::memory_order::seq_cst, "lock_steal",
     "left out, locked_writers_race_writers: the steal waits forever, for the lock it has itself"},
    {"share_lock.lock_steal", sync::Operation::lock, std::memory_order::seq_cst,
     "unlock_finish, unlock_abandon",
     "left out, locked_writers_race_writers: the steal races a copy under way"},
    {"share_lock.last_owner", sync::Operation::load, std::memory_order::acquire,
     "drop_owner (release)",
     "locked_reads_race_a_steal: the stealer writes what a former owner reads"},
    {"share_lock.unlock_steal", sync::Operation::unlock, std::memory_order::seq_cst, "lock_copy",
     "left out, locked_reads_race_a_steal: the next claim waits forever"},
    {"share_lock.unlock_finish", sync::Operation::unlock, std::memory_order::seq_cst, "lock_steal",
     "left out, locked_writers_race_writers: the steal waits forever"},
    {"share_lock.abandon_copy", sync::Operation::fetch_add, std::memory_order::relaxed,
     "last_owner, through the lock", "left out, locked_failing_copies: an owner is lost"},
    {"share_lock.unlock_abandon", sync::Operation::unlock, std::memory_order::seq_cst, "lock_steal",
     "left out, locked_failing_copies: the steal waits forever"},
}}};

}  // namespace byre::inline v0::cow
