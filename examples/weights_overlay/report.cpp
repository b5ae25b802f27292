// SPDX-License-Identifier: BSL-1.0
#include "report.hpp"

#include "format.hpp"

#include <byre/config.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

namespace examples::weights_overlay {
namespace {

using Json = nlohmann::ordered_json;

/// A row of the table: its name and how a run's figure reads.
struct Row {
  const char* name;
  std::function<std::string(const RunResult&)> figure;
};

std::vector<Row> all_rows() {
  return {
      {"set up a request", [](const RunResult& run) { return milliseconds(run.set_up_ns); }},
      {"  the slowest", [](const RunResult& run) { return milliseconds(run.worst_set_up_ns); }},
      {"change its layers", [](const RunResult& run) { return milliseconds(run.change_ns); }},
      {"compute its output", [](const RunResult& run) { return milliseconds(run.answer_ns); }},
      {"resident memory",
       [](const RunResult& run) {
         return run.resident_nbytes ? mebibytes(*run.resident_nbytes) : "n/a";
       }},
      {"bytes copied", [](const RunResult& run) { return mebibytes(run.copied_nbytes); }},
      {"bytes shared", [](const RunResult& run) { return mebibytes(run.shared_nbytes); }},
  };
}

Json figures(const RunResult& run) {
  return {
      {"cloning", to_string(run.cloning)},
      {"set_up_ns", run.set_up_ns},
      {"worst_set_up_ns", run.worst_set_up_ns},
      {"change_ns", run.change_ns},
      {"answer_ns", run.answer_ns},
      {"resident_bytes", run.resident_nbytes ? Json(*run.resident_nbytes) : Json(nullptr)},
      {"bytes_copied", run.copied_nbytes},
      {"bytes_shared", run.shared_nbytes},
  };
}

}  // namespace

std::string table(const Report& report) {
  const Plan& plan = report.plan;
  std::string text =
      format("%zu layers of %zu x %zu f32 = ", plan.layers, plan.width, plan.width) +
      mebibytes(plan.model_nbytes()) +
      format(", %zu requests that change %zu each\n\n%-20s %16s %16s", plan.requests, plan.changed,
             "", to_string(report.deep.cloning), to_string(report.lazy.cloning));
  for (const Row& row : all_rows()) {
    text += format("\n%-20s %16s %16s", row.name, row.figure(report.deep).c_str(),
                   row.figure(report.lazy).c_str());
  }
  text += report.faults.empty()
              ? format("\n\nAll %zu outputs are the same, bit for bit, and the files unchanged.\n",
                       plan.requests)
              : format("\n\n%zu things are WRONG.\n", report.faults.size());
  return text;
}

std::string json(const Report& report) {
  const Plan& plan = report.plan;
  const Json all = {
      {"byre", BYRE_VERSION_STRING},
      {"model",
       {{"layers", plan.layers},
        {"width", plan.width},
        {"layer_bytes", plan.layer_nbytes()},
        {"bytes", plan.model_nbytes()}}},
      {"requests", plan.requests},
      {"changed_layers", plan.changed},
      {"seed", plan.seed},
      {"runs", {figures(report.deep), figures(report.lazy)}},
      {"distinct_outputs", std::set(report.lazy.outputs.begin(), report.lazy.outputs.end()).size()},
      {"verified", report.faults.empty()},
      {"faults", report.faults},
  };
  return all.dump(2) + "\n";
}

}  // namespace examples::weights_overlay
