// SPDX-License-Identifier: BSL-1.0
/// The backend of docs/functionalization.md, which tests/blocks/blocks.py holds against this file.
#include "tensors.hpp"

namespace byre::test {
namespace {

/// Elements that are far away: nothing here points at them, and they never change.
class FarTensor final : public TensorImpl {
 public:
  static inline const Key key = add_backend({.name = "far"});

  explicit FarTensor(const Tensor& tensor) : TensorImpl(key), elements_(tensor.clone()) {}
  Dims sizes() const override { return elements_.sizes(); }
  DType dtype() const override { return elements_.dtype(); }
  Tensor fetched() const { return elements_.clone(); }

 private:
  const Tensor elements_;
};

AnyTensor to_far(const Tensor& tensor) {
  return make_counted<FarTensor>(tensor);
}

Tensor from_far(const AnyTensor& tensor) {
  return tensor.as<FarTensor>()->fetched();
}

/// What the backend has no kernel for: fetched, computed here, and sent.
Tensors compute_here(const Call& call) {
  if (!call.op.schema().is_pure()) {
    throw DispatchError(
        format_text("%s: far tensors never change, and have no views. Run the "
                    "program under the functionalize pass.",
                    call.op.name().c_str()));
  }
  Arguments arguments(call.arguments.begin(), call.arguments.end());
  for (Argument& argument : arguments) {
    argument.for_each_tensor([](AnyTensor& tensor) {
      tensor = tensor.as<FarTensor>() != nullptr ? from_cpu(from_far(tensor)) : tensor;
    });
  }
  const ExcludeKeys far(FarTensor::key);
  Tensors results = dispatch(call.op, arguments);
  for (AnyTensor& result : results) {
    result = to_far(to_cpu(result));
  }
  return results;
}

void define_far_backend() {
  set_fallback(FarTensor::key, compute_here);
  extend("neg").kernel(FarTensor::key, boxed([](const AnyTensor& a) {
                         return to_far(neg(from_far(a)));  // or whatever runs over there
                       }));
}

/// What f computes, and writes to x, of {0, 1, 2, 3}, with and without the pass.
std::string effect_of(const Program& function) {
  const AnyTensor x = counted(4);
  const Tensors out = function({x});
  return text_of(out[0]) + " of " + text_of(x);
}

TEST(DocumentedBackend, computes_what_the_cpu_computes) {
  define_far_backend();
  const Program program = [](const Tensors& in) {
    call("add_.scalar", {call_for_one("slice", {in[0], 0, 0, NoValue(), 2}), 1});
    return call("neg", {in[0]});
  };
  const std::string expected = effect_of(program);
  EXPECT_EQ(expected, "[-1. -1. -3. -3.] of [1. 1. 3. 3.]");
  const Lowering far{FarTensor::key, to_far, from_far};
  EXPECT_EQ(effect_of(functionalize_on(far, program)), expected);
  EXPECT_THROW(call("zero_", {to_far(Tensor::zeros({2}, DType::f32))}), DispatchError);
}

}  // namespace
}  // namespace byre::test
