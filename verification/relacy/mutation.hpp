// SPDX-License-Identifier: BSL-1.0
/// Mutants: one step of the code under test, done wrong on purpose. They are derived from the
/// tables of sites in core, so a new row is a new set of mutants, and are chosen at run time.
#pragma once

#include <byre/sync/site.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace byre::verification {

enum class Change : std::uint8_t {
  none,
  weaker,  ///< another order
  plain,   ///< a load and a store in place of one read-modify-write
  left_out,
  plus_one,  ///< the operand
  minus_one,
};

struct Mutation {
  const sync::Site* site = nullptr;
  Change change = Change::none;
  std::memory_order order = std::memory_order::seq_cst;  ///< of Change::weaker

  /// "share_word.drop_owner:acquire", "share_word.claim_copy:plain"; "none".
  std::string name() const;
};

/// The tables of the code under test, one row for each synchronizing step.
std::span<const std::span<const sync::Site>> site_tables() noexcept;

/// Every mutant of every row.
std::vector<Mutation> all_mutations();

/// What the adaptor does wrong; nothing by default.
inline constinit Mutation active_mutation{};

/// Notes that a step was taken.
void reach(const sync::Site& site) noexcept;
bool is_reached(const sync::Site& site) noexcept;

}  // namespace byre::verification
