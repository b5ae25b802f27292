// SPDX-License-Identifier: BSL-1.0
// functionalize: runs programs on a backend without views and in-place operations. See
// ../README.md.
#include "format.hpp"
#include "run_program.hpp"
#include "same_bits.hpp"

#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/functionalize/capture.hpp>
#include <byre/functional/functionalize/transform.hpp>
#include <byre/functional/graph/text.hpp>
#include <byre/tensor/print.hpp>

#include <algorithm>

namespace examples::functionalize {
namespace {

namespace functional = byre::functional;

using byre::Dims;
using byre::DType;
using functional::AnyTensor;
using functional::call;
using functional::call_for_one;
using functional::Tensors;

// A write to one view changes another view of its base.
Tensors write_seen_by_a_view(const Tensors&) {
  const AnyTensor x = call_for_one("zeros", {Dims{2}});
  const AnyTensor x1 = call_for_one("view", {x, Dims{1, 2}});
  call("fill_", {call_for_one("select", {x, 0, 1}), 2});
  return {x, x1, call_for_one("add.scalar", {x1, 3})};  // [[3, 5]]: the write to x[1] changed x1
}

// All outputs of unbind are views of one base, and each of them is written.
Tensors write_rows(const Tensors&) {
  const AnyTensor x = call_for_one("zeros", {Dims{3, 2}});
  const Tensors rows = call("unbind", {x});
  call("fill_", {rows[0], 1});
  call("add_", {rows[1], call_for_one("mul.scalar", {rows[0], 2})});
  call("add_", {rows[2], rows[0]});
  call("add_", {rows[2], rows[1]});
  return {x, call_for_one("sum", {x})};
}

// The graph omits a write that is overwritten before it is read, and drops repeated operations.
Tensors overwrite(const Tensors&) {
  const AnyTensor x = call_for_one("zeros", {Dims{2, 2}});
  call("fill_", {call_for_one("select", {x, 0, 0}), 1});
  call("fill_", {x, 3});
  call("fill_", {call_for_one("select", {x, 0, 1}), 4});
  return {x, call_for_one("mul.scalar", {x, 2}), call_for_one("mul.scalar", {x, 2})};
}

// Normalizes a batch in place, channel by channel, and updates the caller's running mean. The
// program writes both of its inputs.
Tensors batch_and_mean() {
  const AnyTensor batch = call_for_one("arange", {12, DType::f32});
  return {call_for_one("view", {batch, Dims{2, 3, 2}}), call_for_one("zeros", {Dims{3}})};
}

Tensors normalize_batch(const Tensors& in) {
  const AnyTensor& batch = in[0];
  const auto mean_of = [](const AnyTensor& values) {
    return call_for_one("div.scalar", {call_for_one("sum.axes", {values, Dims{0, 2}}), 4});
  };
  const auto of_channels = [](const AnyTensor& values) {
    return call_for_one("view", {values, Dims{1, 3, 1}});
  };
  const AnyTensor mean = mean_of(batch);
  call("mul_.scalar", {in[1], 0.9});
  call("add_", {in[1], call_for_one("mul.scalar", {mean, 0.1})});
  call("sub_", {batch, of_channels(mean)});
  const AnyTensor variance = mean_of(call_for_one("mul", {batch, batch}));
  call("div_", {batch, of_channels(call_for_one("add.scalar", {variance, 1}))});
  call("relu_", {call_for_one("transpose", {batch, 1, 2})});
  return {mean, variance};
}

// Two inputs share memory: a write to one changes the other. The graph has one input.
Tensors array_and_window() {
  const AnyTensor array = call_for_one("arange", {6, DType::f32});
  return {array, call_for_one("slice", {array, 0, 1, 5})};
}

Tensors write_window(const Tensors& in) {
  call("mul_.scalar", {in[1], 10});
  call("fill_", {call_for_one("select", {in[0], 0, 0}), -1});
  return {call_for_one("add", {in[1], call_for_one("sum", {in[0]})})};
}

struct Sample {
  const char* name;
  Tensors (*run)(const Tensors& in);
  Tensors (*make_inputs)() = [] { return Tensors(); };
};

constexpr Sample samples[] = {
    {"write_seen_by_a_view", write_seen_by_a_view},
    {"write_rows", write_rows},
    {"overwrite", overwrite},
    {"normalize_batch", normalize_batch, batch_and_mean},
    {"write_window", write_window, array_and_window},
};

bool are_equal(const Tensors& left, const Tensors& right) {
  return std::ranges::equal(left, right, [](const AnyTensor& one, const AnyTensor& other) {
    return are_same_bits(functional::to_cpu(one), functional::to_cpu(other));
  });
}

void run(const Sample& sample, bool on_graph, Report& report) {
  // The expected results: the original program on the CPU, where views alias memory.
  const Tensors expected_inputs = sample.make_inputs();
  const Tensors expected = sample.run(expected_inputs);

  const Tensors inputs = sample.make_inputs();
  functional::CapturedProgram captured = functional::capture(sample.run, inputs);
  functional::Graph& graph = captured.graph;
  // Drops operations that no output needs, and operations that repeat an earlier operation.
  std::size_t dropped = functional::eliminate_dead_code(graph);
  dropped += functional::eliminate_common_subexpressions(graph);
  const Tensors values =
      on_graph ? captured(inputs) : functional::functionalize(sample.run)(inputs);

  const std::string name = sample.name;
  if (!functional::is_functional(graph)) {
    report.faults.push_back(name + ": the graph contains a view or an in-place operation.");
  }
  if (!are_equal(values, expected) || !are_equal(inputs, expected_inputs)) {
    report.faults.push_back(name + ": the results differ from those of aliasing on the CPU.");
  }
  report.text += format("%s: %zu pure operations; %zu were dropped\n\n", sample.name,
                        graph.nodes.size(), dropped) +
                 functional::to_string(graph) + "\n";
  Json& figures = report.figures["programs"][name];
  figures = {{"graph", functional::to_string(graph)}, {"dropped", dropped}};
  for (const AnyTensor& value : values) {
    const std::string elements = byre::to_string(functional::to_cpu(value));
    figures["values"].push_back(elements);
    report.text += functional::describe(value) + " =" +
                   (elements.find('\n') == elements.npos ? " " : "\n") + elements + "\n";
  }
  report.text += "\n";
}

Report work(const Arguments& given) {
  const bool on_graph = given.choice("backend", {"cpu", "graph"}) == 1;
  Report report;
  for (const Sample& sample : samples) {
    run(sample, on_graph, report);
  }
  report.text += report.faults.empty()
                     ? "All results equal those of aliasing on the CPU, bit for bit.\n"
                     : "Some results are WRONG.\n";
  return report;
}

}  // namespace
}  // namespace examples::functionalize

int main(int argc, char** argv) {
  return examples::run_program(
      {.name = "functionalize",
       .about =
           R"(Runs small tensor programs with views and in-place operations under the functionalize
pass, for backends that have neither. Prints the graph of pure operations that the
pass makes of each program, and its results. The results must equal those of plain
aliasing on the CPU.
)",
       .options = {{"backend", "cpu", "cpu, or graph (the graph is executed on the CPU)"}},
       .work = examples::functionalize::work},
      argc, argv);
}
