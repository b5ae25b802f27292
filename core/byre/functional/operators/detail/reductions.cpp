// SPDX-License-Identifier: BSL-1.0
/// Defines pure operators with axes: reductions, matmul, cat and flip.
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/dispatch/detail/builtin.hpp>
#include <byre/tensor/detail/operands.hpp>
#include <byre/tensor/elements.hpp>

#include <algorithm>

namespace byre::inline BYRE_ABI::functional {
namespace {

std::vector<TensorMeta> meta_of_sum(const Call& call) {
  const Dims sizes = call.arguments[0].tensor().sizes();
  Dims kept;
  if (call.arguments.size() > 1) {
    Dims axes;
    for (const std::int64_t axis : call.arguments[1].dims()) {
      axes.push_back(static_cast<std::int64_t>(byre::detail::wrap_axis(axis, sizes.size(), "sum")));
    }
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
      const bool is_reduced =
          std::count(axes.begin(), axes.end(), static_cast<std::int64_t>(axis)) != 0;
      if (!is_reduced || call.arguments[2].flag()) {
        kept.push_back(is_reduced ? 1 : sizes[axis]);
      }
    }
  }
  return {{std::move(kept), detail::dtype_of_result(call)}};  // rejects an axis that is named twice
}

/// The sizes of all dimensions except the last two.
Dims batch_sizes_of(const Dims& sizes) {
  return Dims(sizes.begin(), sizes.end() - std::min<std::ptrdiff_t>(2, std::ssize(sizes)));
}

std::vector<TensorMeta> meta_of_matmul(const Call& call) {
  Dims a = call.arguments[0].tensor().sizes();
  Dims b = call.arguments[1].tensor().sizes();
  const bool is_row = a.size() == 1;
  const bool is_column = b.size() == 1;
  if (is_row) {
    a.insert(a.begin(), 1);
  }
  if (is_column) {
    b.push_back(1);
  }
  if (a.empty() || b.empty() || a.back() != b[b.size() - 2]) {
    throw ShapeError(format_text(
        "matmul: cannot multiply sizes %s by %s. Both tensors need a dimension, and the "
        "last size of the first must equal the second to last size of the second, or "
        "its only size. Transpose or reshape one of them.",
        byre::to_string(call.arguments[0].tensor().sizes()).c_str(),
        byre::to_string(call.arguments[1].tensor().sizes()).c_str()));
  }
  Dims sizes = byre::detail::broadcast_sizes(batch_sizes_of(a), batch_sizes_of(b), "matmul");
  if (!is_row) {
    sizes.push_back(a[a.size() - 2]);
  }
  if (!is_column) {
    sizes.push_back(b.back());
  }
  return {{std::move(sizes), detail::dtype_of_result(call)}};
}

std::vector<TensorMeta> meta_of_cat(const Call& call) {
  const Tensors& tensors = call.arguments[0].tensors();
  // rejects an empty list, and tensors without dimensions
  const DType dtype = detail::dtype_of_result(call);
  Dims sizes = tensors.front().sizes();
  const std::size_t along =
      byre::detail::wrap_axis(call.arguments[1].integer(), sizes.size(), "cat");
  std::int64_t length = 0;
  for (const AnyTensor& tensor : tensors) {
    const Dims next = tensor.sizes();
    length += next[along];
    sizes[along] = next[along];
    if (next != sizes) {
      throw ShapeError(format_text(
          "cat: sizes %s cannot be appended to sizes %s: all sizes but that of dimension %zu must "
          "be equal. Resize or slice one of the tensors.",
          byre::to_string(next).c_str(), byre::to_string(tensors.front().sizes()).c_str(), along));
    }
  }
  sizes[along] = length;
  return {{std::move(sizes), dtype}};
}

}  // namespace

void detail::define_reductions() {
  define("sum(Tensor a) -> Tensor")
      .cpu([](const Tensor& a) { return byre::sum(a); })
      .meta(meta_of_sum);
  define("sum.axes(Tensor a, Axis[] axes, bool keepdim=false) -> Tensor")
      .cpu([](const Tensor& a, const Dims& axes, bool keepdim) {
        return byre::sum(a, axes, keepdim);
      })
      .meta(meta_of_sum)
      .tag(Tag::axis_shift);
  define("matmul(Tensor a, Tensor b) -> Tensor")
      .cpu([](const Tensor& a, const Tensor& b) { return byre::matmul(a, b); })
      .meta(meta_of_matmul);
  define("cat(Tensor[] tensors, Axis axis=0) -> Tensor")
      .cpu([](const Tensors& tensors, std::int64_t axis) {
        std::vector<Tensor> on_cpu;
        for (const AnyTensor& tensor : tensors) {
          on_cpu.push_back(to_cpu(tensor));
        }
        return byre::cat(on_cpu, axis);
      })
      .meta(meta_of_cat)
      .tag(Tag::axis_shift);
  define("flip(Tensor a, Axis[] axes) -> Tensor")
      .cpu([](const Tensor& a, const Dims& axes) { return byre::flip(a, axes); })
      .meta([](const Call& call) {
        const DType dtype = dtype_of_result(call);  // rejects axes out of range
        return std::vector<TensorMeta>{{call.arguments[0].tensor().sizes(), dtype}};
      })
      .tag(Tag::axis_shift);
}

}  // namespace byre::inline BYRE_ABI::functional
