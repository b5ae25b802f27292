// SPDX-License-Identifier: BSL-1.0
/// Operators from element to element: one dispatch each, written over an operand that dies with the call, if one is as
/// the result is to be.
#include <byre/functional/dispatch/registry.hpp>

#include "vulkan/backend/kernels.hpp"

namespace examples::vulkan {
namespace {

using namespace byre::functional;
using byre::DType;
using byre::Scalar;

/// What operands of a promoted dtype are computed as: the halves as float.
Domain computed_in(Operation operation, DType dtype) {
  const bool is_real = operation == Operation::divide || operation == Operation::exponentiate;
  return domain_of(is_real ? byre::promoted_to_floating(dtype) : dtype);
}

/// An operand that nobody else has and that has the result's sizes and dtype; or one of its own.
AnyTensor result_of(const Operands& operands, const TensorMeta& meta) {
  for (std::size_t index = 0; index < operands.size(); ++index) {
    const VulkanTensor& operand = operands[index];
    if (operand.dtype() == meta.dtype && operand.dims() == meta.sizes && operands.is_sole(index) &&
        operand.storage().is_unique()) {
      return operands.handle(index);
    }
  }
  return made_on_device(meta.sizes, meta.dtype);
}

AnyTensor computed(Operation operation, const Call& call) {
  const TensorMeta meta = meta_of_results(call).front();
  const Operands operands(call);
  const bool selects = operation == Operation::select;
  const std::size_t first = selects ? 1 : 0;
  Pointwise pointwise{.operation = operation,
                      .domain = {},
                      .sizes = meta.sizes,
                      .result = {},
                      .operands = {},
                      .number = {}};
  DType dtype = operands[first].dtype();
  const bool has_second = operands.size() == first + 2;
  const Scalar* const number =
      !has_second && call.arguments.size() == 2 ? &call.arguments[1].scalar() : nullptr;
  DType number_dtype = DType::uninitialized;
  if (has_second) {
    dtype = byre::promoted(dtype, operands[first + 1].dtype());
  } else if (number != nullptr) {
    // A comparison has an answer for an integer that the tensor's dtype has not.
    number_dtype = number->dtype_beside(dtype);
    number_dtype =
        meta.dtype == DType::boolean && !number->fits(number_dtype) ? DType::i64 : number_dtype;
    dtype = byre::promoted(dtype, number_dtype);
  }
  pointwise.domain = computed_in(operation, dtype);
  if (number != nullptr) {
    pointwise.number = bits_of(*number, number_dtype, pointwise.domain, call.op.name().c_str());
  }
  AnyTensor result = result_of(operands, meta);
  pointwise.result = place_of(*result.as<VulkanTensor>(), meta.sizes);
  pointwise.operands[0] = place_of(operands[first], meta.sizes);
  if (has_second) {
    pointwise.operands[1] = place_of(operands[first + 1], meta.sizes);
  }
  if (selects) {
    pointwise.operands[2] = place_of(operands[0], meta.sizes);
  }
  run(pointwise);
  return result;
}

}  // namespace

void define_pointwise() {
  const auto define = [](const char* name, Operation operation) {
    define_kernel(name, [operation](const Call& call) { return computed(operation, call); });
  };
  const auto define_binary = [&](const std::string& name, Operation operation) {
    define(name.c_str(), operation);
    define((name + ".scalar").c_str(), operation);
  };
  define_binary("add", Operation::add);
  define_binary("sub", Operation::subtract);
  define_binary("mul", Operation::multiply);
  define_binary("div", Operation::divide);
  define_binary("eq", Operation::equal);
  define_binary("ge", Operation::greater_or_equal);
  define("neg", Operation::negate);
  define("relu", Operation::rectify);
  define("exp", Operation::exponentiate);
  define("where", Operation::select);
}

}  // namespace examples::vulkan
