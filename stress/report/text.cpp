// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "report.hpp"

namespace byre::stress {
namespace {

void write_faults(std::ostream& text, const FaultCounts& faults) {
  if (faults.total().injected == 0) {
    return;
  }
  text << "  faults survived " << with_commas(faults.total().survived) << " of "
       << with_commas(faults.total().injected) << ":";
  const char* separator = " ";
  for (std::size_t at = 0; at < fault_count; ++at) {
    const auto fault = static_cast<Fault>(at);
    if (const FaultCount& count = faults[fault]; count.injected != 0) {
      text << separator << name_of(fault) << ' ' << with_commas(count.survived);
      separator = ", ";
    }
  }
  text << '\n';
}

void write_failures(std::ostream& text, const Outcome& outcome) {
  text << "  FAILED:\n";
  for (const std::string& failure : outcome.failures) {
    text << "    " << failure << '\n';
  }
  if (!outcome.last_operations.empty()) {
    text << "  the last operations of every thread:\n";
  }
  for (const std::string& line : outcome.last_operations) {
    text << "    " << line << '\n';
  }
  text << "  again: " << command_of(outcome.workload, outcome.settings) << '\n';
}

}  // namespace

std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) {
    text.insert(at - 3, 1, ',');
  }
  return text;
}

std::string text_of_memory(double nbytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; std::abs(nbytes) >= 1024 && unit + 1 < std::size(units); ++unit) {
    nbytes /= 1024;
  }
  std::ostringstream text;
  text << std::fixed << std::setprecision(unit == 0 ? 0 : 1) << nbytes << ' ' << units[unit];
  return text.str();
}

std::string text_of(const Outcome& outcome) {
  const Counts& counts = outcome.counts;
  std::ostringstream text;
  text << outcome.workload << ": seed " << outcome.settings.seed << ", " << outcome.settings.threads
       << " threads, " << name_of(outcome.settings.protocol)
       << (outcome.settings.perturbation == no_perturbation ? "" : ", perturbed") << "\n  "
       << with_commas(outcome.operations) << " operations in " << std::fixed << std::setprecision(1)
       << outcome.seconds << " s, "
       << with_commas(static_cast<std::uint64_t>(static_cast<double>(outcome.operations) /
                                                 std::max(outcome.seconds, 1e-9)))
       << "/s"
       << (outcome.digest
               ? "; " + text_of_memory(static_cast<double>(counts.bytes_checked)) + " checked"
               : "")
       << "\n  " << with_commas(counts.lazy_clones) << " lazy clones, "
       << with_commas(counts.copies()) << " copies of "
       << text_of_memory(static_cast<double>(counts.bytes_copied)) << ", "
       << with_commas(counts.stole) << " steals, "
       << with_commas(static_cast<std::uint64_t>(outcome.counters.waits)) << " waits\n";
  write_faults(text, counts.faults);
  if (counts.delays != 0) {
    text << "  " << with_commas(counts.delays) << " delays at atomic steps\n";
  }
  if (outcome.settings.operations && outcome.digest) {
    text << "  digest of the operations " << std::hex << *outcome.digest << std::dec << '\n';
  }
  if (!outcome.failures.empty()) {
    write_failures(text, outcome);
  } else {
    text << "  all right at " << with_commas(outcome.checkpoints)
         << (outcome.digest ? " checkpoint" : " round")
         << (outcome.checkpoints == 1 ? "\n" : "s\n");
  }
  return text.str();
}

}  // namespace byre::stress
