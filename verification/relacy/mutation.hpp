// SPDX-License-Identifier: BSL-1.0
/// A mutant is the code under test with one wrong step or one wrong number. Mutants are derived
/// from the tables in core, so a new row of a table yields new mutants. The active mutant is chosen
/// at run time.
#pragma once

#include <byre/sync/detail/site.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace byre::verification {

constexpr std::string_view name_of(sync::Operation operation) noexcept {
  constexpr std::string_view names[] = {
      "load", "store",  "exchange", "fetch_add", "fetch_sub", "compare_exchange",
      "lock", "unlock", "park",     "unpark"};
  return names[static_cast<std::size_t>(operation)];
}
constexpr std::string_view name_of(std::memory_order order) noexcept {
  constexpr std::string_view names[] = {"relaxed", "consume", "acquire",
                                        "release", "acq_rel", "seq_cst"};
  return names[static_cast<std::size_t>(order)];
}

enum class Change : std::uint8_t {
  none,
  weaker,    ///< a weaker order
  plain,     ///< a load and a store in place of one read-modify-write
  left_out,  ///< if the step is a lock, its unlock is left out too
  plus_one,  ///< 1 is added to the operand or to the constant
  minus_one,
  zero,  ///< the constant is 0: a bit that is never set, or a unit that counts nothing
};

struct Mutation {
  const sync::Site* site = nullptr;
  Change change = Change::none;
  std::memory_order order = std::memory_order::seq_cst;  ///< used by Change::weaker
  /// The number that the mutant changes. Then `site` is null.
  const sync::Constant* constant = nullptr;

  bool is_none() const noexcept { return change == Change::none; }
  /// E.g. "share_word.drop_owner:acquire" or "share_word.one_copy:plus-one"; "none" for no mutant.
  std::string name() const;
};

/// The tables of core, with one row for each site (synchronizing step).
std::span<const std::span<const sync::Site>> site_tables() noexcept;

std::span<const std::span<const sync::Constant>> constant_tables() noexcept;

std::vector<Mutation> all_mutations();

/// The mutant that Checked executes; no mutant by default.
inline constinit Mutation active_mutation{};

/// Records that a step was executed.
void mark_reached(const sync::Site& site) noexcept;
bool is_reached(const sync::Site& site) noexcept;

/// The value that the active mutant gives to its constant. Records that the constant was read.
std::uint64_t read_wrong_constant() noexcept;

/// True if the mutated step was executed or the mutated constant was read.
bool is_reached(const Mutation& mutation) noexcept;
void forget_reached() noexcept;

}  // namespace byre::verification
