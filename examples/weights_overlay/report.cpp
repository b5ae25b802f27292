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

/// Over all requests and branches.
struct Totals {
  explicit Totals(const RunResult& run) {
    for (const Accounts& accounts : run.accounts) {
      overlays += accounts.overlays;
      shared_nbytes += accounts.shared_nbytes;
      copied_nbytes = copied_nbytes && accounts.own_nbytes
                          ? std::optional(*copied_nbytes + *accounts.own_nbytes)
                          : std::nullopt;
    }
  }

  std::size_t overlays = 0;
  std::size_t shared_nbytes = 0;
  std::optional<std::size_t> copied_nbytes = 0;
};

template <class Count>
std::string mebibytes_if_known(const std::optional<Count>& nbytes) {
  return nbytes ? mebibytes(*nbytes) : "n/a";
}

/// A row of the table: its name and how a run's figure reads.
struct Row {
  const char* name;
  std::function<std::string(const RunResult&)> figure;
};

std::vector<Row> all_rows() {
  return {
      {"open the model", [](const RunResult& run) { return milliseconds(run.open_ns); }},
      {"set up a request", [](const RunResult& run) { return milliseconds(run.set_up_ns); }},
      {"change its rows", [](const RunResult& run) { return milliseconds(run.change_ns); }},
      {"branch, and change", [](const RunResult& run) { return milliseconds(run.branch_ns); }},
      {"compute an output", [](const RunResult& run) { return milliseconds(run.answer_ns); }},
      {"resident memory",
       [](const RunResult& run) { return mebibytes_if_known(run.resident_nbytes); }},
      {"bytes copied",
       [](const RunResult& run) { return mebibytes_if_known(Totals(run).copied_nbytes); }},
      {"bytes shared", [](const RunResult& run) { return mebibytes(Totals(run).shared_nbytes); }},
      {"overlays", [](const RunResult& run) { return std::to_string(Totals(run).overlays); }},
  };
}

template <class Count>
Json json_if_known(const std::optional<Count>& nbytes) {
  return nbytes ? Json(*nbytes) : Json(nullptr);
}

Json figures(const RunResult& run) {
  const Totals totals(run);
  return {
      {"copying", to_string(run.copying)},
      {"open_ns", run.open_ns},
      {"set_up_ns", run.set_up_ns},
      {"change_ns", run.change_ns},
      {"branch_ns", run.branch_ns},
      {"answer_ns", run.answer_ns},
      {"resident_bytes", json_if_known(run.resident_nbytes)},
      {"bytes_copied", json_if_known(totals.copied_nbytes)},
      {"bytes_shared", totals.shared_nbytes},
      {"overlays", totals.overlays},
  };
}

}  // namespace

std::string table(const Report& report) {
  const Plan& plan = report.plan;
  std::string text = format("%zu layers of %zu x %zu f32 = ", plan.layers, plan.width, plan.width) +
                     mebibytes(plan.model_nbytes()) +
                     format(", %zu requests that change %zu rows of %zu layers,\n", plan.requests,
                            plan.rows, plan.changed) +
                     format("and a branch of each that changes as much.\n\n%-20s", "");
  for (const RunResult& run : report.runs) {
    text += format(" %16s", to_string(run.copying));
  }
  for (const Row& row : all_rows()) {
    text += format("\n%-20s", row.name);
    for (const RunResult& run : report.runs) {
      text += format(" %16s", row.figure(run).c_str());
    }
  }
  text += report.faults.empty()
              ? format("\n\nAll %zu outputs are the same, bit for bit, and the files unchanged.\n",
                       2 * plan.requests)
              : format("\n\n%zu things are WRONG.\n", report.faults.size());
  return text;
}

std::string json(const Report& report) {
  const Plan& plan = report.plan;
  Json runs = Json::array();
  std::set<std::vector<float>> outputs;
  for (const RunResult& run : report.runs) {
    runs.push_back(figures(run));
    outputs.insert(run.outputs.begin(), run.outputs.end());
  }
  const Json all = {
      {"byre", BYRE_VERSION_STRING},
      {"model",
       {{"layers", plan.layers},
        {"width", plan.width},
        {"layer_bytes", plan.layer_nbytes()},
        {"bytes", plan.model_nbytes()}}},
      {"requests", plan.requests},
      {"changed_layers", plan.changed},
      {"changed_rows", plan.rows},
      {"seed", plan.seed},
      {"runs", runs},
      {"distinct_outputs", outputs.size()},
      {"verified", report.faults.empty()},
      {"faults", report.faults},
  };
  return all.dump(2) + "\n";
}

}  // namespace examples::weights_overlay
