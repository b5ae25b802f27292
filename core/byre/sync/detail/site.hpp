// SPDX-License-Identifier: BSL-1.0
/// Sites and constants. Each lock-free type has a table of sites, with a row for each of its
/// synchronizing operations, and a table of constants, with a row for each number in its protocol.
/// Mutants (versions with one wrong step or number) and checkers are generated from these tables,
/// so they cover every step. A comment at each step argues why its memory order is sufficient, and
/// names a scenario (a small program that a model checker explores) that fails if the step is
/// removed or its order is weakened.
#pragma once

#include <byre/config.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace byre::inline BYRE_ABI::sync {

enum class Operation : std::uint8_t {
  load,
  store,
  exchange,
  fetch_add,
  fetch_sub,
  compare_exchange,  // a failed one is always relaxed
  lock,
  unlock,
  park,
  unpark,
};

/// One row of a table of sites.
struct Site {
  std::string_view name;    ///< type.operation, unique in the program
  Operation operation;      ///< the operation at this site
  std::memory_order order;  ///< its memory order; seq_cst for locks and parking
};

/// The argument of each synchronizing operation: its site, and the memory order spelled at the
/// call.
struct Step {
  const Site* site;
  std::memory_order order;
};

/// The sites of one type, in the order of the enumeration that names them.
template <class Id, std::size_t Size>
class SiteTable {
 public:
  std::array<Site, Size> rows;

  /// The step at `id`. Does not compile if the table has no such row, or if the row has a different
  /// order.
  consteval Step at(Id id, std::memory_order order) const {
    const Site& site = rows.at(static_cast<std::size_t>(id));
    if (site.order != order) {
      throw "the memory order at the call differs from the table of sites";
    }
    return {&site, order};
  }

  /// The step at `id`, for locks and parking, which choose their memory order themselves.
  consteval Step at(Id id) const { return at(id, std::memory_order::seq_cst); }
};

/// One row of a table of constants.
struct Constant {
  std::string_view name;  ///< type.constant, unique in the program
  std::uint64_t value;
};

/// The constants of one type, in the order of the enumeration that names them.
template <class Id, std::size_t Size>
class ConstantTable {
 public:
  std::array<Constant, Size> rows;

  /// Does not compile if the table has no such row.
  consteval const Constant& at(Id id) const { return rows.at(static_cast<std::size_t>(id)); }
};

/// The limit of every count of owners or handles; no correct program reaches it. A step that counts
/// beyond it ends the program, long before the count, or a field of a word, could overflow.
inline constexpr std::uint32_t max_count = std::uint32_t{1} << 30;

}  // namespace byre::inline BYRE_ABI::sync
