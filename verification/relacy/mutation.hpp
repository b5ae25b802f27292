// SPDX-License-Identifier: BSL-1.0
/// Mutants: one step or one number of the code under test, wrong on purpose. They are derived from
/// the tables in core, so a new row is a new set of mutants, and are chosen at run time.
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
      "load", "store",  "fetch_add", "fetch_sub", "compare_exchange",
      "lock", "unlock", "park",      "unpark"};
  return names[static_cast<std::size_t>(operation)];
}
constexpr std::string_view name_of(std::memory_order order) noexcept {
  constexpr std::string_view names[] = {"relaxed", "consume", "acquire",
                                        "release", "acq_rel", "seq_cst"};
  return names[static_cast<std::size_t>(order)];
}

enum class Change : std::uint8_t {
  none,
  weaker,    ///< another order
  plain,     ///< a load and a store in place of one read-modify-write
  left_out,  ///< a lock together with the unlock that ends it
  plus_one,  ///< the operand, or the constant
  minus_one,
  zero,  ///< the constant: a bit that is never set, a unit that counts nothing
};

struct Mutation {
  const sync::Site* site = nullptr;
  Change change = Change::none;
  std::memory_order order = std::memory_order::seq_cst;  ///< of Change::weaker
  const sync::Constant* constant = nullptr;              ///< in place of a site

  bool is_none() const noexcept { return change == Change::none; }
  /// "share_word.drop_owner:acquire", "share_word.one_copy:plus-one"; "none".
  std::string name() const;
};

/// The tables of the code under test, one row for each synchronizing step.
std::span<const std::span<const sync::Site>> site_tables() noexcept;

std::span<const std::span<const sync::Constant>> constant_tables() noexcept;

/// Every mutant of every row.
std::vector<Mutation> all_mutations();

/// What the adaptor does wrong; nothing by default.
inline constinit Mutation active_mutation{};

/// Notes that a step was taken.
void mark_reached(const sync::Site& site) noexcept;
bool is_reached(const sync::Site& site) noexcept;

/// What the mutant has in place of its constant. Notes that it was read.
std::uint64_t read_wrong_constant() noexcept;

/// Whether the step was taken, or the constant read, that the mutation is of.
bool is_reached(const Mutation& mutation) noexcept;
void forget_reached() noexcept;

}  // namespace byre::verification
