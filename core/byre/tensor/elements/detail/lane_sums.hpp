// SPDX-License-Identifier: BSL-1.0
/// Sums in lanes: a lane holds one partial sum, and a row of lanes is as wide as a few vectors.
/// Sums of columns use one lane for each column. A sum of adjacent elements has partial sums in all
/// lanes, which are added at the end.
#pragma once

#include <byre/tensor/elements/detail/arithmetic.hpp>
#include <byre/tensor/elements/detail/convert.hpp>
#include <byre/tensor/elements/detail/wide_vectors.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace byre::inline BYRE_ABI::detail {

/// The types that elements are summed in.
template <class T>
concept Summand = std::same_as<T, std::int64_t> || std::floating_point<T> || is_complex<T>;

/// The size of a row of lanes, in bytes. The size does not depend on the width of the machine's
/// vectors, so that sums are equal on every machine.
inline constexpr std::size_t lanes_nbytes = 256;

/// Adds `count` rows, `pitch` bytes apart, to the lanes at `sums`.
using AddRows = void (*)(std::byte* sums, const std::byte* rows, std::int64_t pitch,
                         std::int64_t count);

/// Adds rows to lanes of type Number. The lanes stay in registers.
template <class Number>
struct RowsAdder {
  static void portable(std::byte* sums, const std::byte* rows, std::int64_t pitch,
                       std::int64_t count) {
    add<16>(sums, rows, pitch, count, std::make_index_sequence<lanes_nbytes / 16>{});
  }

  BYRE_WIDE_VECTORS()
  static void wide(std::byte* sums, const std::byte* rows, std::int64_t pitch, std::int64_t count) {
    add<32>(sums, rows, pitch, count, std::make_index_sequence<lanes_nbytes / 32>{});
  }

 private:
  template <std::size_t Nbytes, std::size_t... Index>
  [[gnu::always_inline]] static void add(std::byte* sums, const std::byte* rows, std::int64_t pitch,
                                         std::int64_t count, std::index_sequence<Index...>) {
    typedef Number Vector __attribute__((vector_size(Nbytes)));
    Vector totals[sizeof...(Index)];
    (std::memcpy(&totals[Index], sums + Index * Nbytes, Nbytes), ...);
    for (; count > 0; --count, rows += pitch) {
      Vector row[sizeof...(Index)];
      (std::memcpy(&row[Index], rows + Index * Nbytes, Nbytes), ...);
      ((totals[Index] += row[Index]), ...);
    }
    (std::memcpy(sums + Index * Nbytes, &totals[Index], Nbytes), ...);
  }
};

/// The function that adds rows of T on this machine. Integers wrap around. Real and imaginary parts
/// are added separately.
template <Summand T>
AddRows adder_of_rows() noexcept {
  using Part = std::conditional_t<is_complex<T>, float, T>;
  using Number = std::conditional_t<std::integral<T>, std::uint64_t, Part>;
  return has_wide_vectors() ? &RowsAdder<Number>::wide : &RowsAdder<Number>::portable;
}

/// One sum for each lane, over any number of rows, by pairwise summation.
template <Summand T>
class LaneSums {
 public:
  static constexpr auto lanes = static_cast<std::int64_t>(lanes_nbytes / sizeof(T));
  /// The largest number of rows in one term. The rows of a term are added one after another.
  static constexpr std::int64_t rows_at_once = 32;

  struct Lanes {
    std::array<T, lanes_nbytes / sizeof(T)> values;
  };

  void clear() noexcept {
    count_ = 0;
    depth_ = 0;
  }

  bool is_clear() const noexcept { return count_ == 0; }

  /// Adds at most rows_at_once rows of all lanes, as one term. Stores sums of 2^k terms in
  /// descending order of k, like the digits of a binary counter: two sums of equal k are merged,
  /// like a carry.
  void add(const std::byte* rows, std::int64_t pitch, std::int64_t count) {
    Lanes term{};
    add_rows_(bytes_of(term), rows, pitch, count);
    for (int carries = std::countr_one(count_++); carries > 0; --carries) {
      add_rows_(bytes_of(term), bytes_of(sums_[--depth_]), 0, 1);
    }
    sums_[depth_++] = term;
  }

  Lanes totals() {
    Lanes total{};
    for (std::size_t at = depth_; at > 0; --at) {
      add_rows_(bytes_of(total), bytes_of(sums_[at - 1]), 0, 1);
    }
    return total;
  }

  /// The sum of the first `count` lanes, added in pairs. Requires `count` > 0.
  static T sum_of(Lanes& lane_values, std::int64_t count) {
    auto& values = lane_values.values;
    auto left = static_cast<std::size_t>(count);
    while (left > 1) {
      const std::size_t half = (left + 1) / 2;
      for (std::size_t lane = half; lane < left; ++lane) {
        values[lane - half] = Add{}(values[lane - half], values[lane]);
      }
      left = half;
    }
    return values[0];
  }

