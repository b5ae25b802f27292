// SPDX-License-Identifier: BSL-1.0
#include "report.hpp"

#include <byre/config.hpp>
#include <nlohmann/json.hpp>

namespace examples::reshape_audit {
namespace {

using Json = nlohmann::ordered_json;

Json figures(const Score& score) {
  return {{"labelled", score.labelled},
          {"reported", score.reported},
          {"right", score.right},
          {"precision", score.precision()},
          {"recall", score.recall()}};
}

Json figures(const Label& label) {
  return {{"file", label.file},
          {"reshape", label.reshape},
          {"write", label.write},
          {"access", label.access},
          {"access_is", label.access_writes ? "write" : "read"},
          {"advice", to_string(label.advice)},
          {"is_mistake", label.is_mistake},
          {"seen", label.seen}};
}

Json figures(const Audit& audit) {
  const Pipeline& pipeline = audit.pipeline;
  Json all = {
      {"name", pipeline.name},
      {"what", pipeline.what},
      {"labels", Json::array()},
      {"reports", Json::array()},
      {"error", audit.error},
      {"rewritten_does_as",
       pipeline.rewrite.run == nullptr ? Json(nullptr) : Json(name_of(pipeline.rewrite.meant))}};
  for (const Label& label : audit.labels) {
    all["labels"].push_back(figures(label));
  }
  for (const auto& report : audit.reports) {
    all["reports"].push_back(Json::parse(to_json(report)));
  }
  return all;
}

}  // namespace

std::string json(const Report& report) {
  Json all = {{"byre", BYRE_VERSION_STRING},
              {"verified", report.is_right()},
              {"faults", Json::array()},
              {"triples", figures(score_of_triples(report.audits))},
              {"pipelines", figures(score_of_pipelines(report.audits))},
              {"advice",
               {{"as_labelled", count_advised(report.audits)},
                {"mistakes", count_mistakes(report.audits)},
                {"open", count_open(report.audits)}}},
              {"summary",
               {{"reshapes", report.summary.reshapes},
                {"violations", report.summary.violations},
                {"suppressed", report.summary.suppressed},
                {"untracked_escapes", report.summary.untracked_escapes}}},
              {"audits", Json::array()}};
  for (const Audit& audit : report.audits) {
    all["audits"].push_back(figures(audit));
    for (const std::string& fault : audit.faults) {
      all["faults"].push_back(std::string(audit.pipeline.name) + ": " + fault);
    }
  }
  return all.dump(2) + "\n";
}

}  // namespace examples::reshape_audit
