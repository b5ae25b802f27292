// SPDX-License-Identifier: BSL-1.0
#include <limits>

#include "tensors.hpp"

namespace byre::test {
namespace {

void define_two_parts() {
  static const Definition once =
      define("test_two_parts(Tensor a) -> (Tensor, Tensor)").cpu([](const Tensor& a) {
        return a.clone().chunk(2);
      });
  static_cast<void>(once);
}

TEST(DeadCode, nodes_that_no_output_needs_are_removed) {
  define_two_parts();
  const Recording recording;
  recording.input({2}, DType::f32);
  const Tensors parts = call("test_two_parts", {recording.input({4}, DType::f32)});
  const AnyTensor dead = call_for_one("add", {parts[0], parts[0]});
  const AnyTensor dead_too = call_for_one("cat", {Tensors{dead, ascending(2)}});
  const AnyTensor alive = call_for_one("neg", {parts[1]});
  Graph graph = recording.capture({alive, alive});
  EXPECT_EQ(eliminate_dead_code(graph), 3U);  // add, the constant, cat
  EXPECT_EQ(to_string(graph),
            "graph(%0: f32[2], %1: f32[4]):\n"
            "  %2: f32[2], %3: f32[2] = test_two_parts(%1)\n"
            "  %4: f32[2] = neg(%3)\n"
            "  return %4, %4\n");
  EXPECT_EQ(eliminate_dead_code(graph), 0U);
}

TEST(CommonSubexpressions, repeated_nodes_are_removed) {
  define_two_parts();
  const Recording recording;
  const AnyTensor x = recording.input({4}, DType::f32);
  Tensors made;
  for (int round = 0; round < 2; ++round) {
    const Tensors parts = call("test_two_parts", {x});
    const AnyTensor sum = call_for_one("add", {parts[0], parts[1]});
    made.push_back(call_for_one("cat", {Tensors{sum, parts[1]}}));
  }
  const AnyTensor swapped = call_for_one("cat", {Tensors{made[1], made[0]}});
  Graph graph = recording.capture({made[0], swapped});
  EXPECT_EQ(eliminate_common_subexpressions(graph), 3U);
  EXPECT_EQ(to_string(graph),
            "graph(%0: f32[4]):\n"
            "  %1: f32[2], %2: f32[2] = test_two_parts(%0)\n"
            "  %3: f32[2] = add(%1, %2)\n"
            "  %4: f32[4] = cat([%3, %2], 0)\n"
            "  %5: f32[8] = cat([%4, %4], 0)\n"
            "  return %4, %5\n");
  EXPECT_EQ(eliminate_common_subexpressions(graph), 0U);
}

TEST(CommonSubexpressions, nodes_with_different_arguments_are_not_merged) {
  const Recording recording;
  const AnyTensor x = recording.input({2}, DType::f32);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Tensors made;
  for (const Scalar& number :
       {Scalar(0.0), Scalar(-0.0), Scalar(1), Scalar(1.0), Scalar(true), Scalar(nan), Scalar(-nan),
        Scalar(0.1), Scalar(0.1F), Scalar(std::complex<float>(1, 0))}) {
    made.push_back(call_for_one("mul.scalar", {x, number}));
    made.push_back(call_for_one("add.scalar", {x, number}));
  }
  made.push_back(call_for_one("sum.axes", {x, {0}}));
  made.push_back(call_for_one("sum.axes", {x, {0}, true}));
  made.push_back(call_for_one("to", {x, DType::i8}));
  made.push_back(call_for_one("to", {x, DType::u8}));
  Graph graph = recording.capture(made);
  EXPECT_EQ(eliminate_common_subexpressions(graph), 0U);
}

TEST(CommonSubexpressions, constants_that_share_data_are_merged) {
  const Recording recording;
  const AnyTensor shared = ascending(4);
  Tensors made;
  for (const AnyTensor& constant :
       {shared, shared, from_cpu(to_cpu(shared).lazy_clone()), ascending(4),
        from_cpu(to_cpu(shared).view({2, 2})), from_cpu(to_cpu(shared).view(DType::i32)),
        from_cpu(to_cpu(shared).slice(0, 0, 2)), from_cpu(to_cpu(shared).slice(0, 1, 3)),
        from_cpu(to_cpu(shared).slice(0, 0, 4, 2))}) {
    made.push_back(recording.constant(to_cpu(constant)));
  }
  Graph graph = recording.capture(made);
  EXPECT_EQ(eliminate_common_subexpressions(graph), 2U);
  EXPECT_EQ(graph.outputs[0], graph.outputs[2]);
}

}  // namespace
}  // namespace byre::test
