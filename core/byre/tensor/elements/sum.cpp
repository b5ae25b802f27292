// SPDX-License-Identifier: BSL-1.0
/// sum(), by pairwise summation: sums blocks, then pairs of blocks, then pairs of pairs, and so on.
#include <byre/tensor/detail/float_environment.hpp>
#include <byre/tensor/elements.hpp>
#include <byre/tensor/elements/detail/lane_sums.hpp>
#include <byre/tensor/elements/detail/pointwise.hpp>
#include <byre/tensor/layout/detail/strided_loop.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <variant>

namespace byre::inline BYRE_ABI {
namespace {

using detail::ElementAccess;
using detail::Operand;
using detail::Row;
using detail::Summand;

constexpr DType summed_as(DType dtype) noexcept {
  return category_of(dtype) < Category::floating ? DType::i64 : dtype;
}

/// A layout split into two: the dimensions of the result, and the dimensions that are summed over.
struct Split {
  Layout kept;
  Layout summed;
  Dims sizes;  ///< the sizes of the result

  Split(const Tensor& a, const Dims& axes, bool keepdim) {
    const Dims named = detail::distinct_axes(axes, a.ndim(), "sum");
    for (std::size_t axis = 0; axis < a.ndim(); ++axis) {
      const bool is_summed =
          std::ranges::find(named, static_cast<std::int64_t>(axis)) != named.end();
      Layout& part = is_summed ? summed : kept;
      part.sizes.push_back(a.sizes()[axis]);
      part.strides.push_back(a.strides()[axis]);
      if (!is_summed) {
        sizes.push_back(a.sizes()[axis]);
      } else if (keepdim) {
        sizes.push_back(1);
      }
    }
  }
};

/// A loop over the summed dimensions. for_each_row_of() gets the address of the first element when
/// the loop runs. Requires that there are elements.
detail::Loop<1> loop_over(const Layout& summed, std::size_t itemsize) {
  detail::Loop<1> loop{summed.sizes, {Operand::of(nullptr, summed, itemsize)}};
  loop.join_dimensions();
  return loop;
}

/// Whether the operands of adjacent results are closer in memory than the operands of one result,
/// so that summing by columns is faster.
bool are_columns(const detail::Loop<1>& summed, const Row<2>& row) {
  return row.length >= detail::min_row_length && !summed.sizes.empty() &&
         std::abs(row.strides[1]) < std::abs(summed.operands[0].strides.back());
}

template <Summand T>
void sum_into(Tensor& output, const Tensor& a, const Split& split) {
  const auto load = detail::conversion(dtype_of<T>, a.dtype(), "sum");
  const auto store = detail::conversion(output.dtype(), dtype_of<T>, "sum");
  const bool is_converted = a.dtype() != dtype_of<T>;
  const Layout to = contiguous_layout(split.kept.sizes, "sum");
  const std::array operands{Operand::of(ElementAccess::to_write(output, {}), to, output.itemsize()),
                            Operand::of(ElementAccess::to_read(a), split.kept, a.itemsize())};
  const detail::Loop<1> summed = loop_over(split.summed, a.itemsize());
  const detail::DefaultFloatEnvironment environment;
  // A variant, because each alternative is large and the stack of a thread may be small. All rows
  // use one alternative.
  std::variant<std::monostate, detail::DenseSum<T>, detail::ColumnSums<T>> sums;
  detail::for_each_row(split.kept.sizes, operands, [&](Row<2> row) {
    const bool by_columns = are_columns(summed, row);
    if (!by_columns && sums.index() == 0) {
      sums.template emplace<1>(load, is_converted);
    }
    while (row.length > 0) {
      const std::int64_t results =
          by_columns ? std::min(row.length, detail::LaneSums<T>::lanes) : 1;
      typename detail::LaneSums<T>::Lanes totals;
      if (by_columns) {
        auto& columns = sums.template emplace<2>(load, is_converted, row.strides[1], results);
        detail::for_each_row_of(summed, std::array{row.first[1]}, [&](const Row<1>& rows) {
          columns.add(rows.first[0], rows.strides[0], rows.length);
        });
        totals = columns.totals();
      } else {
        auto& dense = std::get<1>(sums);
        detail::for_each_row_of(summed, std::array{row.first[1]}, [&](const Row<1>& run) {
          dense.add(run.first[0], run.strides[0], run.length);
        });
        totals.values[0] = dense.total();
      }
      store(row.first[0], row.strides[0], reinterpret_cast<const std::byte*>(totals.values.data()),
            sizeof(T), results);
      row.first[0] += results * row.strides[0];
      row.first[1] += results * row.strides[1];
      row.length -= results;
    }
  });
}

}  // namespace

Tensor sum(const Tensor& a, const Dims& axes, bool keepdim, CallSite site) {
  detail::expect_operands("sum", {&a});
  const Split split(a, axes, keepdim);
  const DType dtype = summed_as(a.dtype());
  Tensor output = Tensor::empty(split.sizes, dtype);
  ElementAccess::record_read(a, site);
  if (a.numel() == 0) {
    return zero_(output);
  }
  detail::visit_computed<void>(
      dtype, "sum", [&]<class T>() requires Summand<T> { sum_into<T>(output, a, split); });
  return output;
}

Tensor sum(const Tensor& a, detail::ExplicitCallSite site) {
  detail::expect_tensor(a, "sum");
  Dims axes;
  for (std::size_t axis = 0; axis < a.ndim(); ++axis) {
    axes.push_back(static_cast<std::int64_t>(axis));
  }
  return sum(a, axes, false, site.site());
}

}  // namespace byre::inline BYRE_ABI
