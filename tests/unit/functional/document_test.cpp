// SPDX-License-Identifier: BSL-1.0
/// The code of docs/functionalization.md, which tests/blocks/blocks.py holds against this file.
#include <span>

#include "tensors.hpp"

namespace byre::test {
namespace {

/// x[1] += y; x.t()
Tensors f(const Tensors& in) {
  call("add_", {call_for_one("select", {in[0], 0, 1}), in[1]});
  return {call_for_one("transpose", {in[0], 0, 1})};
}

TEST(Document, functions_are_functionalized) {
  const AnyTensor x = zeros({2, 2});
  const AnyTensor y = call_for_one("ones", {{2}});
  const Program pure = functionalize([](const Tensors& in) {
    call("add_", {call_for_one("select", {in[0], 0, 1}), in[1]});  // in[0][1] += in[1]
    return Tensors{call_for_one("transpose", {in[0], 0, 1})};
  });
  const Tensors out = pure({x, y});  // x is written, and out[0] is a view of it
  EXPECT_EQ(text_of(x), "[[0. 0.]\n [1. 1.]]");
  EXPECT_EQ(text_of(out[0]), "[[0. 1.]\n [0. 1.]]");
  EXPECT_TRUE(to_cpu(out[0]).aliases(to_cpu(x)));
}

TEST(Document, functions_are_captured) {
  const AnyTensor x = zeros({2, 2});
  const AnyTensor y = call_for_one("ones", {{2}});
  CapturedProgram program = capture(f, {x, y});
  eliminate_dead_code(program.graph);
  eliminate_common_subexpressions(program.graph);
  const Tensors out = program({x, y});  // executes the graph, with the effect of f
  EXPECT_EQ(functional::to_string(program.graph),
            "graph(%0: f32[2, 2], %1: f32[2]):\n"
            "  %2: f32[2] = select_copy(%0, 0, 1)\n"
            "  %3: f32[2] = add(%2, %1)\n"
            "  %4: f32[2, 2] = select_scatter(%0, %3, 0, 1)\n"
            "  return %4\n");
  EXPECT_EQ(text_of(out[0]), "[[0. 1.]\n [0. 1.]]");
}

TEST(Document, functions_are_batched) {
  const AnyTensor batch = zeros({3, 2});
  const Program each = vmap(functionalize([](const Tensors& in) {
    call("fill_", {call_for_one("select", {in[0], 0, 0}), 1});  // in[0][0] = 1
    return Tensors{call_for_one("sum", {in[0]})};
  }));
  const Tensors sums = each({batch});  // one of each row, which is written
  EXPECT_EQ(text_of(batch), "[[1. 0.]\n [1. 0.]\n [1. 0.]]");
  EXPECT_EQ(text_of(sums[0]), "[1. 1. 1.]");
}

// ---- Operators

void define_cube() {
  define("cube(Tensor a) -> Tensor").cpu([](const Tensor& a) { return mul(a, mul(a, a)); });
  define("cube_(Tensor(a!) self) -> Tensor(a!)").cpu([](Tensor& self) {
    copy_(self, mul(self, mul(self, self)));
  });
}

// ---- Views

void define_evens() {
  define("evens(Tensor(a) self) -> Tensor(a)")
      .view([](const ViewGeometry& self, std::span<const Argument>) {
        return std::vector{self.with(views::slice(self.layout, 0, 0, views::to_the_end, 2))};
      });
}

// ---- Backends

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

class DocumentedDefinitions : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    define_cube();
    define_evens();
    define_far_backend();
  }
};

/// What f computes, and writes to x, of {0, 1, 2, 3}, with and without the pass.
std::string effect_of(const Program& function) {
  const AnyTensor x = call_for_one("arange", {4, DType::f32});
  const Tensors out = function({x});
  return text_of(out[0]) + " of " + text_of(x);
}

TEST_F(DocumentedDefinitions, take_part_in_the_pass_by_their_schemas) {
  const Program program = [](const Tensors& in) {
    const AnyTensor part = call_for_one("evens", {in[0]});
    call("add_.scalar", {part, 1});
    call("cube_", {part});
    return Tensors{call_for_one("neg", {call_for_one("cube", {in[0]})})};
  };
  const std::string expected = effect_of(program);
  EXPECT_EQ(expected, "[-1.0000e+00 -1.0000e+00 -1.9683e+04 -2.7000e+01] of [ 1.  1. 27.  3.]");
  EXPECT_EQ(effect_of(functionalize(program)), expected);
  EXPECT_EQ(effect_of(functionalize(program, {.paths = ViewPaths::strides})), expected);
  const Lowering far{FarTensor::key, to_far, from_far};
  EXPECT_EQ(effect_of(functionalize_on(far, program)), expected);
  EXPECT_THROW(call("zero_", {to_far(Tensor::zeros({2}, DType::f32))}), DispatchError);
}

}  // namespace
}  // namespace byre::test
