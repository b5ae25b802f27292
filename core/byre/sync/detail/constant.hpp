// SPDX-License-Identifier: BSL-1.0
/// Constants: the numbers that a lock-free type is made of are rows of a table beside its sites, so
/// that a checker can have each of them wrong, and see that it matters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace byre::inline v0::sync {

/// One row of a table of constants.
struct Constant {
  std::string_view name;  ///< type.constant, unique in the program
  std::uint64_t value;
  std::string_view decides;  ///< what would be decided otherwise if it were another
};

/// The constants of one type, in the order of the enumeration that names them.
template <class Id, std::size_t Size>
class ConstantTable {
 public:
  std::array<Constant, Size> rows;

  /// Does not compile if the table has no such row.
  consteval const Constant& at(Id id) const { return rows.at(static_cast<std::size_t>(id)); }
};

}  // namespace byre::inline v0::sync
