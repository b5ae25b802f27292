// SPDX-License-Identifier: BSL-1.0
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "../report/report.hpp"
#include "soak.hpp"

namespace byre::stress {
namespace {

using Json = nlohmann::ordered_json;

SoakedWorkload sum_of(const Soak& soak) {
  SoakedWorkload sum{"all"};
  for (const SoakedWorkload& workload : soak.workloads) {
    sum.runs += workload.runs;
    sum.operations += workload.operations;
    sum.rounds += workload.rounds;
    sum.counts += workload.counts;
  }
  return sum;
}

std::string memory(std::uint64_t nbytes) {
  return text_of_memory(static_cast<double>(nbytes));
}

void write_row(std::ostream& page, const SoakedWorkload& row) {
  const FaultCount faults = row.counts.faults.total();
  page << std::left << std::setw(28) << row.name << std::right << std::setw(6) << row.runs
       << std::setw(16) << with_commas(row.operations) << std::setw(13) << with_commas(row.rounds)
       << std::setw(14) << with_commas(row.counts.copies()) << std::setw(11)
       << with_commas(row.counts.stole) << std::setw(14) << with_commas(faults.injected)
       << std::setw(14) << with_commas(faults.survived) << std::setw(16)
       << with_commas(row.counts.delays) << '\n';
}

void write_table(std::ostream& page, const Soak& soak) {
  page << std::left << std::setw(28) << "workload" << std::right << std::setw(6) << "runs"
       << std::setw(16) << "operations" << std::setw(13) << "rounds" << std::setw(14) << "copies"
       << std::setw(11) << "steals" << std::setw(14) << "faults" << std::setw(14) << "survived"
       << std::setw(16) << "delays" << '\n';
  for (const SoakedWorkload& workload : soak.workloads) {
    write_row(page, workload);
  }
  write_row(page, sum_of(soak));
}

void write_survived_faults(std::ostream& page, const FaultCounts& faults) {
  page << "\nfaults survived, of those injected:\n";
  for (std::size_t at = 0; at < fault_count; ++at) {
    const auto fault = static_cast<Fault>(at);
    page << "  " << std::left << std::setw(12) << name_of(fault) << std::right << std::setw(12)
         << with_commas(faults[fault].survived) << " of " << with_commas(faults[fault].injected)
         << '\n';
  }
}

void write_memory(std::ostream& page, const Soak& soak) {
  const auto line = [&](const char* what, const std::string& before, const std::string& after) {
    page << "  " << std::left << std::setw(16) << what << std::right << std::setw(12) << before
         << std::setw(12) << after << '\n';
  };
  page << "\npeak memory " << memory(soak.peak_nbytes)
       << "; after the first rotation and at the end, trimmed:\n";
  line("in use", memory(soak.at_start.heap_nbytes), memory(soak.at_end.heap_nbytes));
  line("resident", memory(soak.at_start.resident_nbytes), memory(soak.at_end.resident_nbytes));
  line("mappings", with_commas(soak.at_start.mappings), with_commas(soak.at_end.mappings));
  line("open files", with_commas(soak.at_start.files), with_commas(soak.at_end.files));
  if (soak.rotations < 2 || !can_judge_growth()) {
    page << "  not judged: "
         << (can_judge_growth() ? "ended before the second rotation did\n"
                                : "a sanitizer keeps what is freed\n");
  }
}

Json json_of(const Resources& held) {
  return {{"resident_bytes", held.resident_nbytes},
          {"heap_bytes", held.heap_nbytes},
          {"mappings", held.mappings},
          {"open_files", held.files},
          {"threads", held.threads}};
}

}  // namespace

std::string text_of(const Soak& soak) {
  std::ostringstream page;
  page << "soak: seed " << soak.seed << ", " << std::fixed << std::setprecision(1)
       << soak.seconds / 60 << " minutes, " << soak.rotations << " rotations\n\n";
  write_table(page, soak);
  write_survived_faults(page, sum_of(soak).counts.faults);
  write_memory(page, soak);
  page << "\nfailures: " << (soak.failures.empty() ? "none" : "") << '\n';
  for (const std::string& failure : soak.failures) {
    page << failure << '\n';
  }
  return page.str();
}

nlohmann::ordered_json json_of(const Soak& soak) {
  Json workloads = Json::array();
  for (const SoakedWorkload& workload : soak.workloads) {
    workloads.push_back({{"workload", workload.name},
                         {"runs", workload.runs},
                         {"operations", workload.operations},
                         {"rounds", workload.rounds},
                         {"copies", workload.counts.copies()},
                         {"steals", workload.counts.stole},
                         {"faults", json_of(workload.counts.faults)},
                         {"delays", workload.counts.delays}});
  }
  return {{"seed", soak.seed},
          {"seconds", soak.seconds},
          {"rotations", soak.rotations},
          {"workloads", workloads},
          {"peak_resident_bytes", soak.peak_nbytes},
          {"at_start", json_of(soak.at_start)},
          {"at_end", json_of(soak.at_end)},
          {"growth_judged", soak.rotations >= 2 && can_judge_growth()},
          {"failures", soak.failures}};
}

}  // namespace byre::stress
