// SPDX-License-Identifier: BSL-1.0
#include "checksum.hpp"
#include "report.hpp"

#include <byre/config.hpp>
#include <nlohmann/json.hpp>

namespace examples::live_checkpoint {
namespace {

using Json = nlohmann::ordered_json;

Json snapshots(const RunResult& run) {
  Json list = Json::array();
  for (const WrittenSnapshot& snapshot : run.written) {
    list.push_back({{"token", snapshot.token},
                    {"file", snapshot.file.string()},
                    {"kind", snapshot.is_delta ? "delta" : "full"},
                    {"bytes", snapshot.nbytes},
                    {"tiles", snapshot.tiles},
                    {"crc32", to_hex(snapshot.checksum)}});
  }
  return list;
}

/// byre's own counts, or null from a build without them.
Json copying(const RunResult& run) {
  if (BYRE_STATS == 0) {
    return nullptr;
  }
  return {
      {"lazy_clones", run.copying.lazy_clones},
      {"copies", run.copying.copies},
      {"overlays", run.copying.overlays},
      {"bytes_copied", run.copying.bytes_copied},
      {"bytes_elided", run.copying.bytes_not_copied},
      {"steals", run.copying.steals},
  };
}

Json figures(const RunResult& run, const Plan& plan) {
  return {
      {"mode", to_string(run.mode)},
      {"tile_rows", run.tile_rows},
      {"tile_bytes", run.tile_rows * plan.row_nbytes()},
      {"tiles", run.tiles},
      {"stall",
       {{"events", run.stalls.events},
        {"worst_ns", run.stalls.worst_ns},
        {"worst_processor_ns", run.stalls.worst_processor_ns},
        {"percentile_99_ns", run.stalls.percentile_99_ns},
        {"worst_snapshot_ns", run.stalls.worst_snapshot_ns},
        {"total_ns", run.stalls.total_ns}}},
      {"waited_for_writer_ns", run.waited_for_writer_ns},
      {"training_ns", run.training_ns},
      {"finishing_ns", run.finishing_ns},
      {"tokens_per_second", static_cast<double>(plan.tokens) / run.seconds()},
      {"copying", copying(run)},
      {"peak_resident_bytes", run.peak_nbytes ? Json(*run.peak_nbytes) : Json(nullptr)},
      {"page_faults", run.page_faults ? Json(*run.page_faults) : Json(nullptr)},
      {"written_bytes", run.written_nbytes()},
      {"snapshots", snapshots(run)},
  };
}

}  // namespace

std::string json(const Report& report, const RunSettings& settings) {
  const Plan& plan = *report.plan;
  const Corpus& corpus = *report.corpus;
  Json runs = Json::array();
  for (const RunResult& run : report.runs) {
    runs.push_back(figures(run, plan));
  }
  const Json all = {
      {"byre", BYRE_VERSION_STRING},
      {"text",
       {{"files", corpus.files},
        {"files_not_text", corpus.files_not_text},
        {"files_unreadable", corpus.files_unreadable},
        {"bytes", corpus.nbytes},
        {"tokens", plan.text.size()}}},
      {"table",
       {{"rows", plan.rows}, {"dimensions", plan.dimensions}, {"bytes", plan.table_nbytes()}}},
      {"seed", plan.seed},
      {"tokens", plan.tokens},
      {"snapshot_every", plan.snapshot_every},
      {"queue", settings.queue_capacity},
      {"runs", runs},
      {"verified", report.faults.empty()},
      {"faults", report.faults},
  };
  // Paths may be any bytes, JSON may not.
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace examples::live_checkpoint
