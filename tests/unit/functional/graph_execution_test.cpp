// SPDX-License-Identifier: BSL-1.0
#include <byre/observe/expect.hpp>
#include <byre/observe/recording.hpp>

#include <algorithm>

#include "support/at_once.hpp"
#include "support/functional/opaque_backend.hpp"
#include "tensor_programs/random_calls.hpp"
#include "tensors.hpp"

namespace byre::test {
namespace {

// Before tests define theirs.
const std::vector<const Operator*> builtin_operators = operators();

/// Sees the halves of what it is given, which is no pure operator's right.
void define_views() {
  static const Definition once =
      define("test_views(Tensor a) -> (Tensor, Tensor)").cpu([](const Tensor& a) {
        return a.chunk(2);
      });
  static_cast<void>(once);
}

TEST(Executions, compute_what_was_recorded) {
  const Recording recording;
  const AnyTensor x = recording.input({2}, DType::f32);
  const AnyTensor y = recording.input({2}, DType::f32);
  const AnyTensor sum = call_for_one("add", {x, call_for_one("mul.scalar", {y, 10})});
  const AnyTensor all = call_for_one("cat", {Tensors{sum, counted(2), x}});
  const Graph graph = recording.capture({all, sum});
  for (int round = 0; round < 2; ++round) {
    const Tensors results = execute(graph, {counted(2), call_for_one("ones", {{2}})});
    ASSERT_EQ(results.size(), 2U);
    EXPECT_EQ(text_of(results[0]), "[10. 11.  0.  1.  0.  1.]");
    EXPECT_EQ(text_of(results[1]), "[10. 11.]");
  }
}

TEST(Executions, compute_on_the_cpu_in_any_scope) {
  const Recording recording;
  const RecordingScope scope(recording);
  const Graph graph = recording.capture({call_for_one("zeros", {{2}})});
  EXPECT_EQ(text_of(execute(graph, {})[0]), "[0. 0.]");
  EXPECT_TRUE(thread_keys().included.has(Key::graph));
}

TEST(Executions, return_tensors_that_share_nothing) {
  define_views();
  const Recording recording;
  const AnyTensor x = recording.input({4}, DType::f32);
  const AnyTensor constant = recording.constant(to_cpu(counted(4)));
  const Tensors parts = call("test_views", {x});
  const Graph graph = recording.capture(
      {x, x, constant, constant, parts[0], parts[1], call_for_one("view_copy", {x, {2, 2}})});
  const AnyTensor given = counted(4);
  const Tensors results = execute(graph, {given});
  for (std::size_t index = 0; index < results.size(); ++index) {
    call("fill_", {results[index], static_cast<std::int64_t>(index)});
  }
  for (std::size_t index = 0; index < results.size(); ++index) {
    const AnyTensor expected = call_for_one(
        "full", {results[index].sizes(), static_cast<std::int64_t>(index), DType::f32});
    EXPECT_EQ(text_of(results[index]), text_of(expected));
  }
  EXPECT_EQ(text_of(given), "[0. 1. 2. 3.]");
  EXPECT_EQ(text_of(execute(graph, {given})[2]), "[0. 1. 2. 3.]");
}

TEST(Executions, leave_constants_to_the_next_though_kernels_write_what_is_theirs_alone) {
  define("test_bump(Tensor a) -> Tensor").cpu([](AnyTensor& a) {
    const AnyTensor own = a.handle_count() == 1 ? a : from_cpu(to_cpu(a).clone());
    add_(to_cpu(own), Scalar(1));
    return own;
  });
  const Recording recording;
  const AnyTensor x = recording.input({2}, DType::f32);
  const AnyTensor constant = recording.constant(to_cpu(counted(2)));
  const Graph graph =
      recording.capture({call_for_one("test_bump", {x}), call_for_one("test_bump", {constant})});
  const AnyTensor given = counted(2);
  for (int round = 0; round < 2; ++round) {
    for (const AnyTensor& result : execute(graph, {given})) {
      EXPECT_EQ(text_of(result), "[1. 2.]");
    }
  }
}

TEST(Executions, compute_on_the_backend_of_their_inputs) {
  const Recording recording;
  const AnyTensor x = recording.input({2}, DType::f32);
  const AnyTensor y = recording.input({2}, DType::f32);
  const AnyTensor made = [&recording] {
    const RecordingScope scope(recording);
    return call_for_one("ones", {{2}});
  }();
  const AnyTensor constant = recording.constant(to_cpu(counted(2)));
  const Graph graph = recording.capture(
      {call_for_one("add", {x, constant}), call_for_one("add", {y, constant}), made, y});
  const auto text_of_opaque = [](const AnyTensor& tensor) {
    return byre::to_string(from_opaque(tensor));
  };
  const Tensors results = execute(graph, {to_opaque(to_cpu(counted(2))), counted(2)});
  EXPECT_EQ(text_of_opaque(results[0]), "[0. 2.]");
  EXPECT_EQ(text_of_opaque(results[1]), "[0. 2.]")
      << "of what is on the CPU, beside an opaque tensor";
  EXPECT_EQ(text_of_opaque(results[2]), "[1. 1.]") << "made where the others are";
  EXPECT_EQ(text_of(results[3]), "[0. 1.]");
}

TEST(Executions, refuse_inputs_of_several_backends) {
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
    execute(graph, {to_opaque(to_cpu(counted(2))), elsewhere});
  });
  EXPECT_TRUE(says(text, "opaque") && says(text, "test_other_backend")) << text;
  EXPECT_THROW(execute(graph, {elsewhere, to_functional(counted(2))}), DeviceError);
}

