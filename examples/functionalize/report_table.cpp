// SPDX-License-Identifier: BSL-1.0
#include "run.hpp"

#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/graph/text.hpp>
#include <byre/tensor/print.hpp>

namespace examples::functionalize {
namespace {

namespace functional = byre::functional;

/// "1 view", "2 views".
std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// Each line behind two blanks.
std::string indented(const std::string& text) {
  std::string indented;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    indented += "  " + text.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return indented;
}

std::string calls_of(const CallReport& report) {
  return "The program: " + counted(report.calls, "call") + ", for " +
         counted(report.views, "view") + " and " + counted(report.writes, "write") + "\n\n" +
         report.text + "\n";
}

std::string graphs_of(const GraphReport& report) {
  std::string text = "After the pass: " + counted(report.captured.nodes.size(), "pure operation") +
                     "\n\n" + indented(functional::to_string(report.captured)) + "\nSimplified: ";
  if (report.dead + report.again == 0) {
    return text + "there is nothing to drop\n\n";
  }
  return text + counted(report.simplified.nodes.size(), "operation") + ", without " +
         std::to_string(report.dead) + " that no output needs and " + std::to_string(report.again) +
         " that another computes already\n\n" + indented(functional::to_string(report.simplified)) +
         "\n";
}

}  // namespace

std::string table(const Report& report) {
  std::string text = calls_of(report.calls);
  if (report.graph) {
    text += graphs_of(*report.graph);
  }
  text += "Computed on " + std::string(name_of(report.backend)) +
          (report.pass ? " with the pass\n\n" : " without the pass\n\n");
  for (const NamedTensor& each : report.values) {
    const std::string title = each.name + ": " + functional::describe(each.tensor) + " =";
    const std::string elements = byre::to_string(functional::to_cpu(each.tensor));
    text += elements.find('\n') == std::string::npos ? "  " + title + " " + elements + "\n"
                                                     : "  " + title + "\n" + indented(elements);
  }
  return text + (report.faults.empty() ? "\nAliasing on the CPU computes the same, bit for bit.\n"
                                       : "\nSomething is WRONG: see standard error.\n");
}

}  // namespace examples::functionalize
