// SPDX-License-Identifier: BSL-1.0
/// Operators from element to element: one dispatch each.
#include <byre/functional/dispatch/registry.hpp>

#include "vulkan/backend/kernels.hpp"

namespace examples::vulkan {
namespace {

using namespace byre::functional;
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
    // A comparison has an answer for an integer that the tensor's dtype has not.
    number = &call.arguments[1].scalar();
    number_dtype = number->dtype_beside(dtype);
    number_dtype =
        meta.dtype == DType::boolean && !number->fits(number_dtype) ? DType::i64 : number_dtype;
    dtype = byre::promoted(dtype, number_dtype);
  }
  const bool is_real = operation == Operation::divide || operation == Operation::exponentiate;
  pointwise.domain = domain_of(is_real ? byre::promoted_to_floating(dtype) : dtype);
  if (number != nullptr) {
    pointwise.number = bits_of(*number, number_dtype, pointwise.domain, call.op.name().c_str());
  }
  VulkanTensorPtr result = made_on_device(meta.sizes, meta.dtype);
  pointwise.places[0] = place_of(*result, meta.sizes);
  pointwise.places[1] = place_of(operands[first], meta.sizes);
  if (selects) {
    pointwise.places[3] = place_of(operands[0], meta.sizes);
  }
  run(pointwise);
  return result;
}

}  // namespace

void define_pointwise() {
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
}

}  // namespace examples::vulkan
