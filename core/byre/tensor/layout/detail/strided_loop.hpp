// SPDX-License-Identifier: BSL-1.0
/// A loop over the elements of several tensors of equal sizes, with any strides. It calls a
/// function for rows that are as long as possible, so that the compiler can vectorize the loop over
/// a row.
#pragma once

#include <byre/config.hpp>

#include <byre/tensor/dims.hpp>
#include <byre/tensor/layout.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace byre::inline BYRE_ABI::detail {

/// One row of all operands: first elements, strides in bytes, and the common length.
template <std::size_t Count>
struct Row {
  std::array<std::byte*, Count> first;
  std::array<std::int64_t, Count> strides;
  std::int64_t length;
};

/// If a row has fewer elements, the call of the row's function costs more than its elements.
inline constexpr std::int64_t min_row_length = 8;

/// One operand: the address of its first element, and its strides in bytes.
struct Operand {
  std::byte* first;
  Dims strides;

  /// Computes strides modulo 2^64, because strides of a layout without elements may overflow.
  static Operand of(const void* first, const Layout& layout, std::size_t itemsize) {
    Operand operand{static_cast<std::byte*>(const_cast<void*>(first)), layout.strides};
    for (std::int64_t& stride : operand.strides) {
      stride = static_cast<std::int64_t>(static_cast<std::uint64_t>(stride) * itemsize);
    }
    return operand;
  }
};

/// A reference to the function for a row. It is type-erased, so that the loop is compiled once.
template <std::size_t Count>
class RowFunction {
 public:
  template <class Function>
  RowFunction(
      Function&& function) noexcept  // NOLINT(google-explicit-constructor): as std::function
      : object_(&function), call_([](const void* object, const Row<Count>& row) {
          using Object = std::remove_reference_t<Function>;
          (*static_cast<Object*>(const_cast<void*>(object)))(row);
        }) {}

  void operator()(const Row<Count>& row) const { call_(object_, row); }

 private:
  const void* object_;
  void (*call_)(const void* object, const Row<Count>& row);
};

/// The common sizes and the strides of several operands.
template <std::size_t Count>
struct Loop {
  Dims sizes;
  std::array<Operand, Count> operands;

  void swap_dimensions(std::size_t a, std::size_t b);
  /// Removes dimensions that need no loop: drops dimensions of one element, and joins a dimension
  /// with the next if one stride can express both in every operand. Requires that there are
  /// elements.
  void join_dimensions();
  /// Sorts the dimensions by the strides of the first operand, the smallest stride last. Dimensions
  /// with equal strides are sorted by the strides of the next operand.
  void sort_dimensions();
};

/// Calls `row` for all rows of `loop`, in row-major order. The addresses in `first` replace those
/// in the operands of `loop`. Requires that there are elements. `Count` is 1.
template <std::size_t Count>
void for_each_row_of(const Loop<Count>& loop, const std::array<std::byte*, Count>& first,
                     std::type_identity_t<RowFunction<Count>> row);

/// Calls `row` for all rows, in the order of the first operand's strides. If rows would be shorter
/// than min_row_length, the longest dimension becomes the row. Otherwise the order stays, even if
/// another dimension is longer: if its stride is large, a row would use few of the bytes that it
/// fetches. Does nothing if there are no elements. `Count` is from 1 to 4.
template <std::size_t Count>
void for_each_row(const Dims& sizes, const std::array<Operand, Count>& operands,
                  std::type_identity_t<RowFunction<Count>> row);

}  // namespace byre::inline BYRE_ABI::detail
