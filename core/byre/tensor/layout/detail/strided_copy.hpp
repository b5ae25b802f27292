// SPDX-License-Identifier: BSL-1.0
/// StridedCopy: copies elements between any two layouts of equal sizes, and converts them if the
/// dtypes differ. Transposed copies go through blocks that fit the L1 cache, so that each cache
/// line is fetched once and written once.
#pragma once

#include <byre/config.hpp>
#include <byre/tensor/layout/detail/strided_loop.hpp>

#include <cstddef>
#include <cstdint>

namespace byre::inline BYRE_ABI::detail {

/// Copies or converts `length` elements. Strides are in bytes.
using CopyRow = void (*)(std::byte* to, std::int64_t to_stride, const std::byte* from,
                         std::int64_t from_stride, std::int64_t length);

/// A prepared copy. run() allocates nothing and cannot fail.
class BYRE_API StridedCopy {
 public:
  /// Requires that `to` and `from` overlap element for element or not at all.
  /// `to_itemsize` is the size of the elements that `row` writes: 1, 2, 4 or 8.
  StridedCopy(const Dims& sizes, const Operand& to, const Operand& from, std::size_t to_itemsize,
              CopyRow row);

  /// Does nothing if there are no elements.
  void run() const noexcept;

 private:
  enum class Strategy : std::uint8_t {
    none,
    rows,    ///< one row of the last dimension at a time
    blocks,  ///< blocks of the last two dimensions: short pieces of rows that stay in the cache
    staged,  ///< blocks through a staging buffer, so that reads and writes are dense rows
  };

  void choose_strategy();
  void walk(std::size_t axis, std::byte* to, const std::byte* from) const noexcept;
  void copy_block_by_block(std::byte* to, const std::byte* from) const noexcept;
  void copy_through_stage(std::byte* to, const std::byte* from) const noexcept;

  Loop<2> loop_;  ///< operand 0 is `to`, operand 1 is `from`
  CopyRow row_;
  std::size_t to_itemsize_;
  Strategy strategy_ = Strategy::none;
};

/// Copies the elements of `layout` to `destination`, contiguously. `source` is the first element.
void pack(const void* source, const Layout& layout, std::size_t itemsize, void* destination);

}  // namespace byre::inline BYRE_ABI::detail
