// SPDX-License-Identifier: BSL-1.0
/// One loop over the elements of several tensors of the same sizes, whatever their strides: rows as
/// long as they can be, so that the work per element is a plain loop the compiler vectorizes.
#pragma once

#include <byre/config.hpp>

#include <byre/tensor/dims.hpp>
#include <byre/tensor/layout.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace byre::inline v0::detail {

/// The first element of an operand, and how far apart its elements are, in bytes.
template <std::size_t Count>
struct Row {
  std::array<std::byte*, Count> first;
  std::array<std::int64_t, Count> strides;
  std::int64_t length;
};

/// From how many elements on a row is worth the call that is made for it.
inline constexpr std::int64_t min_row_length = 8;

/// One operand: where its first element is, and its strides in bytes.
struct Operand {
  std::byte* first;
  Dims strides;

  /// Modulo 2^64, which strides of a layout without elements may exceed.
  static Operand of(const void* first, const Layout& layout, std::size_t itemsize) {
    Operand operand{static_cast<std::byte*>(const_cast<void*>(first)), layout.strides};
    for (std::int64_t& stride : operand.strides) {
      stride = static_cast<std::int64_t>(static_cast<std::uint64_t>(stride) * itemsize);
    }
    return operand;
  }
};

/// What is done with a row: refers to a function object, so that the loop is compiled once for all.
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

/// Dimensions of several operands at once.
template <std::size_t Count>
struct Loop {
  Dims sizes;
  std::array<Operand, Count> operands;

  void swap_dimensions(std::size_t a, std::size_t b);
  /// Without the dimensions that need no loop: those of one element are dropped, those that lie
  /// densely in the next for every operand are joined with it. There are elements.
  void join_dimensions();
  /// By the strides of the first operand, the least last; where it has equal ones, of the next.
  void sort_dimensions();
};

/// Calls `row` until every element was in one, in row-major order, for a loop that has elements. The
/// operands start at `first`, wherever the loop's do. `Count` is 1.
template <std::size_t Count>
void for_each_row_of(const Loop<Count>& loop, const std::array<std::byte*, Count>& first,
                     std::type_identity_t<RowFunction<Count>> row);

/// Calls `row` until every element was in one, in an order that suits the first operand. Rows shorter
/// than are worth a call of `row` are avoided where they can be; not much longer ones, as each run
/// through memory would use few of the bytes it fetches. Does nothing if there are no elements. `Count`
/// is from 1 to 4.
template <std::size_t Count>
void for_each_row(const Dims& sizes, const std::array<Operand, Count>& operands,
                  std::type_identity_t<RowFunction<Count>> row);

}  // namespace byre::inline v0::detail
