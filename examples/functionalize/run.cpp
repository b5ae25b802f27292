// SPDX-License-Identifier: BSL-1.0
#include "run.hpp"

#include "journal.hpp"

#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/dispatch/guards.hpp>
#include <byre/functional/functionalize/capture.hpp>
#include <byre/functional/functionalize/transform.hpp>
#include <byre/functional/graph/recording.hpp>

#include <cstring>
#include <utility>

namespace examples::functionalize {
namespace {

namespace functional = byre::functional;

using functional::AnyTensor;
using functional::CapturedProgram;
using functional::Program;
using functional::Tensors;

Tensors tensors_of(const std::vector<NamedTensor>& named) {
  Tensors tensors;
  for (const NamedTensor& each : named) {
    tensors.push_back(each.tensor);
  }
  return tensors;
}

Program program_of(const Script& script) {
  return [&script](const Tensors& inputs) { return tensors_of(run(script, inputs)); };
}

// ---- Without the pass.

Tensors run_on_graph(const Program& program, const Tensors& inputs) {
  const functional::Recording recording;
  const functional::RecordingScope scope(recording);
  Tensors recorded;
  for (const AnyTensor& input : inputs) {
    recorded.push_back(recording.input(input.sizes(), input.dtype()));
  }
  return functional::execute(recording.capture(program(recorded)), inputs);
}

Tensors run_as_it_is(const Program& program, const Tensors& inputs, Backend backend) {
  return backend == Backend::graph ? run_on_graph(program, inputs) : program(inputs);
}

// ---- With it.

/// Inputs that share memory are one input of the graph, which has the name of the first.
void name_inputs(CapturedProgram& captured, const std::vector<NamedTensor>& inputs) {
  auto named = captured.graph.inputs.begin();
  for (const std::size_t input : captured.program_inputs()) {
    named++->name = inputs[input].name;
  }
}

GraphReport simplified(CapturedProgram& captured) {
  GraphReport report{captured.graph, {}, 0, 0};
  report.dead = functional::eliminate_dead_code(captured.graph);
  report.again = functional::eliminate_common_subexpressions(captured.graph);
  report.simplified = captured.graph;
  return report;
}

Tensors run_functionalized(const Program& program, const CapturedProgram& captured,
                           const Tensors& inputs, const Options& options) {
  if (options.backend == Backend::graph) {
    return captured(inputs);
  }
  return functional::functionalize(program, options.functionalize)(inputs);
}

// ---- What has to be so.

bool is_same(const AnyTensor& a, const AnyTensor& b) {
  const byre::Tensor first = functional::to_cpu(a).contiguous();
  const byre::Tensor second = functional::to_cpu(b).contiguous();
  return first.sizes() == second.sizes() && first.dtype() == second.dtype() &&
         (first.nbytes() == 0 ||
          std::memcmp(first.raw_data(), second.raw_data(), first.nbytes()) == 0);
}

void compare(const std::vector<NamedTensor>& expected, const Tensors& found, const char* what,
             std::vector<std::string>& faults) {
  for (std::size_t index = 0; index < expected.size(); ++index) {
    if (!is_same(expected[index].tensor, found.at(index))) {
      faults.push_back(what + (" '" + expected[index].name) +
                       "' is not what aliasing on the CPU makes it.");
    }
  }
}

void check_graph(const GraphReport& graph, const Options& options,
                 std::vector<std::string>& faults) {
  const bool may_have_views = options.functionalize.reapply_views;
  for (const functional::Graph& each : {graph.captured, graph.simplified}) {
    if (!may_have_views && !functional::is_functional(each)) {
      faults.push_back("A graph has a view or an operation in place.");
    }
  }
}

}  // namespace

Report run(const Script& script, const Options& options) {
  const std::vector<NamedTensor> expected_inputs = make_inputs(script);
  Journal journal;
  for (const NamedTensor& input : expected_inputs) {
    journal.input(input.tensor, input.name);
  }
  const std::vector<NamedTensor> expected = run(script, tensors_of(expected_inputs), &journal);

  Report report;
  report.backend = options.backend;
  report.pass = options.pass;
  report.calls = {journal.text(), journal.calls(), journal.views(), journal.writes()};
  const std::vector<NamedTensor> inputs = make_inputs(script);
  const Program program = program_of(script);
  Tensors values;
  if (options.pass) {
    CapturedProgram captured =
        functional::capture(program, tensors_of(inputs), options.functionalize);
    name_inputs(captured, inputs);
    report.graph = simplified(captured);
    check_graph(*report.graph, options, report.faults);
    values = run_functionalized(program, captured, tensors_of(inputs), options);
  } else {
    values = run_as_it_is(program, tensors_of(inputs), options.backend);
  }
  compare(expected, values, "Tensor", report.faults);
  compare(expected_inputs, tensors_of(inputs), "Input", report.faults);
  for (std::size_t index = 0; index < expected.size(); ++index) {
    report.values.push_back({expected[index].name, values[index]});
  }
  return report;
}

}  // namespace examples::functionalize
