// SPDX-License-Identifier: BSL-1.0
#include <byre/observe/expect.hpp>
#include <byre/observe/recording.hpp>

#include <algorithm>

#include "support/at_once.hpp"
#include "tensor_programs/random_calls.hpp"
#include "tensors.hpp"

namespace byre::test {
namespace {

// Initialized before tests define further operators.
const std::vector<const Operator*> builtin_operators = operators();

TEST(GraphExecutions, outputs_share_no_memory_with_outputs_inputs_or_constants) {
  // Returns views of its operand, which is invalid for a pure operator.
  define("test_views(Tensor a) -> (Tensor, Tensor)").cpu([](const Tensor& a) {
    return a.chunk(2);
  });
  const Recording recording;
  const AnyTensor x = recording.input({4}, DType::f32);
  const AnyTensor constant = recording.constant(to_cpu(ascending(4)));
  const Tensors parts = call("test_views", {x});
  const Graph graph = recording.capture(
      {x, x, constant, constant, parts[0], parts[1], call_for_one("view_copy", {x, {2, 2}})});
  const AnyTensor given = ascending(4);
  const Tensors results = execute(graph, {given});
  for (std::size_t index = 0; index < results.size(); ++index) {
    call("fill_", {results[index], index});
  }
  for (std::size_t index = 0; index < results.size(); ++index) {
    const Dims sizes = results[index].sizes();
    EXPECT_EQ(text_of(results[index]), text_of(call_for_one("full", {sizes, index, DType::f32})));
  }
  EXPECT_EQ(text_of(given), "[0. 1. 2. 3.]");
  EXPECT_EQ(text_of(execute(graph, {given})[2]), "[0. 1. 2. 3.]");
}

TEST(GraphExecutions, graphs_run_on_the_backend_of_their_inputs) {
  const Recording recording;
  const RecordingScope scope(recording);
  const AnyTensor x = recording.input({2}, DType::f32);
  const AnyTensor y = recording.input({2}, DType::f32);
  const AnyTensor made = call_for_one("ones", {{2}});
  const AnyTensor constant = recording.constant(Tensor::of<float>({2}, {0, 1}));
  const Graph graph = recording.capture(
      {call_for_one("add", {x, constant}), call_for_one("add", {y, constant}), made, y});
  const Tensor given = Tensor::of<float>({2}, {0, 1});
  const Tensors results = execute(graph, {to_opaque(given), from_cpu(given)});
  EXPECT_EQ(text_of_value(results[0]), "[0. 2.]");
  EXPECT_EQ(text_of_value(results[1]), "[0. 2.]")
      << "an input of the CPU, mixed with an opaque one";
  EXPECT_EQ(text_of_value(results[2]), "[1. 1.]") << "factories run on the inputs' backend";
  EXPECT_EQ(text_of(results[3]), "[0. 1.]");
  EXPECT_TRUE(thread_keys().included.has(Key::graph)) << "the guards are restored";
}

TEST(GraphExecutions, inputs_of_several_backends_are_rejected) {
  const Recording recording;
  const Graph graph =
      recording.capture({recording.input({2}, DType::f32), recording.input({2}, DType::f32)});
  static const Key other = add_backend({.name = "test_other_backend"});
  struct Other final : TensorImpl {
    Other() : TensorImpl(other) {}
    Dims sizes() const override { return {2}; }
    DType dtype() const override { return DType::f32; }
  };
  const AnyTensor elsewhere = make_counted<Other>();
  const std::string text = complaint_of<DeviceError>([&] {
    execute(graph, {to_opaque(to_cpu(ascending(2))), elsewhere});
  });
  EXPECT_TRUE(says(text, "opaque") && says(text, "test_other_backend")) << text;
  EXPECT_THROW(execute(graph, {elsewhere, to_functional(ascending(2))}), DeviceError);
}

TEST(GraphExecutions, inputs_that_differ_from_the_recorded_inputs_are_rejected) {
  const Recording recording;
  const AnyTensor x = recording.input({2}, DType::f32, "x");
  const Graph graph = recording.capture({x});
  EXPECT_THROW(execute(graph, {}), ArgumentError);
  EXPECT_THROW(execute(graph, {ascending(2), ascending(2)}), ArgumentError);
  EXPECT_THROW(execute(graph, {call_for_one("to", {ascending(2), DType::f64})}), ArgumentError);
  EXPECT_THROW(execute(graph, {x}), DeviceError);
  const std::string text = complaint_of<ArgumentError>([&] { execute(graph, {ascending(3)}); });
  EXPECT_TRUE(says(text, "input 0 x must be f32[2], not f32[3]"));
}

TEST(GraphExecutions, malformed_graphs_are_rejected) {
  const TensorMeta two{{2}, DType::f32};
  const ValueId x{0};
  const Tensor held = to_cpu(ascending(2));
  const auto node = [&two](const char* op, std::vector<BasicArgument<ValueId>> arguments) {
    return GraphNode{&find(op), std::move(arguments), {}, {two}};
  };
  const auto constant = [](const Tensor& tensor, std::vector<TensorMeta> results) {
    return GraphNode{nullptr, {}, tensor, std::move(results)};
  };
  const auto graph_of = [&two](std::vector<GraphNode> nodes, std::uint32_t output) {
    return Graph{{{two, "x"}}, std::move(nodes), {{output}}};
  };
  const std::pair<Graph, const char*> all[] = {
      {graph_of({node("mul", {ValueId{1}, x}), node("add", {x, x})}, 2), "uses value %1"},
      {graph_of({node("add", {x, x})}, 2), "uses value %2"},
      {graph_of({node("add", {})}, 1), "0 arguments, required 2"},
      {graph_of({node("add", {x})}, 1), "1 arguments, required 2"},
      {graph_of({node("add", {x, x, x})}, 1), "3 arguments, required 2"},
      {graph_of({node("unsqueeze", {x})}, 1), "1 arguments, required 2"},
      {graph_of({node("add_.scalar", {x, Scalar(1)})}, 1), "add_.scalar writes its arguments"},
      {graph_of({node("add.out", {x, x, x})}, 1), "a graph requires pure operators"},
      {graph_of({constant({}, {two})}, 0), "holds no tensor, result count 1, first result f32[2]"},
      {graph_of({constant(held, {})}, 0), "holds f32[2], result count 0, first result none"},
      {graph_of({constant(held, {two, two})}, 0), "result count 2, first result f32[2]"},
      {graph_of({constant(held, {{{3}, DType::f32}})}, 0), "result count 1, first result f32[3]"},
      {graph_of({constant(held, {{{2}, DType::f64}})}, 0), "first result f64[2]"},
  };
  for (auto [wrong, said] : all) {
    const auto refuses = [said = said](const char* operation, const std::function<void()>& act) {
      EXPECT_TRUE(says(complaint_of<GraphError>(act), operation, said));
    };
    Graph& graph = wrong;
    refuses("execute", [&] { (void)execute(graph, {zeros({2})}); });
    refuses("eliminate_dead_code", [&] { (void)eliminate_dead_code(graph); });
    refuses("eliminate_common_subexpressions",
            [&] { (void)eliminate_common_subexpressions(graph); });
  }
  Graph right = graph_of({constant(held, {two}), node("add", {x, ValueId{1}})}, 2);
  EXPECT_EQ(text_of(execute(right, {ascending(2)})[0]), "[0. 2.]");
}

TEST(GraphExecutions, results_that_contradict_the_meta_rule_are_rejected) {
  define("test_lie(Tensor a) -> Tensor")
      .cpu([](const Tensor& a) { return a.clone(); })
      .meta([](const Call&) {
        return std::vector<TensorMeta>{{{3}, DType::f32}};
      });
  const Recording recording;
  const AnyTensor x = recording.input({2}, DType::f32);
  const Graph graph = recording.capture({call_for_one("test_lie", {x})});
  EXPECT_THROW(execute(graph, {ascending(2)}), GraphError);
}

#if BYRE_STATS

TEST(GraphExecutions, a_value_is_written_in_place_at_its_last_use) {
  const Recording recording;
  AnyTensor x = recording.input({64}, DType::f32);
  const AnyTensor one = recording.input({}, DType::f32);
  for (int index = 0; index < 10; ++index) {
    x = call_for_one("select_scatter", {x, one, 0, index});
  }
  const Graph graph = recording.capture({x});
  const AnyTensor given = ascending(64);
  const AnyTensor given_one = call_for_one("ones", {Dims{}});
  stats::expect_copies_at_most(1, [&] {  // only the input is copied, because the caller owns it too
    EXPECT_EQ(text_of(call_for_one("sum", {execute(graph, {given, given_one})[0]})), "1981.");
  });
  EXPECT_EQ(text_of(call_for_one("sum", {given})), "2016.") << "the input is unchanged";
}

TEST(GraphExecutions, a_value_is_freed_after_its_last_use) {
  std::int64_t most = 0;
  define("test_measure(Tensor a) -> Tensor").cpu([&most](const Tensor& a) {
    most = std::max(most, stats::snapshot().live_bytes);
    return a.clone();
  });
  constexpr std::int64_t nbytes = std::int64_t{1} << 20;
  const Recording recording;
  AnyTensor x = recording.input({nbytes / 4}, DType::f32);
  Tensors unused;
  for (int round = 0; round < 20; ++round) {
    x = call_for_one("test_measure", {x});
    unused.push_back(call_for_one("neg", {x}));
  }
  const Graph graph = recording.capture({x});
  const AnyTensor given = ascending(nbytes / 4);
  const std::int64_t before = stats::snapshot().live_bytes;
  execute(graph, {given});
  EXPECT_LT(most - before, 3 * nbytes);
}

#endif

TEST(GraphExecutions, recorded_views_have_elements_in_row_major_order) {
  const Recording recording(Recording::Views::recorded);
  const AnyTensor x = recording.input({2, 3}, DType::f32);
  const AnyTensor turned = call_for_one("t", {x});
  const AnyTensor some = call_for_one("as_strided", {turned, {2}, {1}, 1});
  const AnyTensor row = call_for_one("select_copy", {x, 0, 1});
  const Graph graph = recording.capture({call_for_one("view", {turned, {6}}), some,
                                         call_for_one("as_strided_copy", {turned, {2}, {1}, 1}),
                                         call_for_one("select_scatter", {turned, some, 0, 0}),
                                         turned, call_for_one("as_strided", {row, {2}, {1}, 0})});
  const AnyTensor given = ascending({2, 3});
  const Tensors results = execute(graph, {given});
  EXPECT_EQ(texts_of(results),
            "[0. 3. 1. 4. 2. 5.]\n[3. 1.]\n[3. 1.]\n[[3. 1.]\n [1. 4.]\n [2. 5.]]\n"
            "[[0. 3.]\n [1. 4.]\n [2. 5.]]\n[3. 4.]\n");
  call("zero_", {results[0]});
  EXPECT_EQ(text_of(given), "[[0. 1. 2.]\n [3. 4. 5.]]");
}

TEST(GraphExecutions, concurrent_threads_can_execute_one_graph) {
  const Recording recording;
  const AnyTensor x = recording.input({}, DType::f32);
  AnyTensor sum = recording.constant(to_cpu(ascending(64)));
  for (int index = 0; index < 64; ++index) {
    sum = call_for_one("select_scatter", {sum, x, 0, index});
  }
  const Graph graph = recording.capture({call_for_one("sum", {sum})});
  const AnyTensor given = call_for_one("ones", {Dims{}});
  test::at_once(2, [&](std::size_t) {
    for (int round = 0; round < 100; ++round) {
      EXPECT_EQ(text_of(execute(graph, {given})[0]), "64.");
    }
  });
  EXPECT_EQ(to_string(graph.nodes[0].constant.slice(0, 62)), "[62. 63.]");
}

Tensor computed_by_graph(const std::string& name, const Arguments& arguments) {
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
  const ExcludeKeys off_graph(Key::graph);
  return to_cpu(execute(graph, inputs).at(0));
}

// This tests the meta rules too: execute() checks the results against them.
TEST(PureOperators, recorded_operators_compute_the_results_of_direct_calls) {
  test::RandomCalls random(test::seed());
  const std::vector<std::string> names = random.all_names();
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    ASSERT_NE(find(name).meta(), nullptr);
    for (int round = 0; round < 10; ++round) {
      const Arguments arguments = random.arguments_of(name);
      const Tensor computed = computed_by_graph(name, arguments);
      const Tensor expected = to_cpu(call_for_one(name, arguments));
      ASSERT_TRUE(test::are_same(computed, expected)) << byre::to_string(computed);
      ASSERT_TRUE(expected.is_contiguous() && expected.storage_offset() == 0);
      ASSERT_EQ(expected.storage().nbytes(), expected.nbytes()) << "the result owns its storage";
      for (const Argument& argument : arguments) {
        argument.for_each_tensor(
            [&](const AnyTensor& tensor) { ASSERT_FALSE(to_cpu(tensor).aliases(expected)); });
      }
    }
  }
  for (const Operator* op : builtin_operators) {
    EXPECT_TRUE(!op->schema().is_pure() ||
                std::find(names.begin(), names.end(), op->name()) != names.end())
        << op->name() << " is not called by this test";
  }
}

}  // namespace
}  // namespace byre::test
