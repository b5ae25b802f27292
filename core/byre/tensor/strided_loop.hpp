// SPDX-License-Identifier: BSL-1.0
/// One loop over the elements of several tensors of the same sizes, whatever their strides: rows as
/// long as they can be, so that the work per element is a plain loop the compiler vectorizes.
#pragma once

#include <byre/tensor/dims.hpp>
#include <byre/tensor/layout.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

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

  static Operand of(const void* first, const Layout& layout, std::size_t itemsize) {
    Operand operand{static_cast<std::byte*>(const_cast<void*>(first)), layout.strides};
    for (std::int64_t& stride : operand.strides) {
      stride *= static_cast<std::int64_t>(itemsize);
    }
    return operand;
  }
};

/// Sizes and strides without the dimensions that need no loop: those of one element are dropped,
/// those that lie densely in the next for every operand are joined with it.
template <std::size_t Count>
void join_dimensions(Dims& sizes, std::array<Operand, Count>& operands) {
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

/// Calls `row(const Row<Count>&)` until every element was in one, in row-major order.
template <std::size_t Count, class EachRow>
void for_each_row(Dims sizes, std::array<Operand, Count> operands, EachRow&& row) {
  for (const std::int64_t size : sizes) {
    if (size == 0) {
      return;
    }
  }
  join_dimensions(sizes, operands);
  Row<Count> now{};
  const std::size_t outer = sizes.empty() ? 0 : sizes.size() - 1;
  now.length = sizes.empty() ? 1 : sizes[outer];
  for (std::size_t number = 0; number < Count; ++number) {
    now.first[number] = operands[number].first;
    now.strides[number] = sizes.empty() ? 0 : operands[number].strides[outer];
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
        const std::int64_t stride = operands[number].strides[turning];
        now.first[number] += has_next ? stride : -(sizes[turning] - 1) * stride;
      }
      if (has_next) {
        break;
      }
      indices[turning] = 0;
    }
  }
}

/// Writes the elements that `layout` sees, `source` being its first, one after the other.
void pack(const void* source, const Layout& layout, std::size_t itemsize, void* destination);
/// The other way round.
void unpack(const void* source, void* destination, const Layout& layout, std::size_t itemsize);

}  // namespace byre::inline v0::detail
