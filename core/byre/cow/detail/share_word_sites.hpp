// SPDX-License-Identifier: BSL-1.0
/// The tables of basic_share_word: its atomic steps with their memory orders, and the constants of
/// its bit fields. share_word.hpp argues for each order at the step.
#pragma once

#include <byre/sync/detail/site.hpp>

#include <cstdint>

namespace byre::inline BYRE_ABI::cow {

enum class ShareWordSite : std::uint8_t {
  add_owner,
  add_owners,
  drop_owners,
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
    {"share_word.one_owner", 1},
    {"share_word.waiting_bit", std::uint64_t{1} << 31},
    {"share_word.one_copy", std::uint64_t{1} << 32},
    {"share_word.read_only_bit", std::uint64_t{1} << 63},
    {"share_word.last_owner", 1},
    {"share_word.no_copies", 0},
    {"share_word.last_copy", 1},
}}};

inline constexpr sync::SiteTable<ShareWordSite, 21> share_word_sites{{{
    {"share_word.add_owner", sync::Operation::fetch_add, std::memory_order::relaxed},
    {"share_word.add_owners", sync::Operation::fetch_add, std::memory_order::relaxed},
    {"share_word.drop_owners", sync::Operation::fetch_sub, std::memory_order::relaxed},
    {"share_word.drop_alone", sync::Operation::load, std::memory_order::acquire},
    {"share_word.drop_owner", sync::Operation::fetch_sub, std::memory_order::acq_rel},
    {"share_word.is_writable", sync::Operation::load, std::memory_order::acquire},
    {"share_word.is_unique", sync::Operation::load, std::memory_order::acquire},
    {"share_word.use_count", sync::Operation::load, std::memory_order::relaxed},
    {"share_word.load_state", sync::Operation::load, std::memory_order::acquire},
    {"share_word.load_in_order", sync::Operation::load, std::memory_order::acquire},
    {"share_word.stop_waiting", sync::Operation::store, std::memory_order::relaxed},
    {"share_word.claim_copy", sync::Operation::compare_exchange, std::memory_order::relaxed},
    {"share_word.announce_wait", sync::Operation::compare_exchange, std::memory_order::relaxed},
    {"share_word.still_pending", sync::Operation::load, std::memory_order::relaxed},
    {"share_word.park", sync::Operation::park, std::memory_order::seq_cst},
    {"share_word.finish_copy", sync::Operation::fetch_sub, std::memory_order::acq_rel},
    {"share_word.wake_after_copy", sync::Operation::unpark, std::memory_order::seq_cst},
    {"share_word.abandon_copy", sync::Operation::fetch_sub, std::memory_order::relaxed},
    {"share_word.wake_after_abandon", sync::Operation::unpark, std::memory_order::seq_cst},
    {"share_word.is_sole_copier", sync::Operation::load, std::memory_order::acquire},
    {"share_word.add_copy", sync::Operation::fetch_add, std::memory_order::relaxed},
}}};

}  // namespace byre::inline BYRE_ABI::cow