 private:
  static std::byte* bytes_of(Lanes& lane_values) noexcept {
    return reinterpret_cast<std::byte*>(lane_values.values.data());
  }

  std::uint64_t count_ = 0;
  std::size_t depth_ = 0;
  AddRows add_rows_ = adder_of_rows<T>();
  std::array<Lanes, 48> sums_;  // enough for 2^48 terms
};

/// The sum of elements that are added run by run. The bits of the result do not depend on how the
/// elements are divided into runs.
template <Summand T>
class DenseSum {
 public:
  explicit DenseSum(ConvertRow convert, bool is_converted) noexcept
      : convert_(convert), is_converted_(is_converted) {}

  void add(const std::byte* from, std::int64_t stride, std::int64_t length) {
    constexpr auto itemsize = static_cast<std::int64_t>(sizeof(T));
    if (!is_converted_ && stride == itemsize && staged_ == 0) {
      while (length >= lanes) {
        const std::int64_t rows = std::min(length / lanes, Sums::rows_at_once);
        sums_.add(from, lanes_nbytes, rows);
        from += rows * lanes * itemsize;
        length -= rows * lanes;
      }
    }
    while (length > 0) {
      const std::int64_t fitting = std::min(length, capacity - staged_);
      convert_(stage_at(staged_), itemsize, from, stride, fitting);
      from += fitting * stride;
      length -= fitting;
      staged_ += fitting;
      if (staged_ == capacity) {
        sums_.add(stage_at(0), lanes_nbytes, Sums::rows_at_once);
        staged_ = 0;
      }
    }
  }

  /// Returns the sum and restarts at 0.
  T total() {
    const std::int64_t rest = staged_ % lanes;
    if (staged_ != rest) {
      sums_.add(stage_at(0), lanes_nbytes, staged_ / lanes);
    }
    typename Sums::Lanes last{};
    std::copy_n(stage_.begin() + (staged_ - rest), rest, last.values.begin());
    staged_ = 0;
    if (sums_.is_clear()) {
      return Sums::sum_of(last, rest);
    }
    if (rest != 0) {
      sums_.add(reinterpret_cast<const std::byte*>(last.values.data()), 0, 1);
    }
    typename Sums::Lanes totals = sums_.totals();
    sums_.clear();
    return Sums::sum_of(totals, lanes);
  }

 private:
  using Sums = LaneSums<T>;
  static constexpr std::int64_t lanes = Sums::lanes;
  static constexpr std::int64_t capacity = lanes * Sums::rows_at_once;

  std::byte* stage_at(std::int64_t element) noexcept {
    return reinterpret_cast<std::byte*>(stage_.data() + element);
  }

  ConvertRow convert_;
  bool is_converted_;
  Sums sums_;
  std::int64_t staged_ = 0;  ///< elements in the stage, to be added later
  std::array<T, static_cast<std::size_t>(capacity)> stage_;
};

/// Sums of at most as many columns as there are lanes. The elements of a row are `stride` bytes
/// apart.
template <Summand T>
class ColumnSums {
 public:
  ColumnSums(ConvertRow convert, bool is_converted, std::int64_t stride, std::int64_t columns)
      : convert_(convert),
        is_dense_(!is_converted && stride == itemsize && columns == Sums::lanes),
        stride_(stride),
        columns_(columns) {
    if (!is_dense_ && columns != Sums::lanes) {
      stage_.fill({});  // lanes without a column are added, too: they must be initialized
    }
  }

  void add(const std::byte* from, std::int64_t pitch, std::int64_t rows) {
    while (rows > 0) {
      const std::int64_t some = std::min(rows, Sums::rows_at_once);
      if (is_dense_) {
        sums_.add(from, pitch, some);
      } else {
        for (std::int64_t row = 0; row < some; ++row) {
          convert_(
              reinterpret_cast<std::byte*>(stage_[static_cast<std::size_t>(row)].values.data()),
              itemsize, from + row * pitch, stride_, columns_);
        }
        sums_.add(reinterpret_cast<const std::byte*>(stage_.data()), lanes_nbytes, some);
      }
      from += some * pitch;
      rows -= some;
    }
  }

  typename LaneSums<T>::Lanes totals() { return sums_.totals(); }

 private:
  using Sums = LaneSums<T>;
  static constexpr auto itemsize = static_cast<std::int64_t>(sizeof(T));

  ConvertRow convert_;
  bool is_dense_;
  std::int64_t stride_;
  std::int64_t columns_;
  Sums sums_;
  std::array<typename Sums::Lanes, Sums::rows_at_once> stage_;
};

}  // namespace byre::inline BYRE_ABI::detail
