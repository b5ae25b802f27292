// SPDX-License-Identifier: BSL-1.0
#include "tensors.hpp"

namespace byre::test {
namespace {

TEST(Captured, reapply_views_records_views_and_no_writes) {
  const Program f = [](const Tensors& in) {
    const AnyTensor row = call_for_one("view", {in[0], {1, 2}});
    call("fill_", {element(in[0], 1), 2});
    return Tensors{call_for_one("add.scalar", {row, 3})};
  };
  EXPECT_EQ(to_string(capture(f, {ascending(2)}, {true, ViewPaths::chains}).graph),
            "graph(%0: f32[2]):\n"
            "  %1: f32[] = full([], 2, f32)\n"
            "  %2: f32[2] = select_scatter(%0, %1, 0, 1)\n"
            "  %3: f32[1, 2] = view(%2, [1, 2])\n"
            "  %4: f32[1, 2] = add.scalar(%3, 3)\n"
            "  return %2, %4\n");
}

TEST(Captured, inputs_that_differ_from_the_examples_are_rejected) {
  const CapturedProgram program = capture(
      [](const Tensors& in) {
        return call("add_", {in[0], in[1]});
      },
      {ascending(2), ascending(2)});
  const AnyTensor x = ascending(2);
  EXPECT_THROW(program({x, x}), GraphError);
  EXPECT_THROW(program({x}), GraphError);
  EXPECT_THROW(program({x, ascending(3)}), GraphError);
  EXPECT_EQ(text_of(x), "[0. 1.]");
  EXPECT_EQ(program({x, ascending(2)})[0], x);
  EXPECT_EQ(text_of(x), "[0. 2.]");
}

TEST(Captured, growing_an_input_with_views_is_rejected) {
  const CapturedProgram program = capture(
      [](const Tensors& in) {
        return call("resize_", {in[0], {6}});
      },
      {ascending(3)});
  const AnyTensor x = ascending(3);
  {
    const AnyTensor view = call_for_one("alias", {x});
    EXPECT_THROW(program({x}), StateError);
  }
  program({x});
  EXPECT_EQ(text_of(x), "[0. 1. 2. 0. 0. 0.]");
}

Tensors write_and_add(const Tensors& in) {
  call("mul_.scalar", {call_for_one("select", {in[0], 0, 1}), 10});
  return {call_for_one("add", {in[0], in[1]}), in[1], call_for_one("zeros", {{2}})};
}

TEST(Captured, programs_run_on_the_backend_of_their_examples) {
  const auto opaque = [](const AnyTensor& tensor) { return to_opaque(to_cpu(tensor)); };
  const CapturedProgram program =
      capture(write_and_add, {opaque(ascending({2, 2})), opaque(ascending(2))});
  const AnyTensor x = opaque(ascending({2, 2}));
  const AnyTensor y = opaque(ascending(2));
  const Tensors results = program({x, y});
  EXPECT_EQ(results[1], y);
  EXPECT_EQ(text_of_value(results[0]), "[[ 0.  2.]\n [20. 31.]]");
  EXPECT_EQ(text_of_value(x), "[[ 0.  1.]\n [20. 30.]]") << "the program writes x";
  EXPECT_EQ(text_of_value(results[2]), "[0. 0.]");
}

TEST(Captured, inputs_of_another_backend_are_rejected) {
  const AnyTensor x = ascending(2);
  const AnyTensor there = to_opaque(to_cpu(x));
  const Program f = [](const Tensors& in) { return Tensors{call_for_one("neg", {in[0]})}; };
  EXPECT_THROW(capture(f, {x})({there}), GraphError);
  EXPECT_THROW(capture(f, {there})({x}), GraphError);
  const Program sum = [](const Tensors& in) {
    return Tensors{call_for_one("add", {in[0], in[1]})};
  };
  EXPECT_NO_THROW(capture(sum, {x, there})({ascending(2), there}));
  EXPECT_THROW(capture(sum, {x, there})({there, x}), GraphError)
      << "each input must stay on its backend";
}

TEST(Captured, values_that_do_not_fit_the_graphs_outputs_are_not_written) {
  const CapturedProgram program = capture(write_and_add, {ascending({2, 2}), ascending(2)});
  for (std::size_t output = 0; output < program.graph.outputs.size(); ++output) {
    const auto run_with = [&](const AnyTensor& value) {
      const AnyTensor x = ascending({2, 2});
      EXPECT_THROW(program.run({x, ascending(2)},
                               [&](const Tensors& bases) {
                                 Tensors values = execute(program.graph, bases);
                                 values[output] = value;
                                 return values;
                               }),
                   GraphError);
      EXPECT_EQ(text_of(x), "[[0. 1.]\n [2. 3.]]") << "the error leaves x unwritten";
    };
    run_with(ascending(1));
    run_with(from_cpu(Tensor::zeros({2, 2}, DType::u8)));
  }
  EXPECT_THROW(
      program.run({ascending({2, 2}), ascending(2)}, [](const Tensors&) { return Tensors(); }),
      GraphError);
  EXPECT_THROW(program.run({ascending({2, 2}), ascending(2)}, nullptr), ArgumentError);
}

TEST(Captured, example_inputs_from_graphs_or_vmap_are_rejected) {
  const Program f = [](const Tensors& in) { return in; };
  const Recording recording;
  EXPECT_THROW(capture(f, {recording.input({2}, DType::f32)}), DeviceError);
  EXPECT_THROW(vmap([&](const Tensors& in) { return capture(f, in)(in); })({ascending(2)}),
               DeviceError);
}

}  // namespace
}  // namespace byre::test
