// SPDX-License-Identifier: BSL-1.0
/// Sums, in passes, and products of matrices.
#include <algorithm>
#include <bit>
#include <byre/functional/dispatch/registry.hpp>

#include "vulkan/backend/kernels.hpp"
#include "vulkan/device/gpu.hpp"

namespace examples::vulkan {
namespace {

using namespace byre::functional;
using byre::Dims;
using byre::DType;

std::uint32_t word(std::int64_t number) {
  return static_cast<std::uint32_t>(number);
}

std::uint32_t groups_for(std::int64_t count) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(count, 1, 65535));
}

VulkanTensorPtr zeros(const TensorMeta& meta) {
  VulkanTensorPtr result = made_on_device(meta.sizes, meta.dtype);
  const Domain domain = domain_of(meta.dtype);
  run({.operation = Operation::copy,
       .domain = domain,
       .sizes = meta.sizes,
       .result = place_of(*result, meta.sizes),
       .operands = {},
       .number = {}});
  return result;
}

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

/// One pass: each of `runs` groups of a result sums a part of it.
void run_sum(const Use& result, DType result_dtype, const Use& a, DType dtype, Domain domain,
             const std::vector<Strided>& kept, const std::vector<Strided>& summed,
             std::int64_t run_length, std::int64_t runs) {
  const std::int64_t result_count = count_of(kept);
  const std::int64_t adders = std::min<std::int64_t>(
      256, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(run_length))));
  const std::int64_t results = std::min<std::int64_t>(
      256 / adders,
      static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(result_count))));
  std::vector<std::uint32_t> parameters{word(result_count),
                                        word(count_of(summed)),
                                        word(run_length),
                                        word(runs),
                                        word(std::ssize(kept)),
                                        word(std::ssize(summed)),
                                        0,
                                        0};
  for (const auto* const part : {&kept, &summed}) {
    for (const Strided& dimension : *part) {
      parameters.insert(parameters.end(), {word(dimension.size), word(dimension.stride)});
    }
  }
  parameters.insert(parameters.end(), {1, 0});  // an array in a buffer is never empty
  const std::array<std::uint32_t, 4> constants{static_cast<std::uint32_t>(result_dtype),
                                               static_cast<std::uint32_t>(dtype), word(adders),
                                               word(results)};
  const std::array uses{result, a};
  Gpu::get().queue().dispatch(pipeline_of(Shader::sum, domain, false, constants), uses, {},
                              std::as_bytes(std::span(parameters)),
                              groups_for((result_count + results - 1) / results),
                              static_cast<std::uint32_t>(runs), 1);
}

AnyTensor summed(const Call& call) {
  constexpr std::int64_t longest = 256 * 16;  // what one group sums, if it is of a few results
  const TensorMeta meta = meta_of_results(call).front();
  const Operands operands(call);
  const VulkanTensor& a = operands[0];
  if (!a.storage()) {
    return zeros(meta);
  }
  std::vector<bool> is_summed(a.dims().size(), call.arguments.size() == 1);
  if (call.arguments.size() > 1) {
    for (const std::int64_t axis : call.arguments[1].dims()) {
      if (!a.dims().empty()) {
        is_summed[static_cast<std::size_t>(axis < 0 ? axis + std::ssize(is_summed) : axis)] = true;
      }
    }
  }
  std::vector<Strided> kept;
  std::vector<Strided> over;
  std::int64_t stride = 1;
  for (std::size_t axis = a.dims().size(); axis-- != 0;) {
    add_outer(is_summed[axis] ? over : kept, {a.dims()[axis], stride});
    stride *= a.dims()[axis];
  }
  const Domain domain = domain_of(meta.dtype);
  VulkanTensorPtr result = made_on_device(meta.sizes, meta.dtype);
  const std::int64_t results = count_of(kept);
  Use from{a.storage().data(), a.storage().nbytes(), Use::read};
  DType dtype = a.dtype();
  VulkanTensorPtr partial;
  for (std::int64_t count = count_of(over); count > longest;) {
    const std::int64_t runs = std::min<std::int64_t>((count + longest - 1) / longest, 65535);
    const std::int64_t run_length = (count + runs - 1) / runs;
    VulkanTensorPtr next = made_on_device({results, runs}, dtype_of(domain));
    const Use to{next->storage().data(), next->storage().nbytes(), Use::write};
    run_sum(to, next->dtype(), from, dtype, domain, kept, over, run_length, runs);
    kept = {{results, runs}};
    over = {{runs, 1}};
    count = runs;
    dtype = next->dtype();
    from = {to.address, to.nbytes, Use::read};
    partial = std::move(next);
  }
  const Use to{result->storage().data(), result->storage().nbytes(), Use::write};
  run_sum(to, meta.dtype, from, dtype, domain, kept, over, count_of(over), 1);
  return result;
}

