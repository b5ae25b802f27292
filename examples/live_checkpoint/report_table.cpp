// SPDX-License-Identifier: BSL-1.0
#include "report.hpp"

#include "format.hpp"

#include <byre/config.hpp>
#include <functional>

namespace examples::live_checkpoint {
namespace {

std::string count(std::int64_t number) {
  return format("%lld", static_cast<long long>(number));
}

/// A row of the table: its name and how a run's figure reads.
struct Row {
  const char* name;
  std::function<std::string(const RunResult&)> figure;
};

std::vector<Row> stall_rows() {
  return {
      {"worst stall", [](const RunResult& run) { return milliseconds(run.stalls.worst_ns); }},
      {"  processor time",
       [](const RunResult& run) { return milliseconds(run.stalls.worst_processor_ns); }},
      {"  99th percentile",
       [](const RunResult& run) { return milliseconds(run.stalls.percentile_99_ns); }},
      {"costliest snapshot",
       [](const RunResult& run) { return milliseconds(run.stalls.worst_snapshot_ns); }},
      {"total stall", [](const RunResult& run) { return milliseconds(run.stalls.total_ns); }},
      {"stall events",
       [](const RunResult& run) { return count(static_cast<std::int64_t>(run.stalls.events)); }},
      {"waited for the writer",
       [](const RunResult& run) { return milliseconds(run.waited_for_writer_ns); }},
  };
}

/// byre's own counts, which a build may be without.
std::vector<Row> copy_rows() {
  if (BYRE_STATS == 0) {
    return {{"copies", [](const RunResult&) { return "n/a"; }}};
  }
  return {
      {"copies", [](const RunResult& run) { return count(run.copying.copies); }},
      {"  bytes copied", [](const RunResult& run) { return mebibytes(run.copying.bytes_copied); }},
      {"  bytes elided",
       [](const RunResult& run) { return mebibytes(run.copying.bytes_not_copied); }},
  };
}

/// Of the snapshots after the first, on average.
std::string written_later(const RunResult& run) {
  if (run.written.size() < 2) {
    return "n/a";
  }
  const std::uint64_t later_nbytes = run.written_nbytes() - run.written.front().nbytes;
  return mebibytes(later_nbytes / (run.written.size() - 1));
}

std::vector<Row> part_rows(const Plan& plan) {
  return {
      {"tiles", [](const RunResult& run) { return count(run.tiles); }},
      {"  of",
       [&plan](const RunResult& run) {
         return format("%zu KiB", run.tile_rows * plan.row_nbytes() / 1024);
       }},
      {"first file", [](const RunResult& run) { return mebibytes(run.written.front().nbytes); }},
      {"each further file", written_later},
  };
}

std::vector<Row> other_rows(const Plan& plan) {
  const double tokens = static_cast<double>(plan.tokens);
  return {
      {"page faults",
       [](const RunResult& run) {
         return run.page_faults ? count(static_cast<std::int64_t>(*run.page_faults)) : "n/a";
       }},
      {"peak memory",
       [](const RunResult& run) { return run.peak_nbytes ? mebibytes(*run.peak_nbytes) : "n/a"; }},
      {"training speed",
       [tokens](const RunResult& run) { return format("%.0f tok/s", tokens / run.seconds()); }},
  };
}

std::vector<Row> all_rows(const Plan& plan) {
  std::vector<Row> rows = stall_rows();
  for (const auto& more : {copy_rows(), part_rows(plan), other_rows(plan)}) {
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return rows;
}

}  // namespace

std::string describe_work(const Report& report) {
  const Plan& plan = *report.plan;
  const Corpus& corpus = *report.corpus;
  return format("%llu tokens, %.2f times the text", static_cast<unsigned long long>(plan.tokens),
                static_cast<double>(plan.tokens) / static_cast<double>(plan.text.size())) +
         format(" (%zu files, %s)\n", corpus.files, mebibytes(corpus.nbytes).c_str()) +
         format("%u words x %u dimensions = %s", plan.rows, plan.dimensions,
                mebibytes(plan.table_nbytes()).c_str()) +
         "\n" +
         format("%llu snapshots, one every %llu tokens\n",
                static_cast<unsigned long long>(plan.snapshots()),
                static_cast<unsigned long long>(plan.snapshot_every));
}

std::string table(const Report& report) {
  std::string text = format("%-22s", "");
  for (const RunResult& run : report.runs) {
    text += format(" %14s", to_string(run.mode));
  }
  for (const Row& row : all_rows(*report.plan)) {
    text += format("\n%-22s", row.name);
    for (const RunResult& run : report.runs) {
      text += format(" %14s", row.figure(run).c_str());
    }
  }
  const std::size_t snapshots = report.runs.size() * report.plan->snapshots();
  text += "\n\n";
  if (report.faults.empty()) {
    text +=
        format("All %zu snapshots are the table as it was: checked against a replay.\n", snapshots);
  } else {
    text += format("%zu of %zu snapshots are WRONG.\n", report.faults.size(), snapshots);
  }
  return text;
}

}  // namespace examples::live_checkpoint
