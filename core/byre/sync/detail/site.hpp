// SPDX-License-Identifier: BSL-1.0
/// Sites and constants: every synchronizing operation of a lock-free type is a row of that type's table, and every
/// number it is made of is a row of another, so that mutants and checkers are derived from what the code does and
/// no step is forgotten. Why an order is enough is said at the step in the code.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace byre::inline v0::sync {

enum class Operation : std::uint8_t {
  load,
  store,
  fetch_add,
  fetch_sub,
  compare_exchange,  // always fails relaxed
  lock,
  unlock,
  park,
  unpark,
};

/// One row of a table of sites.
struct Site {
  std::string_view name;    ///< type.operation, unique in the program
  Operation operation;      ///< what is done there
  std::memory_order order;  ///< with which order; locks and parking bring their own: seq_cst
};

/// What an operation is given: its site, and the order spelled at the call.
struct Step {
  const Site* site;
  std::memory_order order;
};

/// The sites of one type, in the order of the enumeration that names them.
template <class Id, std::size_t Size>
class SiteTable {
 public:
  std::array<Site, Size> rows;

  /// The step at `id`. Does not compile if the table has no such row or another order there.
  consteval Step at(Id id, std::memory_order order) const {
    const Site& site = rows.at(static_cast<std::size_t>(id));
    if (site.order != order) {
      throw "the order at the call is not the one in the table of sites";
    }
    return {&site, order};
  }

  /// The step at `id`, of a lock or of parking, which bring their own order.
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

/// The limit of every count of owners or handles: more than any program has. A step that counts
/// beyond it ends the program, far from the overflow of a count, or of one field of a word into the
/// next.
inline constexpr std::uint32_t max_count = std::uint32_t{1} << 30;

}  // namespace byre::inline v0::sync