TEST(Executions, refuse_inputs_that_are_not_as_recorded) {
  const Recording recording;
  const AnyTensor x = recording.input({2}, DType::f32, "x");
  const Graph graph = recording.capture({x});
  EXPECT_THROW(execute(graph, {}), ArgumentError);
  EXPECT_THROW(execute(graph, {counted(2), counted(2)}), ArgumentError);
  EXPECT_THROW(execute(graph, {call_for_one("to", {counted(2), DType::f64})}), ArgumentError);
  EXPECT_THROW(execute(graph, {x}), DeviceError);
  const std::string text = complaint_of<ArgumentError>([&] { execute(graph, {counted(3)}); });
  EXPECT_TRUE(says(text, "input 0 x is a f32[2], and was given f32[3]"));
}

/// What takes a graph refuses this one, and says so.
void expect_refused(Graph& wrong, const char* said) {
  const auto refuses = [said](const char* operation, const std::function<void()>& act) {
    EXPECT_TRUE(says(complaint_of<GraphError>(act), operation, said));
  };
  refuses("execute", [&] { (void)execute(wrong, {zeros({2})}); });
  refuses("to_dot", [&] { (void)to_dot(wrong); });
  refuses("eliminate_dead_code", [&] { (void)eliminate_dead_code(wrong); });
  refuses("eliminate_common_subexpressions", [&] { (void)eliminate_common_subexpressions(wrong); });
}

TEST(Executions, refuse_values_that_are_used_before_they_are_made) {
  const Recording recording;
  const AnyTensor x = recording.input({2}, DType::f32);
  const AnyTensor sum = call_for_one("add", {x, x});
  const Graph graph = recording.capture({call_for_one("mul", {sum, sum})});
  Graph turned = graph;
  std::swap(turned.nodes[0], turned.nodes[1]);
  Graph cut = graph;
  cut.nodes.pop_back();
  for (Graph& wrong : {std::ref(turned), std::ref(cut)}) {
    expect_refused(wrong, "uses the value");
  }
}

TEST(Executions, refuse_other_arguments_than_an_operator_takes) {
  const Recording recording;
  const AnyTensor x = recording.input({2}, DType::f32);
  const Graph sum = recording.capture({call_for_one("add", {x, x})});
  const Recording of_views(Recording::Views::recorded);
  const AnyTensor y = of_views.input({2}, DType::f32);
  const Graph view = of_views.capture({call_for_one("unsqueeze", {y, 0})});
  for (Graph graph : {sum, view}) {
    graph.nodes[0].arguments.pop_back();
    expect_refused(graph, "1 arguments, and it takes 2");
    graph.nodes[0].arguments.clear();
    expect_refused(graph, "0 arguments, and it takes 2");
    graph.nodes[0].arguments.assign(3, ValueId{0});
    expect_refused(graph, "3 arguments, and it takes 2");
  }
}

TEST(Executions, refuse_operators_that_write) {
  const TensorMeta two{{2}, DType::f32};
  const AnyTensor x = counted(2);
  const auto written_by = [&two](const char* op, std::vector<BasicArgument<ValueId>> arguments) {
    return Graph{{{two, "x"}}, {{&find(op), std::move(arguments), {}, {two}}}, {{1}}};
  };
  Graph in_place = written_by("add_.scalar", {ValueId{0}, Scalar(1)});
  Graph out_variant = written_by("add.out", {ValueId{0}, ValueId{0}, ValueId{0}});
  for (Graph& graph : {std::ref(in_place), std::ref(out_variant)}) {
    EXPECT_THROW(execute(graph, {x}), GraphError);
    expect_refused(graph, "writes its arguments, and a graph has pure operators only");
  }
  EXPECT_EQ(text_of(x), text_of(counted(2)));
}

