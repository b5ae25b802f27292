// SPDX-License-Identifier: BSL-1.0
/// Sums, in passes, and products of matrices.
#include <algorithm>
#include <byre/functional/dispatch/registry.hpp>

#include "vulkan/backend/kernels.hpp"

namespace examples::vulkan {
namespace {

using namespace byre::functional;
using byre::Dims;
using byre::DType;

struct Strided {
  std::int64_t size;
  std::int64_t stride;
};

/// The innermost first; those that follow each other in memory are one.
void add_outer(std::vector<Strided>& dimensions, Strided outer) {
  if (outer.size == 1) {
    return;
  }
  if (!dimensions.empty() && dimensions.back().stride * dimensions.back().size == outer.stride) {
    dimensions.back().size *= outer.size;
  } else {
    dimensions.push_back(outer);
  }
}

std::int64_t count_of(const std::vector<Strided>& dimensions) {
  std::int64_t count = 1;
  for (const Strided& dimension : dimensions) {
    count *= dimension.size;
  }
  return count;
}

/// One pass: `runs` elements of the result after each other are sums of `run_length` elements each.
void run_sum(const VulkanTensor& result, const VulkanTensor& a, Domain domain,
             const std::vector<Strided>& kept, const std::vector<Strided>& summed,
             std::int64_t run_length, std::int64_t runs) {
  Words parameters{word(count_of(kept)),
                   word(count_of(summed)),
                   word(run_length),
                   word(runs),
                   word(kept.size()),
                   word(summed.size()),
                   0,
                   0};
  for (const auto* const part : {&kept, &summed}) {
    for (const Strided& dimension : *part) {
      parameters.insert(parameters.end(), {word(dimension.size), word(dimension.stride)});
    }
  }
  parameters.insert(parameters.end(), {1, 0});  // an array in a buffer is never empty
  dispatch("sum", domain, false, {word(result.dtype()), word(a.dtype())},
           std::array{use_of(result, Use::write), use_of(a, Use::read)}, parameters,
           {groups_for(count_of(kept) * runs, 64), 1, 1});
}

AnyTensor summed(const Call& call) {
  constexpr std::int64_t longest = 64;  // what one invocation sums
  const TensorMeta meta = meta_of_results(call).front();
  const Operands operands(call);
  VulkanTensorPtr a(&operands[0]);
  if (!a->storage()) {
    return filled(meta);
  }
  const Dims sizes = a->dims();
  std::vector<bool> is_summed(sizes.size(), call.arguments.size() == 1);
  if (call.arguments.size() > 1 && !sizes.empty()) {
    for (const std::int64_t axis : call.arguments[1].dims()) {
      is_summed[static_cast<std::size_t>(axis < 0 ? axis + std::ssize(sizes) : axis)] = true;
    }
  }
  std::vector<Strided> kept;
  std::vector<Strided> over;
  std::int64_t stride = 1;
  for (std::size_t axis = sizes.size(); axis-- != 0;) {
    add_outer(is_summed[axis] ? over : kept, {sizes[axis], stride});
    stride *= sizes[axis];
  }
  const Domain domain = domain_of(meta.dtype);
  const std::int64_t results = count_of(kept);
  for (std::int64_t count = count_of(over); count > longest; count = count_of(over)) {
    const std::int64_t runs = (count + longest - 1) / longest;
    VulkanTensorPtr next = made_on_device({results, runs}, dtype_of(domain));
    run_sum(*next, *a, domain, kept, over, longest, runs);
    kept = {{results, runs}};
    over = {{runs, 1}};
    a = std::move(next);
  }
  VulkanTensorPtr result = made_on_device(meta.sizes, meta.dtype);
  run_sum(*result, *a, domain, kept, over, longest, 1);
  return result;
}

AnyTensor multiplied(const Call& call) {
  const TensorMeta meta = meta_of_results(call).front();
  const Operands operands(call);
  const VulkanTensor& a = operands[0];
  const VulkanTensor& b = operands[1];
  if (!a.storage() || !b.storage()) {
    return filled(meta);
  }
  Dims a_sizes = a.dims();
  Dims b_sizes = b.dims();
  if (a_sizes.size() == 1) {
    a_sizes.insert(a_sizes.begin(), 1);
  }
  if (b_sizes.size() == 1) {
    b_sizes.push_back(1);
  }
  const std::int64_t rows = a_sizes.end()[-2];
  const std::int64_t inner = a_sizes.end()[-1];
  const std::int64_t columns = b_sizes.end()[-1];
  const auto ndim = static_cast<std::ptrdiff_t>(std::max(a_sizes.size(), b_sizes.size()));
  std::int64_t batches = 1;
  std::int64_t a_stride = rows * inner;
  std::int64_t b_stride = inner * columns;
  Words parameters{word(rows), word(inner), word(columns), 0, word(ndim - 2), 0, 0, 0};
  for (std::ptrdiff_t behind = 3; behind <= ndim; ++behind) {
    const std::int64_t of_a = behind <= std::ssize(a_sizes) ? a_sizes.end()[-behind] : 1;
    const std::int64_t of_b = behind <= std::ssize(b_sizes) ? b_sizes.end()[-behind] : 1;
    const std::int64_t size = std::max(of_a, of_b);
    parameters.insert(parameters.end(), {word(size), of_a == 1 ? 0 : word(a_stride),
                                         of_b == 1 ? 0 : word(b_stride), 0});
    a_stride *= of_a;
    b_stride *= of_b;
    batches *= size;
  }
  parameters[3] = word(batches);
  parameters.resize(std::max<std::size_t>(parameters.size(), 12));
  VulkanTensorPtr result = made_on_device(meta.sizes, meta.dtype);
  dispatch("matmul", domain_of(byre::promoted(a.dtype(), b.dtype())),
           a.dtype() == DType::f64 || b.dtype() == DType::f64,
           {word(meta.dtype), word(a.dtype()), word(b.dtype())},
           std::array{use_of(*result, Use::write), use_of(a, Use::read), use_of(b, Use::read)},
           parameters, {groups_for(columns, 64), groups_for(rows), groups_for(batches)});
  return result;
}

}  // namespace

void define_reductions() {
  define_kernel("sum", summed);
  define_kernel("sum.axes", summed);
  define_kernel("matmul", multiplied);
}

}  // namespace examples::vulkan
