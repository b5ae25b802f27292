// SPDX-License-Identifier: BSL-1.0
#include <nlohmann/json.hpp>

#include "report.hpp"

namespace byre::stress {
namespace {

using Json = nlohmann::ordered_json;

Json operations_of(const Tally& tally) {
  Json operations = Json::object();
  for (std::size_t at = 0; at < operation_count; ++at) {
    operations[std::string(name_of(static_cast<Operation>(at)))] = tally.operations[at];
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
  const Tally& tally = outcome.tally;
  Json json{
      {"workload", outcome.workload},
      {"settings", settings_of(outcome.settings, !outcome.digest)},
      {"seconds", outcome.seconds},
      {"operations", outcome.operations},
      {"lazy_clones", tally.lazy_clones},
      {"writes",
       {{"already_unique", tally.already_unique},
        {"stole", tally.stole},
        {"copied", tally.copied},
        {"found_shared", tally.writes_to_shared},
        {"found_read_only", tally.writes_to_read_only}}},
      {"copies", tally.copies()},
      {"bytes_copied", tally.bytes_copied},
      {"waits", outcome.counted.waits},
      {"delays", tally.delays},
      {"faults", json_of(tally.faults)},
      {"failures", outcome.failures},
      {"last_operations", outcome.last_operations},
      {"again", command_of(outcome.workload, outcome.settings)},
  };
  if (outcome.digest) {
    json["operations_by_kind"] = operations_of(tally);
    json["digest"] = *outcome.digest;
    json["bytes_checked"] = tally.bytes_checked;
  }
  json[outcome.digest ? "checkpoints" : "rounds"] = outcome.checkpoints;
  return json;
}

}  // namespace byre::stress
