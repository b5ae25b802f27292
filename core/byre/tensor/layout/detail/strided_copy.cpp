// SPDX-License-Identifier: BSL-1.0
#include <byre/tensor/layout/detail/strided_copy.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <utility>

namespace byre::inline BYRE_ABI::detail {
namespace {

/// The length of the pieces of rows in a block that is copied without a staging buffer. In the
/// worst case, each element of a piece is in a different cache line. These lines fill half of the
/// L1 cache.
constexpr std::int64_t piece_length = 256;

/// The number of rows, and of columns, of a block that is copied through the staging buffer.
/// Elements have `Itemsize` bytes. A block has at most 16 KiB, half of the L1 cache, and its rows
/// are whole cache lines.
template <std::size_t Itemsize>
constexpr std::int64_t block_side = Itemsize == 1   ? 128
                                    : Itemsize == 8 ? 32
                                                    : 64;

template <std::size_t Itemsize>
void copy_plain_row(std::byte* to, std::int64_t to_stride, const std::byte* from,
                    std::int64_t from_stride, std::int64_t length) {
  constexpr auto dense = static_cast<std::int64_t>(Itemsize);
  if (to_stride == dense && from_stride == dense) {
    std::memmove(to, from, static_cast<std::size_t>(length) * Itemsize);
    return;
  }
  for (; length > 0; --length, to += to_stride, from += from_stride) {
    std::memcpy(to, from, Itemsize);
  }
}

/// Transposes a square of elements in registers. The square has as many rows as a vector of 16
/// bytes has elements. Uses the compiler's vector extension, so that all architectures share one
/// source.
template <std::size_t Itemsize>
class Square {
 public:
  static constexpr std::size_t side = 16 / Itemsize;

  /// Element j of row i of `from` becomes element i of row j of `to`. A pitch is the distance
  /// between rows, in bytes. Reads all elements before the first write.
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
    Vector row[side];  // a std::array would lose the type's vector attribute
  };

  /// The elements of the first or second half of `a` and of `b`, alternating. Half is 0 or 1.
  template <std::size_t Half, std::size_t... Index>
  static Vector interleaved(Vector a, Vector b, std::index_sequence<Index...>) noexcept {
    return __builtin_shufflevector(a, b, (Half * side / 2 + Index / 2 + Index % 2 * side)...);
  }

  /// The index of an element in the square consists of the bits of its row, followed by the bits of
  /// its column. Interleaving each row with the row half a square below rotates these bits by one.
  /// After as many rounds as a row index has bits, row and column are exchanged.
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

/// Writes the transpose of the staged rows: element i of row j becomes element j of column i.
/// Transposes whole squares in registers, and copies the elements outside of whole squares one by
/// one.
template <std::size_t Itemsize>
void transpose_out_of_stage(const std::byte* stage, std::byte* to,
                            const std::array<std::int64_t, 2>& to_strides, std::int64_t rows,
                            std::int64_t columns) noexcept {
  constexpr auto itemsize = static_cast<std::int64_t>(Itemsize);
  constexpr std::int64_t pitch = block_side<Itemsize> * itemsize;
  constexpr auto side = static_cast<std::int64_t>(Square<Itemsize>::side);
  const std::int64_t squared_rows = to_strides[1] == itemsize ? rows - rows % side : 0;
  const std::int64_t squared_columns = columns - columns % side;
  for (std::int64_t column = 0; column < columns; ++column) {
    std::byte* const written = to + column * to_strides[0];
    const std::byte* const staged = stage + column * itemsize;
    const std::int64_t done = column < squared_columns ? squared_rows : 0;
    if (column % side == 0) {
      for (std::int64_t row = 0; row < done; row += side) {
        Square<Itemsize>::transpose(staged + row * pitch, pitch, written + row * itemsize,
                                    to_strides[0]);
      }
    }
    copy_plain_row<Itemsize>(written + done * to_strides[1], to_strides[1], staged + done * pitch,
                             pitch, rows - done);
  }
}

/// Returns `function.operator()<Itemsize>()` for an `itemsize` of 1, 2, 4 or 8.
template <class Function>
decltype(auto) visit_itemsize(std::size_t itemsize, Function&& function) {
  switch (itemsize) {
    case 1:
      return function.template operator()<1>();
    case 2:
      return function.template operator()<2>();
    case 4:
      return function.template operator()<4>();
    default:
      return function.template operator()<8>();
  }
}

void move_to_back(Dims& dims, std::size_t axis, std::size_t places_from_back) {
  const auto at = dims.begin() + static_cast<std::ptrdiff_t>(axis);
  std::rotate(at, at + 1, dims.end() - static_cast<std::ptrdiff_t>(places_from_back));
}

/// The dimension with the smallest stride other than 0; the last dimension if all strides are 0.
std::size_t smallest_stride_axis(const Dims& strides) {
  std::size_t least = strides.size() - 1;
  for (std::size_t axis = strides.size(); axis-- > 0;) {
    const std::int64_t stride = std::abs(strides[axis]);
    if (stride != 0 && (strides[least] == 0 || stride < std::abs(strides[least]))) {
      least = axis;
    }
  }
  return least;
}

}  // namespace

StridedCopy::StridedCopy(const Dims& sizes, const Operand& to, const Operand& from,
                         std::size_t to_itemsize, CopyRow row)
    : loop_{sizes, {to, from}}, row_(row), to_itemsize_(to_itemsize) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) {
    return;
  }
  loop_.sort_dimensions();
  loop_.join_dimensions();
  if (loop_.sizes.empty()) {
    loop_.sizes.push_back(1);
    loop_.operands[0].strides.push_back(0);
    loop_.operands[1].strides.push_back(0);
  }
  choose_strategy();
}

