// SPDX-License-Identifier: BSL-1.0
#include "report.hpp"

#include <byre/config.hpp>
#include <nlohmann/json.hpp>

namespace examples::diffusion {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Series& series) {
  return {{"count", series.ns.size()},
          {"median_ns", series.median()},
          {"least_ns", series.least()},
          {"most_ns", series.most()}};
}

Json json_of(const FormResult& form) {
  return {{"form", form.kind->name},
          {"step", json_of(form.step)},
          {"prepare", json_of(form.prepare)},
          {"peak_bytes", form.peak_nbytes},
          {"dispatches", form.dispatches},
          {"barriers", form.barriers},
          {"copies", form.copies},
          {"bytes_copied", form.bytes_copied},
          {"submissions", form.submissions},
          {"largest_difference", form.difference}};
}

Json json_of(const SnapshotResult& snapshots) {
  return {{"count", snapshots.count},
          {"bytes", snapshots.nbytes},
          {"take", json_of(snapshots.take)},
          {"bytes_copied", snapshots.bytes_copied},
          {"peak_bytes", snapshots.peak_nbytes},
          {"run_ns", snapshots.run_ns},
          {"replay_ns", snapshots.replay_ns},
          {"differing_steps", snapshots.differing}};
}

Json json_of(const DeviceResult& device) {
  Json forms = Json::array();
  for (const FormResult& form : device.forms) {
    forms.push_back(json_of(form));
  }
  return {{"name", device.name},
          {"graph_nodes", device.graph_nodes},
          {"bytes_uploaded", device.bytes_uploaded},
          {"bytes_downloaded", device.bytes_downloaded},
          {"snapshots", json_of(device.snapshots)},
          {"host_clone", json_of(device.host_clone)},
          {"device_clone", json_of(device.device_clone)},
          {"forms", forms},
          {"validation_messages", device.validation_messages}};
}

}  // namespace

std::string json(const Report& report) {
  const Plan& plan = report.options.plan;
  const std::vector<std::string> faults = faults_of(report);
  Json ratios = Json::array();
  for (const Ratio& ratio : ratios_of(report)) {
    ratios.push_back({{"form", ratio.form->kind->name},
                      {"beside", ratio.beside->kind->name},
                      {"time", ratio.time},
                      {"least_time", ratio.least_time},
                      {"most_time", ratio.most_time},
                      {"memory", ratio.memory}});
  }
  const Json all = {
      {"byre", BYRE_VERSION_STRING},
      {"size", plan.size},
      {"steps", plan.steps},
      {"border", plan.periodic ? "periodic" : "fixed"},
      {"grid_bytes", plan.grid_nbytes()},
      {"repetitions", report.options.repetitions},
      {"host", {{"step", json_of(report.host.step)}, {"bytes_copied", report.host.bytes_copied}}},
      {"device", report.device ? json_of(*report.device) : Json(nullptr)},
      {"ratios", ratios},
      {"frames", report.frames},
      {"bound", bound},
      {"verified", faults.empty()},
      {"faults", faults},
  };
  return all.dump(2) + "\n";
}

}  // namespace examples::diffusion
