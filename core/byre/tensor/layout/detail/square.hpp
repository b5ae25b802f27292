// SPDX-License-Identifier: BSL-1.0
/// The transpose of a small square of elements, in registers. Vectors are the compiler's own, so that this
/// is the same source on every machine.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <utility>

namespace byre::inline v0::detail {

/// As many rows as a vector of 16 bytes has elements.
template <std::size_t Itemsize>
class Square {
 public:
  static constexpr std::size_t side = 16 / Itemsize;

  /// Element j of row i of `from` becomes element i of row j of `to`. Pitches, from row to row, are in
  /// bytes. All is read before any is written.
  static void transpose(const std::byte* from, std::int64_t from_pitch, std::byte* to,
                        std::int64_t to_pitch) noexcept {
    transpose(from, from_pitch, to, to_pitch, std::make_index_sequence<side>{});
  }

 private:
  using Element =
      std::tuple_element_t<static_cast<std::size_t>(std::countr_zero(Itemsize)),
                           std::tuple<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>>;
  typedef Element Vector __attribute__((vector_size(16)));

  struct Rows {
    Vector row[side];  // a std::array would lose the attribute
  };

  /// Elements of `a` and `b` in turn, from the first half of each or from the second.
  template <std::size_t Half, std::size_t... Index>
  static Vector interleaved(Vector a, Vector b, std::index_sequence<Index...>) noexcept {
    return __builtin_shufflevector(a, b, (Half * side / 2 + Index / 2 + Index % 2 * side)...);
  }

  /// Interleaving each row with the one that is half a square below rotates the bits of the number that
  /// says row and column, by one. As many rounds as a row's number has bits exchange the two.
  template <std::size_t... Row>
  static void transpose(const std::byte* from, std::int64_t from_pitch, std::byte* to,
                        std::int64_t to_pitch, std::index_sequence<Row...> all) noexcept {
    Rows now;
    (std::memcpy(&now.row[Row], from + static_cast<std::int64_t>(Row) * from_pitch, 16), ...);
    for (std::size_t left = side; left > 1; left /= 2) {
      now = Rows{{interleaved<Row % 2>(now.row[Row / 2], now.row[(Row + side) / 2], all)...}};
    }
    (std::memcpy(to + static_cast<std::int64_t>(Row) * to_pitch, &now.row[Row], 16), ...);
  }
};

}  // namespace byre::inline v0::detail