TEST(Executions, refuse_constants_that_are_not_as_their_results_say) {
  const TensorMeta two{{2}, DType::f32};
  const Tensor held = to_cpu(counted(2));
  const auto with_constant = [&two](Tensor constant, std::vector<TensorMeta> results) {
    return Graph{{{two, "x"}}, {{nullptr, {}, std::move(constant), std::move(results)}}, {{0}}};
  };
  Graph right = with_constant(held, {two});
  EXPECT_EQ(eliminate_common_subexpressions(right), 0U);
  Graph none = with_constant(Tensor(), {two});
  expect_refused(none, "holds no tensor, and its 1 results say f32[2]");
  Graph without = with_constant(held, {});
  expect_refused(without, "holds f32[2], and its 0 results say nothing");
  Graph several = with_constant(held, {two, two});
  expect_refused(several, "its 2 results say f32[2]");
  Graph longer = with_constant(held, {{{3}, DType::f32}});
  expect_refused(longer, "holds f32[2], and its 1 results say f32[3]");
  Graph wider = with_constant(held, {{{2}, DType::f64}});
  expect_refused(wider, "say f64[2]");
}

TEST(Executions, refuse_results_that_are_not_as_recorded) {
  const auto lie = [](const Call&) { return std::vector<TensorMeta>{{{3}, DType::f32}}; };
  define("test_lie(Tensor a) -> Tensor").cpu([](const Tensor& a) { return a.clone(); }).meta(lie);
  const Recording recording;
  const AnyTensor x = recording.input({2}, DType::f32);
  const Graph graph = recording.capture({call_for_one("test_lie", {x})});
  EXPECT_THROW(execute(graph, {counted(2)}), GraphError);
}

#if BYRE_STATS

TEST(Executions, write_what_is_not_used_again_in_place) {
  const Recording recording;
  AnyTensor x = recording.input({64}, DType::f32);
  const AnyTensor one = recording.input({}, DType::f32);
  for (int index = 0; index < 10; ++index) {
    x = call_for_one("select_scatter", {x, one, 0, index});
  }
  const Graph graph = recording.capture({x});
  const AnyTensor given = counted(64);
  const AnyTensor given_one = call_for_one("ones", {Dims{}});
  stats::expect_copies_at_most(1, [&] {  // of the input, which is the caller's
    EXPECT_EQ(text_of(call_for_one("sum", {execute(graph, {given, given_one})[0]})), "1981.");
  });
}

TEST(Executions, free_what_is_not_used_again) {
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
  const AnyTensor given = counted(nbytes / 4);
  const std::int64_t before = stats::snapshot().live_bytes;
  execute(graph, {given});
  EXPECT_LT(most - before, 3 * nbytes);
}

#endif

TEST(Executions, see_views_of_the_elements_in_order) {
  const Recording recording(Recording::Views::recorded);
  const AnyTensor x = recording.input({2, 3}, DType::f32);
  const AnyTensor turned = call_for_one("t", {x});
  const AnyTensor flat = call_for_one("view", {turned, {6}});
  const AnyTensor some = call_for_one("as_strided", {turned, {2}, {1}, 1});
  const AnyTensor copied = call_for_one("as_strided_copy", {turned, {2}, {1}, 1});
  const AnyTensor written = call_for_one("select_scatter", {turned, some, 0, 0});
  const AnyTensor row = call_for_one("select_copy", {x, 0, 1});
  const AnyTensor first = call_for_one("as_strided", {row, {2}, {1}, 0});
  const Graph graph = recording.capture({flat, some, copied, written, turned, first});
  const AnyTensor given = call_for_one("view", {counted(6), {2, 3}});
  const Tensors results = execute(graph, {given});
  EXPECT_EQ(text_of(results[0]), "[0. 3. 1. 4. 2. 5.]");
  EXPECT_EQ(text_of(results[1]), "[3. 1.]");
  EXPECT_EQ(text_of(results[2]), "[3. 1.]");
  EXPECT_EQ(text_of(results[3]), "[[3. 1.]\n [1. 4.]\n [2. 5.]]");
  EXPECT_EQ(text_of(results[4]), "[[0. 3.]\n [1. 4.]\n [2. 5.]]");
  EXPECT_EQ(text_of(results[5]), "[3. 4.]");
  call("zero_", {results[0]});
  EXPECT_EQ(text_of(given), "[[0. 1. 2.]\n [3. 4. 5.]]");
}

TEST(Executions, of_one_graph_run_at_once) {
  const Recording recording;
  const AnyTensor x = recording.input({}, DType::f32);
  AnyTensor sum = recording.constant(to_cpu(counted(64)));
  for (int index = 0; index < 64; ++index) {
    sum = call_for_one("select_scatter", {sum, x, 0, index});
  }
  const Graph graph = recording.capture({call_for_one("sum", {sum})});
  const AnyTensor given = call_for_one("ones", {Dims{}});
  const auto run = [&graph, &given] {
    for (int round = 0; round < 100; ++round) {
      EXPECT_EQ(text_of(execute(graph, {given})[0]), "64.");
    }
  };
  test::at_once(2, [&run](std::size_t) { run(); });
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

TEST(PureOperators, are_all_recorded_and_executed_as_on_the_cpu) {
  test::RandomCalls random(test::seed());
  const std::vector<std::string> names = random.all_names();
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    for (int round = 0; round < 10; ++round) {
      const Arguments arguments = random.arguments_of(name);
      const Tensor computed = computed_by_graph(name, arguments);
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
}  // namespace byre::test
