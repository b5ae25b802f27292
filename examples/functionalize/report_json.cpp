// SPDX-License-Identifier: BSL-1.0
#include "run.hpp"

#include <byre/config.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/graph/text.hpp>
#include <byre/tensor/print.hpp>
#include <nlohmann/json.hpp>

#include <limits>

namespace examples::functionalize {
namespace {

using Json = nlohmann::ordered_json;

namespace functional = byre::functional;

Json figures(const functional::Graph& graph) {
  return {{"operations", graph.nodes.size()},
          {"is_functional", functional::is_functional(graph)},
          {"text", functional::to_string(graph)}};
}

Json figures(const NamedTensor& named) {
  byre::PrintOptions whole;
  whole.threshold = std::numeric_limits<std::int64_t>::max();
  const byre::Tensor& tensor = functional::to_cpu(named.tensor);
  return {{"name", named.name},
          {"dtype", byre::name_of(tensor.dtype())},
          {"sizes", tensor.sizes()},
          {"elements", byre::to_string(tensor, whole)}};
}

}  // namespace

std::string json(const Report& report) {
  Json all = {{"byre", BYRE_VERSION_STRING},
              {"backend", name_of(report.backend)},
              {"pass", report.pass},
              {"program",
               {{"calls", report.calls.calls},
                {"views", report.calls.views},
                {"writes", report.calls.writes},
                {"text", report.calls.text}}}};
  if (report.graph) {
    all["graph"] = {{"captured", figures(report.graph->captured)},
                    {"dead", report.graph->dead},
                    {"again", report.graph->again},
                    {"simplified", figures(report.graph->simplified)}};
  }
  all["values"] = Json::array();
  for (const NamedTensor& each : report.values) {
    all["values"].push_back(figures(each));
  }
  all["verified"] = report.faults.empty();
  all["faults"] = report.faults;
  return all.dump(1) + "\n";
}

}  // namespace examples::functionalize