AnyTensor multiplied(const Call& call) {
  const TensorMeta meta = meta_of_results(call).front();
  const Operands operands(call);
  const VulkanTensor& a = operands[0];
  const VulkanTensor& b = operands[1];
  if (!a.storage() || !b.storage()) {
    return zeros(meta);
  }
  Dims a_sizes = a.dims();
  Dims b_sizes = b.dims();
  if (a_sizes.size() == 1) {
    a_sizes = {1, a_sizes[0]};
  }
  if (b_sizes.size() == 1) {
    b_sizes = {b_sizes[0], 1};
  }
  const std::int64_t rows = a_sizes.end()[-2];
  const std::int64_t inner = a_sizes.end()[-1];
  const std::int64_t columns = b_sizes.end()[-1];
  const std::size_t ndim = std::max(a_sizes.size(), b_sizes.size());
  std::int64_t batches = 1;
  std::int64_t a_stride = rows * inner;
  std::int64_t b_stride = inner * columns;
  std::vector<std::uint32_t> parameters{word(rows), word(inner), word(columns), 0, 0, 0, 0, 0};
  for (std::size_t behind = 3; behind <= ndim; ++behind) {
    const std::int64_t of_a = behind <= a_sizes.size() ? a_sizes.end()[-std::ptrdiff_t(behind)] : 1;
    const std::int64_t of_b = behind <= b_sizes.size() ? b_sizes.end()[-std::ptrdiff_t(behind)] : 1;
    const std::int64_t size = std::max(of_a, of_b);
    parameters.insert(parameters.end(), {word(size), of_a == 1 ? 0 : word(a_stride),
                                         of_b == 1 ? 0 : word(b_stride), 0});
    a_stride *= of_a;
    b_stride *= of_b;
    batches *= size;
  }
  parameters[3] = word(batches);
  parameters[4] = word(static_cast<std::int64_t>(ndim) - 2);
  parameters.resize(std::max<std::size_t>(parameters.size(), 12));
  const DType dtype = byre::promoted(a.dtype(), b.dtype());
  VulkanTensorPtr result = made_on_device(meta.sizes, meta.dtype);
  const std::array<std::uint32_t, 3> constants{static_cast<std::uint32_t>(meta.dtype),
                                               static_cast<std::uint32_t>(a.dtype()),
                                               static_cast<std::uint32_t>(b.dtype())};
  const std::array uses{Use{result->storage().data(), result->storage().nbytes(), Use::write},
                        Use{a.storage().data(), a.storage().nbytes(), Use::read},
                        Use{b.storage().data(), b.storage().nbytes(), Use::read}};
  const bool doubles = a.dtype() == DType::f64 || b.dtype() == DType::f64;
  constexpr std::int64_t tile = 8;
  Gpu::get().queue().dispatch(pipeline_of(Shader::matmul, domain_of(dtype), doubles, constants),
                              uses, {}, std::as_bytes(std::span(parameters)),
                              groups_for((columns + tile - 1) / tile),
                              groups_for((rows + tile - 1) / tile), groups_for(batches));
  return result;
}

}  // namespace

void define_reductions() {
  define_kernel("sum", summed);
  define_kernel("sum.axes", summed);
  define_kernel("matmul", multiplied);
}

}  // namespace examples::vulkan
