// SPDX-License-Identifier: BSL-1.0
#include <byre/tensor/layout/detail/strided_loop.hpp>

#include <cstring>

namespace byre::inline v0::detail {
namespace {

template <std::size_t Itemsize>
void copy_row(const Row<2>& row) {
  std::byte* to = row.first[0];
  const std::byte* from = row.first[1];
  for (std::int64_t count = row.length; count > 0; --count) {
    std::memcpy(to, from, Itemsize);
    to += row.strides[0];
    from += row.strides[1];
  }
}

void copy_elements(const Dims& sizes, const Operand& to, const Operand& from,
                   std::size_t itemsize) {
  const auto dense = static_cast<std::int64_t>(itemsize);
  const auto copy = [&](const Row<2>& row) {
    if (row.strides[0] == dense && row.strides[1] == dense) {
      std::memcpy(row.first[0], row.first[1], static_cast<std::size_t>(row.length) * itemsize);
      return;
    }
    switch (itemsize) {
      case 1:
        return copy_row<1>(row);
      case 2:
        return copy_row<2>(row);
      case 4:
        return copy_row<4>(row);
      default:
        return copy_row<8>(row);
    }
  };
  constexpr std::int64_t any_length = 1;
  for_each_row(sizes, std::array{to, from}, copy, any_length);
}

Operand packed(const void* first, const Layout& layout, std::size_t itemsize) {
  return Operand::of(first, contiguous_layout(layout.sizes, "copy"), itemsize);
}

}  // namespace

void pack(const void* source, const Layout& layout, std::size_t itemsize, void* destination) {
  copy_elements(layout.sizes, packed(destination, layout, itemsize),
                Operand::of(source, layout, itemsize), itemsize);
}

void unpack(const void* source, void* destination, const Layout& layout, std::size_t itemsize) {
  copy_elements(layout.sizes, Operand::of(destination, layout, itemsize),
                packed(source, layout, itemsize), itemsize);
}

}  // namespace byre::inline v0::detail
