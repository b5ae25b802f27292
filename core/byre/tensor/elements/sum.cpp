// SPDX-License-Identifier: BSL-1.0
/// Sums, in pairs: of blocks, then of pairs of blocks of equal length, and so on.
#include <byre/tensor/elements.hpp>
#include <byre/tensor/elements/detail/arithmetic.hpp>
#include <byre/tensor/elements/detail/pointwise.hpp>
#include <byre/tensor/layout/detail/strided_loop.hpp>

#include <algorithm>
#include <array>
#include <bit>

namespace byre::inline v0 {
namespace {

using detail::block_length;
using detail::ElementAccess;
using detail::Operand;
using detail::Row;

/// What elements are summed as.
template <class T>
concept Summand = std::same_as<T, std::int64_t> || std::floating_point<T> || detail::is_complex<T>;

constexpr DType summed_as(DType dtype) noexcept {
  return category_of(dtype) < Category::floating ? DType::i64 : dtype;
}

/// Sums of 2^k terms, the larger k first, as a binary counter has its digits: two of equal k make
/// one, as a digit carries.
template <Summand T>
class PairwiseSum {
 public:
  void add(T term) {
    for (int carries = std::countr_one(count_++); carries > 0; --carries) {
      term = detail::Add{}(sums_[--depth_], term);
    }
    sums_[depth_++] = term;
  }

  T total() const {
    T total{};
    for (std::size_t at = depth_; at > 0; --at) {
      total = detail::Add{}(sums_[at - 1], total);
    }
    return total;
  }

 private:
  std::uint64_t count_ = 0;
  std::size_t depth_ = 0;
  std::array<T, 64> sums_;
};

/// In lanes, so that it is vectorized: the compiler may not reorder floating-point sums.
template <Summand T>
T sum_of_block(const T* values, std::int64_t length) {
  constexpr std::int64_t lanes = 8;
  std::array<T, lanes> sums{};
  std::int64_t i = 0;
  for (; i + lanes <= length; i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      sums[lane] = detail::Add{}(sums[lane], values[i + static_cast<std::int64_t>(lane)]);
    }
  }
  for (std::size_t lane = 0; i < length; ++i, ++lane) {
    sums[lane] = detail::Add{}(sums[lane], values[i]);
  }
  for (std::size_t half = lanes / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) {
      sums[lane] = detail::Add{}(sums[lane], sums[lane + half]);
    }
  }
  return sums[0];
}

/// Sums of elements that lie alike, from one place or another.
template <Summand T>
class Sums {
 public:
  /// There are elements.
  Sums(const Layout& layout, std::size_t itemsize, detail::ConvertRow convert)
      : loop_{layout.sizes, {Operand::of(nullptr, layout, itemsize)}}, convert_(convert) {
    loop_.join_dimensions();
  }

  T from(std::byte* first) {
    PairwiseSum<T> sum;
    detail::for_each_row_of(loop_, std::array{first}, [&](Row<1> row) {
      while (row.length > 0) {
        const std::int64_t length = std::min(row.length, block_length);
        convert_(reinterpret_cast<std::byte*>(block_.data()), sizeof(T), row.first[0],
                 row.strides[0], length);
        sum.add(sum_of_block(block_.data(), length));
        row.first[0] += length * row.strides[0];
        row.length -= length;
      }
    });
    return sum.total();
  }

 private:
  detail::Loop<1> loop_;
  detail::ConvertRow convert_;
  std::array<T, block_length> block_;
};

/// A layout as two: of the dimensions that stay, and of those that are summed over.
struct Split {
  Layout kept;
  Layout summed;
  Dims sizes;  ///< of the result

  Split(const Tensor& a, const Dims& axes, bool keepdim) {
    Dims is_summed(std::max<std::size_t>(a.ndim(), 1));
    for (const std::int64_t axis : axes) {
      std::int64_t& is_named = is_summed[detail::wrap_axis(axis, a.ndim(), "sum")];
      if (is_named != 0) {
        throw ShapeError(format_text("sum: axes %s of %s name one dimension twice.",
                                     to_string(axes).c_str(), to_string(a.sizes()).c_str()));
      }
      is_named = 1;
    }
    for (std::size_t axis = 0; axis < a.ndim(); ++axis) {
      Layout& part = is_summed[axis] != 0 ? summed : kept;
      part.sizes.push_back(a.sizes()[axis]);
      part.strides.push_back(a.strides()[axis]);
      if (is_summed[axis] == 0) {
        sizes.push_back(a.sizes()[axis]);
      } else if (keepdim) {
        sizes.push_back(1);
      }
    }
  }
};

template <Summand T>
void sum_into(Tensor& output, const Tensor& a, const Split& split) {
  const auto load = detail::conversion(dtype_of<T>, a.dtype(), "sum");
  const auto store = detail::conversion(output.dtype(), dtype_of<T>, "sum");
  const Layout to = contiguous_layout(split.kept.sizes, "sum");
  const std::array operands{Operand::of(ElementAccess::to_write(output, {}), to, output.itemsize()),
                            Operand::of(ElementAccess::to_read(a), split.kept, a.itemsize())};
  Sums<T> sums(split.summed, a.itemsize(), load);
  detail::for_each_row(split.kept.sizes, operands, [&](Row<2> row) {
    for (; row.length > 0; --row.length) {
      const T total = sums.from(row.first[1]);
      store(row.first[0], 0, reinterpret_cast<const std::byte*>(&total), 0, 1);
      row.first[0] += row.strides[0];
      row.first[1] += row.strides[1];
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

Tensor sum(const Tensor& a, detail::SiteAlone site) {
  detail::expect_tensor(a, "sum");
  Dims axes;
  for (std::size_t axis = 0; axis < a.ndim(); ++axis) {
    axes.push_back(static_cast<std::int64_t>(axis));
  }
  return sum(a, axes, false, site.site());
}

}  // namespace byre::inline v0
