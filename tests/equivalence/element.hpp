// SPDX-License-Identifier: BSL-1.0
/// Elements in two worlds, and what accounts for their values where those differ.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace byre::test {

/// Why a value may differ, and what has to be so. Values are made of values: of several accounts the
/// first in this order is kept.
struct Account {
  enum class Why : std::uint8_t {
    /// Nobody knows: always wrong.
    nothing,
    /// Who wrote the element last did so through a pointer that was kept: the line by which it left is
    /// counted as unaudited.
    kept_pointer,
    /// The family that met it was told at that read, or at one since the element was written.
    told,
    /// The read that met it is silenced, or the write of this element or the reshape between are.
    silenced,
  };
  Why why = Why::nothing;
  std::uint32_t which = 0;  ///< of what is told the index, of a pointer the line

  friend auto operator<=>(const Account&, const Account&) = default;
};
inline constexpr std::size_t accounts = 4;
const char* to_string(Account::Why why) noexcept;
using Accounts = std::vector<Account>;

/// Where reshape aliases, and where it copies.
struct Element {
  std::array<std::int64_t, 2> in{};
  Account account{};  ///< if the two differ

  bool differs() const { return in[0] != in[1]; }
};
using Elements = std::vector<Element>;

/// The same in both worlds.
constexpr Element alike(std::int64_t value) {
  return {{value, value}};
}

/// What `function` makes of the operands in each world.
template <class Function, class... Operand>
Element computed(const Function& function, const Operand&... operands) {
  constexpr Account none{Account::Why::silenced, ~std::uint32_t{0}};
  return {{function(operands.in[0]...), function(operands.in[1]...)},
          std::min({none, (operands.differs() ? operands.account : none)...})};
}

}  // namespace byre::test
