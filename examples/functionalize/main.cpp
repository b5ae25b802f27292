// SPDX-License-Identifier: BSL-1.0
// functionalize: runs a small program on a backend that has neither views nor operations in place. See README.md.
#include "format.hpp"
#include "interpreter.hpp"
#include "run_program.hpp"
#include "same_bits.hpp"

#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/functionalize/capture.hpp>
#include <byre/functional/functionalize/transform.hpp>
#include <byre/functional/graph/text.hpp>
#include <byre/tensor/print.hpp>

#include <fstream>
#include <iterator>

namespace examples::functionalize {
namespace {

namespace functional = byre::functional;

using functional::AnyTensor;
using functional::Program;
using functional::Tensors;

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (path.empty() || !file.good()) {
    throw Failure("Cannot read the program '" + path + "'. Name a file that has one.");
  }
  return text;
}

Tensors tensors_of(const std::vector<NamedTensor>& named) {
  Tensors tensors;
  for (const NamedTensor& each : named) {
    tensors.push_back(each.tensor);
  }
  return tensors;
}

void compare(const std::vector<NamedTensor>& expected, const Tensors& found,
             std::vector<std::string>& faults) {
  for (std::size_t index = 0; index < expected.size(); ++index) {
    if (!are_same_bits(functional::to_cpu(expected[index].tensor),
                       functional::to_cpu(found.at(index)))) {
      faults.push_back("'" + expected[index].name + "' is not what aliasing on the CPU makes it.");
    }
  }
}

Report work(const Arguments& given) {
  const bool on_graph = given.choice("backend", {"cpu", "graph"}) == 1;
  const std::string& path = given.text("");
  const Script script(text_of(path), path.substr(path.rfind('/') + 1));
  const Program program = [&](const Tensors& in) { return tensors_of(script.run(in)); };

  // As it is, on the CPU: what the backend's results have to be.
  Report report;
  const auto expected_inputs = script.make_inputs();
  const auto expected = script.run(tensors_of(expected_inputs));

  const auto inputs = script.make_inputs();
  functional::CapturedProgram captured = functional::capture(program, tensors_of(inputs));
  functional::Graph& graph = captured.graph;
  // Inputs that share memory are one input of the graph, which has the name of the first.
  auto input = graph.inputs.begin();
  for (const std::size_t number : captured.program_inputs()) {
    input++->name = inputs[number].name;
  }
  // Operations that no output needs, or that are computed before.
  std::size_t dropped = functional::eliminate_dead_code(graph);
  dropped += functional::eliminate_common_subexpressions(graph);
  if (!functional::is_functional(graph)) {
    report.faults.push_back("The graph has a view or an operation in place.");
  }
  report.figures["graph"] = functional::to_string(graph);
  report.figures["dropped"] = dropped;
  report.text = format("After the pass: %zu pure operations, without %zu that were dropped\n\n",
                       graph.nodes.size(), dropped) +
                functional::to_string(graph) + "\n";
  const Tensors values = on_graph ? captured(tensors_of(inputs))
                                  : functional::functionalize(program)(tensors_of(inputs));
  compare(expected, values, report.faults);
  compare(expected_inputs, tensors_of(inputs), report.faults);

  report.figures["values"] = Json::object();
  for (std::size_t index = 0; index < expected.size(); ++index) {
    const std::string elements = byre::to_string(functional::to_cpu(values[index]));
    report.figures["values"][expected[index].name] = elements;
    report.text += expected[index].name + ": " + functional::describe(values[index]) + " =" +
                   (elements.find('\n') == elements.npos ? " " : "\n") + elements + "\n";
  }
  report.text += report.faults.empty() ? "\nAliasing on the CPU computes the same, bit for bit.\n"
                                       : "\nSomething is WRONG.\n";
  return report;
}

}  // namespace
}  // namespace examples::functionalize

int main(int argc, char** argv) {
  return examples::run_program(
      {.name = "functionalize",
       .about =
           R"(Runs a small program over tensors, with views and operations in place, on a backend that may have
neither, and prints the graph of pure operations that the functionalize pass makes of it, and all
tensors that have a name in the end. These have to be what plain aliasing on the CPU makes.

  x = zeros(2)
  x1 = x.view(1, 2)
  x[1].fill_(2)
  y = x1 + 3
)",
       .options = {{"backend", "cpu", "cpu, or graph, which is executed on the CPU"}},
       .work = examples::functionalize::work,
       .word = "PROGRAM"},
      argc, argv);
}
