// SPDX-License-Identifier: BSL-1.0
#include <byre/tensor/layout/detail/strided_loop.hpp>

#include <algorithm>
#include <utility>

namespace byre::inline BYRE_ABI::detail {
namespace {

template <std::size_t Count>
bool has_smaller_stride(const Loop<Count>& loop, std::size_t a, std::size_t b) {
  for (const Operand& operand : loop.operands) {
    if (operand.strides[a] != operand.strides[b]) {
      return operand.strides[a] < operand.strides[b];
    }
  }
  return false;
}

}  // namespace

template <std::size_t Count>
void Loop<Count>::swap_dimensions(std::size_t a, std::size_t b) {
  std::swap(sizes[a], sizes[b]);
  for (Operand& operand : operands) {
    std::swap(operand.strides[a], operand.strides[b]);
  }
}

template <std::size_t Count>
void Loop<Count>::join_dimensions() {
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
  for (Operand& operand : operands) {
    operand.strides.resize(kept);
  }
}

template <std::size_t Count>
void Loop<Count>::sort_dimensions() {
  for (std::size_t end = 1; end < sizes.size(); ++end) {
    for (std::size_t axis = end; axis > 0 && has_smaller_stride(*this, axis - 1, axis); --axis) {
      swap_dimensions(axis - 1, axis);
    }
  }
}

template <std::size_t Count>
void for_each_row_of(const Loop<Count>& loop, const std::array<std::byte*, Count>& first,
                     std::type_identity_t<RowFunction<Count>> row) {
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

template <std::size_t Count>
void for_each_row(const Dims& sizes, const std::array<Operand, Count>& operands,
                  std::type_identity_t<RowFunction<Count>> row) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) {
    return;
  }
  Loop<Count> loop{sizes, operands};
  loop.sort_dimensions();
  loop.join_dimensions();
  // If rows would be shorter than min_row_length, the longest dimension becomes the row.
  const auto longest = std::max_element(loop.sizes.begin(), loop.sizes.end());
  if (longest != loop.sizes.end() && *longest >= min_row_length &&
      loop.sizes.back() < min_row_length) {
    loop.swap_dimensions(static_cast<std::size_t>(longest - loop.sizes.begin()),
                         loop.sizes.size() - 1);
  }
  std::array<std::byte*, Count> first;
  for (std::size_t number = 0; number < Count; ++number) {
    first[number] = operands[number].first;
  }
  for_each_row_of(loop, first, row);
}

template struct Loop<1>;
template struct Loop<2>;
template void for_each_row_of(const Loop<1>&, const std::array<std::byte*, 1>&, RowFunction<1>);
template void for_each_row(const Dims&, const std::array<Operand, 1>&, RowFunction<1>);
template void for_each_row(const Dims&, const std::array<Operand, 2>&, RowFunction<2>);
template void for_each_row(const Dims&, const std::array<Operand, 3>&, RowFunction<3>);
template void for_each_row(const Dims&, const std::array<Operand, 4>&, RowFunction<4>);

}  // namespace byre::inline BYRE_ABI::detail
