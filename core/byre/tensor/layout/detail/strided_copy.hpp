// SPDX-License-Identifier: BSL-1.0
/// Copies of elements from any strides to any strides, converting them where dtypes differ. What is
/// contiguous in one place and apart in the other goes through blocks that fit the nearest cache, so
/// that each line of memory is fetched once and written once.
#pragma once

#include <byre/config.hpp>
#include <byre/tensor/layout/detail/strided_loop.hpp>

#include <cstddef>
#include <cstdint>

namespace byre::inline v0::detail {

/// Writes `length` elements, whose strides are in bytes.
using CopyRow = void (*)(std::byte* to, std::int64_t to_stride, const std::byte* from,
                         std::int64_t from_stride, std::int64_t length);

/// A copy that needs nothing more than to be made: no memory, and nothing that may fail.
class BYRE_API StridedCopy {
 public:
  /// The operands start where their elements do. They may be the same elements, seen alike, but not
  /// overlap otherwise. `to_itemsize` is that of what `row` writes: 1, 2, 4 or 8.
  StridedCopy(const Dims& sizes, const Operand& to, const Operand& from, std::size_t to_itemsize,
              CopyRow row);

  /// Does nothing if there are no elements.
  void make() const noexcept;

 private:
  enum class Strategy : std::uint8_t {
    none,
    rows,    ///< of the last dimension
    blocks,  ///< of the last two: short pieces of rows, while what they touch is in the cache
    staged,  ///< the same, through a block of which both are dense rows
  };

  void choose_strategy();
  void walk(std::size_t axis, std::byte* to, const std::byte* from) const noexcept;
  void copy_block_by_block(std::byte* to, const std::byte* from) const noexcept;
  void copy_through_stage(std::byte* to, const std::byte* from) const noexcept;

  Loop<2> loop_;  ///< to, from
  CopyRow row_;
  std::size_t to_itemsize_;
  Strategy strategy_ = Strategy::none;
};

/// Writes the elements that `layout` sees, `source` being its first, one after the other.
void pack(const void* source, const Layout& layout, std::size_t itemsize, void* destination);

}  // namespace byre::inline v0::detail
