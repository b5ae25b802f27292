// SPDX-License-Identifier: BSL-1.0
/// Operators that work element by element, in one dispatch each; sums, in passes; products of
/// matrices.
#include <byre/functional/dispatch/registry.hpp>

#include "vulkan/backend/kernels.hpp"

namespace examples::vulkan {
namespace {

using namespace byre::functional;
using byre::Dims;
using byre::DType;
using byre::Scalar;

AnyTensor computed(Operation operation, const Call& call) {
  const TensorMeta meta = meta_of_results(call).front();
  const Operands operands(call);
  const bool selects = operation == Operation::select;
  const std::size_t first = selects ? 1 : 0;
  const bool has_second = operands.size() == first + 2;
  Pointwise pointwise{.operation = operation, .sizes = meta.sizes};
  DType dtype = operands[first].dtype();
  DType number_dtype = DType::uninitialized;
  const Scalar* number = nullptr;
  if (has_second) {
    dtype = byre::promoted(dtype, operands[first + 1].dtype());
    pointwise.places[2] = place_of(operands[first + 1], meta.sizes);
  } else if (call.arguments.size() == 2) {
    // A comparison is exact for an integer out of range of the tensor's dtype.
    number = &call.arguments[1].scalar();
    number_dtype = number->operand_dtype(dtype);
    number_dtype =
        meta.dtype == DType::boolean && !number->fits(number_dtype) ? DType::i64 : number_dtype;
    dtype = byre::promoted(dtype, number_dtype);
  }
  const bool is_real = operation == Operation::divide || operation == Operation::exponentiate;
  pointwise.domain = domain_of(is_real ? byre::promoted_to_floating(dtype) : dtype);
  if (number != nullptr) {
    pointwise.number = bits_of(*number, number_dtype, pointwise.domain, call.op.name().c_str());
  }
  VulkanTensorPtr result = empty_on_device(meta.sizes, meta.dtype);
  pointwise.places[0] = place_of(*result, meta.sizes);
  pointwise.places[1] = place_of(operands[first], meta.sizes);
  if (selects) {
    pointwise.places[3] = place_of(operands[0], meta.sizes);
  }
  run(pointwise);
  return result;
}

std::int64_t count_of(const std::vector<Dimension>& dimensions) {
  std::int64_t count = 1;
  for (const Dimension& dimension : dimensions) {
    count *= dimension.size;
  }
  return count;
}

/// A sum over some dimensions of an operand, or of products of two operands. In the dimensions,
/// strides[0] is the stride of a, and strides[1] that of b.
struct Sum {
  Domain domain;
  const VulkanTensor& a;
  const VulkanTensor* b;
  const std::vector<Dimension>& kept;
  const std::vector<Dimension>& over;
};

/// Records one pass. For each index of `sum.kept`, the result has `runs` consecutive elements, each
/// the sum of `run_length` elements.
void run_pass(const Sum& sum, const VulkanTensor& result, std::int64_t run_length,
              std::int64_t runs) {
  const VulkanTensor& b = sum.b == nullptr ? sum.a : *sum.b;
  Words parameters{word(count_of(sum.kept)),
                   word(count_of(sum.over)),
                   word(run_length),
                   word(runs),
                   word(sum.kept.size()),
                   word(sum.over.size()),
                   0,
                   0};
  for (const auto* const dimensions : {&sum.kept, &sum.over}) {
    for (const auto& [size, strides] : *dimensions) {
      parameters.insert(parameters.end(), {word(size), word(strides[0]), word(strides[1]), 0});
    }
  }
  dispatch("sum", sum.domain, sum.a.dtype() == DType::f64 || b.dtype() == DType::f64,
           {word(result.dtype()), word(sum.a.dtype()),
            sum.b == nullptr ? Place::number : word(b.dtype())},
           std::array{use_of(result, Use::write), use_of(sum.a, Use::read), use_of(b, Use::read)},
           parameters, {groups_for(count_of(sum.kept) * runs, 64), 1, 1});
}

AnyTensor summed(const Call& call) {
  constexpr std::int64_t longest = 64;  // most elements that one invocation sums
  const TensorMeta meta = meta_of_results(call).front();
  const Operands operands(call);
  VulkanTensorPtr a(&operands[0]);
  if (!a->storage()) {
    return filled(meta);
  }
  const Dims& all = operands[0].dims();
  std::vector<bool> is_summed(all.size(), call.arguments.size() == 1);
  if (call.arguments.size() > 1 && !all.empty()) {
    for (const std::int64_t axis : call.arguments[1].dims()) {
      is_summed[axis_of(axis, all)] = true;
    }
  }
  const Dims strides_of_all = place_of(*a, all).strides;
  std::array<Dims, 2> sizes;  // of the remaining and of the summed dimensions
  std::array<Dims, 2> strides;
  for (std::size_t axis = 0; axis < all.size(); ++axis) {
    sizes[is_summed[axis]].push_back(all[axis]);
    strides[is_summed[axis]].push_back(strides_of_all[axis]);
  }
  std::vector<Dimension> kept = merged(sizes[0], {strides[0]});
  std::vector<Dimension> over = merged(sizes[1], {strides[1]});
  const Domain domain = domain_of(meta.dtype);
  const std::int64_t results = count_of(kept);
  for (std::int64_t count = count_of(over); count > longest; count = count_of(over)) {
    const std::int64_t runs = (count + longest - 1) / longest;
    VulkanTensorPtr next = empty_on_device({results, runs}, dtype_of(domain));
    run_pass({domain, *a, nullptr, kept, over}, *next, longest, runs);
    kept = {{results, {runs}}};
    over = {{runs, {1}}};
    a = std::move(next);
  }
  VulkanTensorPtr result = empty_on_device(meta.sizes, meta.dtype);
  run_pass({domain, *a, nullptr, kept, over}, *result, longest, 1);
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
  Dims sizes = meta.sizes;  // stacks, rows, columns; a vector counts as one row or one column
  if (b.dims().size() == 1) {
    sizes.push_back(1);
  }
  if (a.dims().size() == 1) {
    sizes.insert(sizes.end() - 1, 1);
  }
  Dims a_strides = place_of(a, sizes).strides;
  Dims b_strides = place_of(b, sizes).strides;
  a_strides.end()[-1] = 0;
  b_strides.end()[-2] = 0;
  const std::int64_t inner = a.dims().back();
  VulkanTensorPtr result = empty_on_device(meta.sizes, meta.dtype);
  run_pass({domain_of(byre::promoted(a.dtype(), b.dtype())),
            a,
            &b,
            merged(sizes, {a_strides, b_strides}),
            {{inner, {1, sizes.back()}}}},
           *result, inner, 1);
  return result;
}

}  // namespace

void define_arithmetic() {
  for (const auto& [name, operation] : {std::pair<const char*, Operation>{"add", Operation::add},
                                        {"sub", Operation::subtract},
                                        {"mul", Operation::multiply},
                                        {"div", Operation::divide},
                                        {"eq", Operation::equal},
                                        {"ge", Operation::greater_or_equal},
                                        {"neg", Operation::negate},
                                        {"relu", Operation::rectify},
                                        {"exp", Operation::exponentiate},
                                        {"where", Operation::select}}) {
    const auto compute = [operation = operation](const Call& call) {
      return computed(operation, call);
    };
    define_kernel(name, compute);
    if (operation < Operation::negate) {
      define_kernel(std::string(name) + ".scalar", compute);
    }
  }
  define_kernel("sum", summed);
  define_kernel("sum.axes", summed);
  define_kernel("matmul", multiplied);
}

}  // namespace examples::vulkan
