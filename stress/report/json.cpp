// SPDX-License-Identifier: BSL-1.0
#include <nlohmann/json.hpp>

#include "report.hpp"

namespace byre::stress {
namespace {

using Json = nlohmann::ordered_json;

Json operations_of(const Counts& counts) {
  Json operations = Json::object();
  for (std::size_t at = 0; at < operation_count; ++at) {
    operations[std::string(name_of(static_cast<Operation>(at)))] = counts.operations[at];
  }
  return operations;
}

Json settings_of(const Settings& settings, bool is_race) {
  Json json{{"seed", settings.seed},
            {"threads", settings.threads},
            {"sizes", text_of(settings.sizes)},
            {"protocol", name_of(settings.protocol)},
            {"perturb", text_of(settings.perturbation)}};
  if (!is_race) {
    json["storages"] = slots_of_each(settings) * settings.threads;
    json["mix"] = text_of(settings.mix);
    json["faults"] = text_of(settings.faults);
  }
  return json;
}

}  // namespace

Json json_of(const FaultCounts& counts) {
  Json faults = Json::object();
  for (std::size_t at = 0; at < fault_count; ++at) {
    const auto fault = static_cast<Fault>(at);
    faults[std::string(name_of(fault))] = {{"injected", counts[fault].injected},
                                           {"survived", counts[fault].survived}};
  }
  return faults;
}

Json json_of(const Outcome& outcome) {
  const Counts& counts = outcome.counts;
  Json json{
      {"workload", outcome.workload},
      {"settings", settings_of(outcome.settings, !outcome.digest)},
      {"seconds", outcome.seconds},
      {"operations", outcome.operations},
      {"lazy_clones", counts.lazy_clones},
      {"writes",
       {{"already_unique", counts.already_unique},
        {"stole", counts.stole},
        {"copied", counts.copied},
        {"found_shared", counts.writes_to_shared},
        {"found_read_only", counts.writes_to_read_only}}},
      {"copies", counts.copies()},
      {"bytes_copied", counts.bytes_copied},
      {"waits", outcome.counters.waits},
      {"delays", counts.delays},
      {"faults", json_of(counts.faults)},
      {"failures", outcome.failures},
      {"last_operations", outcome.last_operations},
      {"again", command_of(outcome.workload, outcome.settings)},
  };
  if (outcome.digest) {
    json["operations_by_kind"] = operations_of(counts);
    json["digest"] = *outcome.digest;
    json["bytes_checked"] = counts.bytes_checked;
  }
  json[outcome.digest ? "checkpoints" : "rounds"] = outcome.checkpoints;
  return json;
}

}  // namespace byre::stress
