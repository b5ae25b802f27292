// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/graph/detail/graph_backend.hpp>
#include <byre/observe/recording.hpp>

#include "support/at_once.hpp"
#include "support/sanitized.hpp"
#include "tensors.hpp"

namespace byre::test {
namespace {

TEST(Recordings, calls_are_recorded_and_not_computed) {
  define("test_halves(Tensor a) -> (Tensor, Tensor)").cpu([](const Tensor& a) {
    return a.clone().chunk(2);
  });
  define("test_rows(Tensor a) -> Tensor[]").cpu([](const Tensor& a) { return a.clone().unbind(); });
  const Recording recording;
  recording.input({2}, DType::f32, "unused");
  const AnyTensor row = recording.input({1, 4}, DType::f32);
  const AnyTensor first = call_for_one("select_copy", {row, 1, -1});
  const AnyTensor sum = call_for_one("add", {row, call_for_one("mul.scalar", {first, 0.5})});
  EXPECT_EQ(sum.sizes(), Dims({1, 4}));
  EXPECT_EQ(sum.dtype(), DType::f32);
  const AnyTensor both = call_for_one("cat", {Tensors{row, sum}, 0});
  const Tensors rows = call("test_rows", {call("test_halves", {both})[1]});
  EXPECT_EQ(to_string(recording.capture({sum, rows[0]})),
            "graph(%0 unused: f32[2], %1: f32[1, 4]):\n"
            "  %2: f32[1] = select_copy(%1, 1, -1)\n"
            "  %3: f32[1] = mul.scalar(%2, 0.5)\n"
            "  %4: f32[1, 4] = add(%1, %3)\n"
            "  %5: f32[2, 4] = cat([%1, %4], 0)\n"
            "  %6: f32[1, 4], %7: f32[1, 4] = test_halves(%5)\n"
            "  %8: f32[4] = test_rows(%7)\n"
            "  return %4, %8\n");
}

TEST(Recordings, cpu_tensors_become_constants_of_their_current_value) {
  const Recording recording;
  const AnyTensor x = recording.input({2}, DType::f32);
  const AnyTensor constant = ascending(2);
  const AnyTensor sum = call_for_one("add", {x, constant});
  call("add_.scalar", {constant, 10});
  const Graph graph = recording.capture({sum, constant});
  EXPECT_EQ(to_string(graph),
            "graph(%0: f32[2]):\n"
            "  %1: f32[2] = constant\n"
            "  %2: f32[2] = add(%0, %1)\n"
            "  %3: f32[2] = constant\n"
            "  return %2, %3\n");
  EXPECT_EQ(to_string(graph.nodes[0].constant), "[0. 1.]");
  EXPECT_EQ(to_string(graph.nodes[2].constant), "[10. 11.]");
}

TEST(Recordings, a_scope_records_calls_without_tensor_arguments) {
  const Recording recording;
  const Recording inner;
  {
    const RecordingScope scope(recording);
    const AnyTensor zeros = call_for_one("zeros", {{2}});
    const RecordingScope nested(inner);
    EXPECT_EQ(Recording::of(call_for_one("zeros", {{2}})), inner);
    EXPECT_EQ(Recording::of(call_for_one("neg", {zeros})), recording);
    EXPECT_EQ(to_string(recording.capture({zeros})),
              "graph():\n"
              "  %0: f32[2] = zeros([2], f32)\n"
              "  return %0\n");
  }
  EXPECT_NE(call_for_one("zeros", {{2}}).as<CpuTensor>(), nullptr);
  EXPECT_THROW(Recording::current(), GraphError);
}

TEST(Recordings, writes_and_views_are_rejected) {
  const Recording recording;
  const AnyTensor x = recording.input({2}, DType::f32);
  const std::string write = complaint_of<GraphError>([&] { call("add_.scalar", {x, 1}); });
  EXPECT_TRUE(says(write, "add_.scalar writes its arguments", "Functionalize the program"));
  const std::string view = complaint_of<GraphError>([&] { call("select", {x, 0, 1}); });
  EXPECT_TRUE(says(view, "select makes a view"));
  EXPECT_THROW(call("add.out", {x, x, x}), GraphError);
  EXPECT_EQ(recording.node_count(), 1U);
}

TEST(Recordings, views_are_recorded_if_enabled_but_writes_are_rejected) {
  const Recording recording(Recording::Views::recorded);
  const AnyTensor x = recording.input({2, 3}, DType::f32);
  const AnyTensor column = call_for_one("select", {call_for_one("t", {x}), 0, 1});
  const Tensors parts = call("split", {x, 2, 1});
  EXPECT_THROW(call("zero_", {column}), GraphError);
  const Graph graph = recording.capture({column, parts.at(1)});
  EXPECT_EQ(to_string(graph),
            "graph(%0: f32[2, 3]):\n"
            "  %1: f32[3, 2] = t(%0)\n"
            "  %2: f32[2] = select(%1, 0, 1)\n"
            "  %3: f32[2, 2], %4: f32[2, 1] = split(%0, 2, 1)\n"
            "  return %2, %4\n");
  EXPECT_FALSE(is_functional(graph));
  const AnyTensor huge = recording.input({static_cast<std::int64_t>(max_nbytes / 8)}, DType::f64);
  EXPECT_EQ(call_for_one("select", {huge, 0, 1}).sizes(), Dims());
}

TEST(Recordings, tensors_of_another_recording_are_rejected) {
  const Recording recording;
  const Recording other;
  const AnyTensor x = recording.input({2}, DType::f32);
  const AnyTensor y = other.input({2}, DType::f32);
  EXPECT_TRUE(says(complaint_of<GraphError>([&] { call("add", {x, y}); }), "of another recording"));
  EXPECT_THROW(recording.capture({y}), GraphError);
  EXPECT_THROW(recording.capture({AnyTensor()}), GraphError);
  EXPECT_THROW(Recording::of(ascending(1)), DeviceError);
}

TEST(Recordings, a_rejected_call_leaves_no_node) {
  const Recording recording;
  const AnyTensor x = recording.input({2}, DType::f32);
  EXPECT_THROW(call("add", {x, ascending(3)}), ShapeError);
  EXPECT_THROW(call("to", {x, DType::uninitialized}), DTypeError);
  EXPECT_THROW(recording.input({-1}, DType::f32), ShapeError);
  EXPECT_THROW(recording.input({1}, DType::uninitialized), DTypeError);
  EXPECT_THROW(recording.constant(Tensor(Device::cpu())), DTypeError);
  EXPECT_THROW(recording.input({1}, DType::f32, "a b"), InvalidArgument);
  EXPECT_THROW(recording.input({1}, DType::f32, "a "), InvalidArgument);
  EXPECT_EQ(recording.node_count(), 1U);
}

TEST(Recordings, nodes_that_no_tensor_needs_are_freed) {
  const Recording recording;
  AnyTensor x = recording.input({2}, DType::f32);
  const AnyTensor kept = call_for_one("neg", {x});
  for (int round = 0; round < 10'000; ++round) {
    x = call_for_one("clone", {kept});
    x = call_for_one("add", {x, ascending(2)});
  }
  EXPECT_EQ(recording.node_count(), 5U);  // input, neg, clone, constant, add
  EXPECT_EQ(recording.capture({x}).nodes.size(), 4U);
  x = kept;
  EXPECT_EQ(recording.node_count(), 2U);
}

TEST(Recordings, a_long_chain_of_nodes_is_captured_and_freed) {
  constexpr std::size_t links = fewer_if_sanitized(200'000);
  AnyTensor x;
  {
    const Recording recording;
    x = recording.input({2}, DType::f32);
    for (std::size_t link = 0; link < links; ++link) {
      x = call_for_one("clone", {x});
    }
    Graph graph = recording.capture({x});
    EXPECT_EQ(graph.nodes.size(), links);
    EXPECT_EQ(eliminate_dead_code(graph), 0U);
  }
  const Recording recording = Recording::of(x);
  x = AnyTensor();
  EXPECT_EQ(recording.node_count(), 0U);
}

TEST(Recordings, calls_of_concurrent_threads_are_recorded) {
  const Recording recording;
  const AnyTensor x = recording.input({2}, DType::f32);
  constexpr std::size_t rounds = fewer_if_sanitized(20'000);
  Tensors sums(2, x);
  test::at_once(2, [&](std::size_t thread) {
    for (std::size_t round = 0; round < rounds; ++round) {
      sums[thread] = call_for_one("add", {x, sums[thread]});
      call("neg", {sums[thread]});
      if (round % 1000 == 0) {
        EXPECT_TRUE(
            // captures while the other thread creates and frees nodes
            is_functional(recording.capture({sums[thread]})));
      }
    }
  });
  EXPECT_EQ(recording.node_count(), 2 * rounds + 1);
  const Graph graph = recording.capture(sums);
  EXPECT_EQ(graph.nodes.size(), 2 * rounds);
  EXPECT_TRUE(is_functional(graph));
  for (const Tensors results = execute(graph, {ascending(2)}); const AnyTensor& result : results) {
    EXPECT_EQ(to_cpu(result).at<float>({0}), 0);
    EXPECT_EQ(to_cpu(result).at<float>({1}), static_cast<float>(rounds + 1));
  }
}

}  // namespace
}  // namespace byre::test
