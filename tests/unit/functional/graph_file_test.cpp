// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/backends/cpu.hpp>
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/scanner.hpp>
#include <byre/functional/graph/file.hpp>
#include <byre/functional/graph/text.hpp>
#include <byre/functional/operators/twins.hpp>
#include <byre/tensor/elements.hpp>
#include <byre/tensor/print.hpp>

#include <gtest/gtest.h>
#include <bit>
#include <cstring>
#include <limits>
#include <string>

#include "random_calls.hpp"
#include "support/random.hpp"
#include "support/temporary_folder.hpp"
#include "tensors.hpp"

namespace {

using namespace byre;
using namespace byre::functional;
using byre::test::counted;
using functional::call;
using functional::call_for_one;

// Before any test defines its own.
const std::vector<const Operator*> builtin_operators = operators();

/// Every byte, the dtype and the sizes.
void expect_same(const AnyTensor& a, const AnyTensor& b) {
  const Tensor left = to_cpu(a).contiguous();
  const Tensor right = to_cpu(b).contiguous();
  EXPECT_EQ(left.sizes(), right.sizes());
  ASSERT_EQ(left.dtype(), right.dtype());
  ASSERT_EQ(left.nbytes(), right.nbytes());
  EXPECT_TRUE(left.nbytes() == 0 ||
              std::memcmp(left.raw_data(), right.raw_data(), left.nbytes()) == 0)
      << byre::to_string(left) << " and " << byre::to_string(right);
}

TEST(GraphFiles, are_text_with_the_bytes_of_constants) {
  const Recording recording;
  const AnyTensor x = recording.input({2}, DType::f32, "x");
  const AnyTensor sum = call_for_one("add", {x, counted(2)});
  const std::string text = write_graph(recording.capture({sum, x}));
  EXPECT_EQ(text,
            "graph(%0 x: f32[2]):\n"
            "  %1: f32[2] = constant x000000000000803f\n"
            "  %2: f32[2] = add(%0, %1)\n"
            "  return %2, %0\n");
  EXPECT_EQ(write_graph(read_graph(text)), text);
}

TEST(GraphFiles, keep_arguments_of_every_kind) {
  define(
      "test_kinds(Tensor[] some, int[] dims, int? at, Scalar by, bool flag, DType dtype) -> "
      "Tensor")
      .cpu([](const Tensors&, const Dims&, std::optional<std::int64_t>, const Scalar&, bool,
              DType dtype) { return Tensor::zeros({1}, dtype); });
  const Recording recording;
  const RecordingScope scope(recording);
  const AnyTensor x = recording.input({2, 0}, DType::bf16);
  const double infinity = std::numeric_limits<double>::infinity();
  Tensors outputs;
  for (const Scalar& by :
       {Scalar(true), Scalar(std::numeric_limits<std::int64_t>::min()), Scalar(0.1), Scalar(-0.0),
        Scalar(1e300), Scalar(5e-324), Scalar(-infinity), Scalar(std::nan("")),
        Scalar(-std::nan("")), Scalar(std::complex<float>(0.1F, -0.0F)),
        Scalar(std::complex<float>(1e-45F, 3.4028235e38F))}) {
    outputs.push_back(
        call_for_one("test_kinds", {Tensors{x, x}, {2, -3}, None(), by, false, DType::complex64}));
    outputs.push_back(
        call_for_one("test_kinds", {Tensors{}, Dims(), -1, by, true, DType::boolean}));
  }
  const Graph graph = recording.capture(outputs);
  Graph again = read_graph(write_graph(graph));
  EXPECT_EQ(to_string(again), to_string(graph));
  EXPECT_EQ(eliminate_common_subexpressions(again), 0U);
}

TEST(GraphFiles, keep_constants_of_every_dtype_to_the_bit) {
  const Recording recording;
  Tensors constants;
  const AnyTensor numbers = call_for_one("view", {counted(6), {2, 3}});
  for (std::size_t index = 0; index < byre::detail::dtype_count; ++index) {
    const AnyTensor some = call_for_one("to", {numbers, static_cast<DType>(index)});
    constants.insert(constants.end(),
                     {some, call_for_one("t", {some}), call_for_one("slice", {some, 1, 1, 1}),
                      call_for_one("select", {call_for_one("select", {some, 0, 1}), 0, 2})});
  }
  const auto nan_with_payload = std::bit_cast<float>(0x7FA12345U);
  constants.push_back(from_cpu(Tensor::of<float>({2}, {nan_with_payload, -0.0F})));
  constants.push_back(from_cpu(Tensor::of<std::complex<float>>({1}, {{nan_with_payload, 1}})));
  const Graph graph = recording.capture(constants);
  const Tensors results = execute(read_graph(write_graph(graph)), {});
  ASSERT_EQ(results.size(), constants.size());
  for (std::size_t index = 0; index < results.size(); ++index) {
    SCOPED_TRACE(index);
    expect_same(results[index], constants[index]);
  }
}

TEST(GraphFiles, are_read_however_they_are_spaced) {
  const Graph graph = read_graph(
      "# a comment\n\n graph ( %0:f32 [2] , %1 y : f32[ 2 ] ) :  # another\n\n"
      "%2 : f32[2]=add ( %0,%1 )\r\n %3: f32[] = sum.axes(%2, [0])\n\n return\t%3\n\n# the end");
  EXPECT_EQ(to_string(graph),
            "graph(%0: f32[2], %1 y: f32[2]):\n"
            "  %2: f32[2] = add(%0, %1)\n"
            "  %3: f32[] = sum.axes(%2, [0], false)\n"
            "  return %3\n");
  EXPECT_TRUE(read_graph("graph():\nreturn").outputs.empty());
}

TEST(GraphFiles, are_written_and_read_by_path) {
  const test::TemporaryFolder folder;
  const auto path = folder / "some.graph";
  const Recording recording;
  const Graph graph = recording.capture({recording.input({2}, DType::f32), counted(3)});
  save_graph(path, graph);
  EXPECT_EQ(write_graph(load_graph(path)), write_graph(graph));
  test::write_file(path, "graph(\n");
  try {
    load_graph(path);
    FAIL();
  } catch (const SyntaxError& error) {
    EXPECT_NE(std::string(error.what()).find("some.graph:1:7: expected"), std::string::npos)
        << error.what();
  }
  EXPECT_THROW(load_graph(folder / "none.graph"), FileError);
  EXPECT_THROW(save_graph(folder / "none/some.graph", graph), FileError);
}

TEST(GraphFiles, have_views_only_for_who_asks) {
  const Recording recording(Recording::Views::recorded);
  const AnyTensor x = recording.input({2, 3}, DType::f32);
  const std::string text = write_graph(recording.capture(call("unbind", {x, 1})));
  EXPECT_THROW(read_graph(text), SyntaxError);
  EXPECT_EQ(write_graph(read_graph(text, "graph", Recording::Views::recorded)), text);
}

TEST(GraphFiles, make_the_pure_forms_they_need) {
  define("test_double_(Tensor(a!) self) -> Tensor(a!)").cpu([](Tensor& self) {
    mul_(self, Scalar(2));
  });
  define("test_triple_.by(Tensor(a!) self, Scalar by) -> Tensor(a!)")
      .cpu([](Tensor& self, const Scalar& by) { mul_(self, by); });
  const Graph graph = read_graph(
      "graph(%0: f32[2]):\n"
      "  %1: f32[2] = test_double__functional(%0)\n"
      "  %2: f32[2] = test_triple__functional.by(%1, 3)\n"
      "  return %2\n");
  expect_same(execute(graph, {counted(2)})[0], from_cpu(Tensor::of<float>({2}, {0, 6})));
}

/// Executed once it was recorded, written and read.
Tensor computed_by_file(const std::string& name, const Arguments& arguments) {
  const Recording recording;
  const RecordingScope scope(recording);
  Arguments recorded = arguments;
  Tensors inputs;
  for (Argument& argument : recorded) {
    argument.for_each_tensor([&](AnyTensor& tensor) {
      inputs.push_back(tensor);
      tensor = recording.input(tensor.sizes(), tensor.dtype());
    });
  }
  const Graph graph = recording.capture(call(find(name), recorded));
  EXPECT_TRUE(is_functional(graph));
  const std::string text = write_graph(graph);
  const Graph again = read_graph(text);
  EXPECT_EQ(write_graph(again), text);
  const ExcludeKeys off_graph(Key::graph);
  return to_cpu(execute(again, inputs).at(0));
}

TEST(PureOperators, are_all_recorded_saved_loaded_and_executed_as_on_the_cpu) {
  test::RandomCalls random(test::seed());
  const std::vector<std::string> names = random.all_names();
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    for (int round = 0; round < 10; ++round) {
      const Arguments arguments = random.arguments_of(name);
      const Tensor computed = computed_by_file(name, arguments);
      ASSERT_TRUE(test::are_same(computed, to_cpu(call_for_one(name, arguments))))
          << byre::to_string(computed);
    }
  }
  for (const Operator* op : builtin_operators) {
    EXPECT_TRUE(!op->schema().is_pure() ||
                std::find(names.begin(), names.end(), op->name()) != names.end())
        << op->name() << " is not called here";
  }
}

}  // namespace
