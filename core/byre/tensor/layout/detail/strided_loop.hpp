// SPDX-License-Identifier: BSL-1.0
/// One loop over the elements of several tensors of the same sizes, whatever their strides: rows as
/// long as they can be, so that the work per element is a plain loop the compiler vectorizes.
#pragma once

#include <byre/tensor/dims.hpp>
#include <byre/tensor/layout.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace byre::inline v0::detail {

/// The first element of an operand, and how far apart its elements are, in bytes.
template <std::size_t Count>
struct Row {
  std::array<std::byte*, Count> first;
  std::array<std::int64_t, Count> strides;
  std::int64_t length;
};

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

/// Dimensions of several operands at once.
template <std::size_t Count>
struct Loop {
  Dims sizes;
  std::array<Operand, Count> operands;

  /// Without the dimensions that need no loop: those of one element are dropped, those that lie
  /// densely in the next for every operand are joined with it. There are elements.
  void join_dimensions() {
    std::size_t kept = 0;
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
      const std::int64_t size = sizes[axis];
      if (size == 1) {
        continue;
      }
      bool joins = kept != 0;
      for (const Operand& operand : operands) {
        joins = joins && operand.strides[kept - 1] == size * operand.strides[axis];
      }
      kept += joins ? 0 : 1;
      sizes[kept - 1] = joins ? sizes[kept - 1] * size : size;
      for (Operand& operand : operands) {
        operand.strides[kept - 1] = operand.strides[axis];
      }
    }
    sizes.resize(kept);
  }

  /// By the strides of the first operand, the least last; where it has equal ones, of the next.
  void sort_dimensions() {
    for (std::size_t end = 1; end < sizes.size(); ++end) {
      for (std::size_t axis = end; axis > 0 && is_less_apart(axis - 1, axis); --axis) {
        swap_dimensions(axis - 1, axis);
      }
    }
  }

  /// The longest dimension is last, if only that is `long_enough`.
  void lengthen_rows(std::int64_t long_enough) {
    const auto longest = std::max_element(sizes.begin(), sizes.end());
    if (longest != sizes.end() && *longest >= long_enough && sizes.back() < long_enough) {
      swap_dimensions(static_cast<std::size_t>(longest - sizes.begin()), sizes.size() - 1);
    }
  }

 private:
  bool is_less_apart(std::size_t a, std::size_t b) const {
    for (const Operand& operand : operands) {
      if (operand.strides[a] != operand.strides[b]) {
        return operand.strides[a] < operand.strides[b];
      }
    }
    return false;
  }

  void swap_dimensions(std::size_t a, std::size_t b) {
    std::swap(sizes[a], sizes[b]);
    for (Operand& operand : operands) {
      std::swap(operand.strides[a], operand.strides[b]);
    }
  }
};

/// Calls `row(const Row<Count>&)` until every element was in one, in row-major order, for a loop that
/// has elements. The operands start at `first`, wherever the loop's do.
template <std::size_t Count, class EachRow>
void for_each_row_of(const Loop<Count>& loop, const std::array<std::byte*, Count>& first,
                     EachRow&& row) {
  const Dims& sizes = loop.sizes;
  Row<Count> now{first, {}, 1};
  std::size_t outer = 0;
  if (!sizes.empty()) {
    outer = sizes.size() - 1;
    now.length = sizes[outer];
    for (std::size_t number = 0; number < Count; ++number) {
      now.strides[number] = loop.operands[number].strides[outer];
    }
  }
  Dims indices(outer, 0);
  for (;;) {
    row(now);
    std::size_t axis = outer;
    for (;; --axis) {
      if (axis == 0) {
        return;
      }
      const std::size_t turning = axis - 1;
      const bool has_next = ++indices[turning] < sizes[turning];
      for (std::size_t number = 0; number < Count; ++number) {
        const std::int64_t stride = loop.operands[number].strides[turning];
        now.first[number] += has_next ? stride : -(sizes[turning] - 1) * stride;
      }
      if (has_next) {
        break;
      }
      indices[turning] = 0;
    }
  }
}

/// Calls `row(const Row<Count>&)` until every element was in one, in an order that suits the first
/// operand. Rows shorter than are worth a call of `row` are avoided where they can be; not much longer
/// ones, as each run through memory would use few of the bytes it fetches. Does nothing if there are
/// no elements.
template <std::size_t Count, class EachRow>
void for_each_row(const Dims& sizes, const std::array<Operand, Count>& operands, EachRow&& row,
                  std::int64_t worth_a_call = 8) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) {
    return;
  }
  Loop<Count> loop{sizes, operands};
  loop.sort_dimensions();
  loop.join_dimensions();
  loop.lengthen_rows(worth_a_call);
  std::array<std::byte*, Count> first;
  for (std::size_t number = 0; number < Count; ++number) {
    first[number] = operands[number].first;
  }
  for_each_row_of(loop, first, row);
}

/// Writes the elements that `layout` sees, `source` being its first, one after the other.
void pack(const void* source, const Layout& layout, std::size_t itemsize, void* destination);
/// The other way round.
void unpack(const void* source, void* destination, const Layout& layout, std::size_t itemsize);

}  // namespace byre::inline v0::detail