void StridedCopy::choose_strategy() {
  Dims& sizes = loop_.sizes;
  const std::size_t last = sizes.size() - 1;
  std::size_t other = smallest_stride_axis(loop_.operands[1].strides);
  if (sizes[last] < min_row_length) {
    other = static_cast<std::size_t>(std::max_element(sizes.begin(), sizes.end()) - sizes.begin());
  }
  const std::int64_t apart = loop_.operands[1].strides[last];
  if (other == last || apart == 0) {
    strategy_ = Strategy::rows;
    return;
  }
  // Blocks span the last two dimensions, so `other` becomes the second to last.
  move_to_back(sizes, other, 1);
  for (Operand& operand : loop_.operands) {
    move_to_back(operand.strides, other, 1);
  }
  constexpr std::int64_t line_nbytes = 64;
  if (std::min(sizes[last], sizes[last - 1]) >= min_row_length && std::abs(apart) >= line_nbytes) {
    strategy_ = Strategy::staged;
    return;
  }
  strategy_ = Strategy::blocks;
  if (sizes[last - 1] > sizes[last]) {
    loop_.swap_dimensions(last - 1, last);
  }
}

void StridedCopy::run() const noexcept {
  if (strategy_ != Strategy::none) {
    walk(0, loop_.operands[0].first, loop_.operands[1].first);
  }
}

void StridedCopy::walk(std::size_t axis, std::byte* to, const std::byte* from) const noexcept {
  const auto& [sizes, operands] = loop_;
  const std::size_t left = sizes.size() - axis;
  if (left == 1) {
    row_(to, operands[0].strides[axis], from, operands[1].strides[axis], sizes[axis]);
  } else if (left == 2 && strategy_ == Strategy::blocks) {
    copy_block_by_block(to, from);
  } else if (left == 2 && strategy_ == Strategy::staged) {
    copy_through_stage(to, from);
  } else {
    for (std::int64_t index = 0; index < sizes[axis]; ++index) {
      walk(axis + 1, to + index * operands[0].strides[axis],
           from + index * operands[1].strides[axis]);
    }
  }
}

void StridedCopy::copy_block_by_block(std::byte* to, const std::byte* from) const noexcept {
  const auto& [sizes, operands] = loop_;
  const std::size_t last = sizes.size() - 1;
  const std::int64_t to_stride = operands[0].strides[last];
  const std::int64_t from_stride = operands[1].strides[last];
  for (std::int64_t start = 0; start < sizes[last]; start += piece_length) {
    const std::int64_t length = std::min(piece_length, sizes[last] - start);
    for (std::int64_t row = 0; row < sizes[last - 1]; ++row) {
      row_(to + start * to_stride + row * operands[0].strides[last - 1], to_stride,
           from + start * from_stride + row * operands[1].strides[last - 1], from_stride, length);
    }
  }
}

void StridedCopy::copy_through_stage(std::byte* to, const std::byte* from) const noexcept {
  visit_itemsize(to_itemsize_, [&]<std::size_t Itemsize>() {
    constexpr std::int64_t side = block_side<Itemsize>;
    constexpr auto itemsize = static_cast<std::int64_t>(Itemsize);
    alignas(64) std::array<std::byte, static_cast<std::size_t>(side * side) * Itemsize> stage;
    const std::size_t last = loop_.sizes.size() - 1;
    const auto strides_of = [last](const Operand& operand) {
      return std::array{operand.strides[last - 1], operand.strides[last]};
    };
    const std::array to_strides = strides_of(loop_.operands[0]);
    const std::array from_strides = strides_of(loop_.operands[1]);
    for (std::int64_t column = 0; column < loop_.sizes[last - 1]; column += side) {
      const std::int64_t columns = std::min(side, loop_.sizes[last - 1] - column);
      for (std::int64_t row = 0; row < loop_.sizes[last]; row += side) {
        const std::int64_t rows = std::min(side, loop_.sizes[last] - row);
        const std::byte* source = from + column * from_strides[0] + row * from_strides[1];
        for (std::int64_t j = 0; j < rows; ++j, source += from_strides[1]) {
          row_(stage.data() + j * side * itemsize, itemsize, source, from_strides[0], columns);
        }
        transpose_out_of_stage<Itemsize>(stage.data(),
                                         to + column * to_strides[0] + row * to_strides[1],
                                         to_strides, rows, columns);
      }
    }
  });
}

void pack(const void* source, const Layout& layout, std::size_t itemsize, void* destination) {
  const Operand packed =
      Operand::of(destination, contiguous_layout(layout.sizes, "copy"), itemsize);
  const CopyRow row = visit_itemsize(
      itemsize, []<std::size_t Itemsize>() -> CopyRow { return &copy_plain_row<Itemsize>; });
  StridedCopy(layout.sizes, packed, Operand::of(source, layout, itemsize), itemsize, row).run();
}

}  // namespace byre::inline BYRE_ABI::detail
