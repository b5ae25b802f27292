// SPDX-License-Identifier: BSL-1.0
/// Matrix products. A row of the product is a sum of scaled rows of the second matrix. It is
/// computed in strips of columns, so that the sums of a strip stay in the L1 cache.
#include <byre/tensor/detail/float_environment.hpp>
#include <byre/tensor/elements.hpp>
#include <byre/tensor/elements/detail/arithmetic.hpp>
#include <byre/tensor/elements/detail/pointwise.hpp>
#include <byre/tensor/layout/detail/strided_loop.hpp>

#include <algorithm>
#include <array>

namespace byre::inline BYRE_ABI {
namespace {

using detail::block_length;
using detail::ElementAccess;
using detail::Operand;
using detail::Row;

/// The sizes of the product of a [rows, inner] and an [inner, columns] matrix.
struct ProductSizes {
  std::int64_t rows;
  std::int64_t inner;
  std::int64_t columns;
};

/// Adds factor * values[j] to sums[j], for each j. The loop for a whole block has constant length,
/// so that compilers vectorize it: see compute_block().
template <class T>
void add_scaled(T* __restrict sums, T factor, const T* __restrict values, std::int64_t length) {
  const auto add_one = [&](std::int64_t j) {
    sums[j] = detail::Add{}(sums[j], detail::Multiply{}(factor, values[j]));
  };
  if (length == block_length) {
    for (std::int64_t j = 0; j < block_length; ++j) {
      add_one(j);
    }
  } else {
    for (std::int64_t j = 0; j < length; ++j) {
      add_one(j);
    }
  }
}

/// All three matrices are contiguous; `store` converts sums to elements of the result.
using Multiply = void (*)(const ProductSizes& sizes, const std::byte* left, const std::byte* right,
                          std::byte* result, std::int64_t result_itemsize,
                          detail::ConvertRow store);

template <class T>
void multiply(const ProductSizes& sizes, const std::byte* left_matrix,
              const std::byte* right_matrix, std::byte* result, std::int64_t result_itemsize,
              detail::ConvertRow store) {
  const T* const left = reinterpret_cast<const T*>(left_matrix);
  const T* const right = reinterpret_cast<const T*>(right_matrix);
  std::array<T, block_length> sums;
  for (std::int64_t strip = 0; strip < sizes.columns; strip += block_length) {
    const std::int64_t length = std::min(sizes.columns - strip, block_length);
    for (std::int64_t i = 0; i < sizes.rows; ++i) {
      std::fill_n(sums.begin(), length, T{});
      for (std::int64_t k = 0; k < sizes.inner; ++k) {
        add_scaled(sums.data(), left[i * sizes.inner + k], right + k * sizes.columns + strip,
                   length);
      }
      store(result + (i * sizes.columns + strip) * result_itemsize, result_itemsize,
            reinterpret_cast<const std::byte*>(sums.data()), sizeof(T), length);
    }
  }
}

/// Returns `tensor` if it is contiguous and of `dtype`, otherwise a converted copy. Always copies a
/// tensor of bool, so that all bytes are 0 or 1: see loaded().
Tensor contiguous_as(DType dtype, const Tensor& tensor) {
  if (tensor.dtype() == dtype && dtype != DType::boolean && tensor.is_contiguous()) {
    return tensor;
  }
  Tensor converted = Tensor::empty(tensor.sizes(), dtype);
  detail::convert_recorded(converted, tensor, "matmul");
  return converted;
}

/// A layout with one element for each matrix of a stack: the first element of the matrix.
Layout layout_of_stack(const Tensor& matrices) {
  Layout layout{.sizes = matrices.sizes(), .strides = matrices.strides()};
  layout.sizes.resize(layout.sizes.size() - 2);
  layout.strides.resize(layout.strides.size() - 2);
  return layout;
}

/// Multiplies all matrices of two stacks. `multiply` computes in `dtype`.
void multiply_stacks(Tensor& product, const Tensor& a, const Tensor& b, const Dims& stack,
                     DType dtype, Multiply multiply, CallSite site) {
  const Tensor left = contiguous_as(dtype, a);
  const Tensor right = contiguous_as(dtype, b);
  const ProductSizes sizes{left.size(-2), left.size(-1), right.size(-1)};
  const auto store = detail::conversion(product.dtype(), dtype, "matmul");
  const auto itemsize = static_cast<std::int64_t>(product.itemsize());
  const auto operand = [&stack](const void* first, const Tensor& matrices) {
    return Operand::of(first, views::expand(layout_of_stack(matrices), stack), matrices.itemsize());
  };
  const std::array operands{operand(ElementAccess::to_write(product, site), product),
                            operand(ElementAccess::to_read(left), left),
                            operand(ElementAccess::to_read(right), right)};
  const detail::DefaultFloatEnvironment environment;
  detail::for_each_row(stack, operands, [&](Row<3> row) {
    for (; row.length > 0; --row.length) {
      multiply(sizes, row.first[1], row.first[2], row.first[0], itemsize, store);
      for (std::size_t number = 0; number < 3; ++number) {
        row.first[number] += row.strides[number];
      }
    }
  });
}

[[noreturn]] void refuse_sizes(const Tensor& a, const Tensor& b) {
  throw ShapeError(format_text(
      "matmul: cannot multiply sizes %s by %s. Both tensors need a dimension, and the last size of "
      "the first must equal the second to last size of the second, or its only size. Transpose "
      "or reshape one of them.",
      to_string(a.sizes()).c_str(), to_string(b.sizes()).c_str()));
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, CallSite site) {
  detail::expect_operands("matmul", {&a, &b});
  if (a.ndim() == 0 || b.ndim() == 0) {
    refuse_sizes(a, b);
  }
  const Tensor left = a.ndim() == 1 ? a.unsqueeze(0) : a;
  const Tensor right = b.ndim() == 1 ? b.unsqueeze(1) : b;
  if (left.size(-1) != right.size(-2)) {
    refuse_sizes(a, b);
  }
  const Dims stack =
      detail::broadcast_sizes(layout_of_stack(left).sizes, layout_of_stack(right).sizes, "matmul");
  Dims sizes(stack);
  sizes.push_back(left.size(-2));
  sizes.push_back(right.size(-1));
  const DType dtype = promoted(a.dtype(), b.dtype());
  Tensor product = Tensor::empty(sizes, dtype);
  ElementAccess::record_read(a, site);
  ElementAccess::record_read(b, site);
  if (a.numel() == 0 || b.numel() == 0) {
    zero_(product);
  } else {
    const auto multiply_of = detail::visit_computed<Multiply>(
        dtype, "matmul", []<class T>() -> Multiply { return &multiply<T>; });
    multiply_stacks(product, left, right, stack, detail::computed_as(dtype), multiply_of, site);
  }
  if (b.ndim() == 1) {
    product = product.select(-1, 0);
  }
  return a.ndim() == 1 ? product.select(b.ndim() == 1 ? -1 : -2, 0) : product;
}

}  // namespace byre::inline BYRE_ABI
