// SPDX-License-Identifier: BSL-1.0
#include "bug_run.hpp"

#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

#include "lifetime_checked.hpp"
#include "shared_report.hpp"
#include "support/child_process.hpp"
#include "support/sanitized.hpp"

namespace byre::stress::seeded_bugs {
namespace {

using test::ChildProcess;

/// Of this process, if it is a child.
SharedReport* report_of_child = nullptr;

/// The work of a child.
void run_and_report(Race::Run run, RaceSettings settings, SharedReport& report) {
  report_of_child = &report;
  report.begin_round(1);
  settings.after_round = [&](const RaceResult& result) {
    if (!result.failures.empty()) {
      report.write(Verdict::wrong_result, result.failures.front());
      // A sanitizer may report more, at the end of the race or of the process.
      if (!test::is_sanitized) {
        ::_exit(0);
      }
    }
    report.begin_round(std::min(result.rounds + 1, settings.rounds));
  };
  run(settings);
}

/// The line of a child's output that has `mark` in it, from the mark on; or none.
std::string line_with(std::string_view mark, const std::string& output) {
  const std::size_t begin = output.find(mark);
  const std::size_t end = begin == std::string::npos ? begin : output.find('\n', begin);
  return end == std::string::npos ? "" : output.substr(begin, end - begin);
}

/// Sanitizers end a report by a line with this.
constexpr std::string_view summary_mark = "SUMMARY: ";

/// Returns when the child has ended, or kills it. True if it hung.
bool follow(ChildProcess& child, const SharedReport& report, std::chrono::seconds hang_timeout) {
  std::uint64_t rounds = report.rounds();
  for (;;) {
    switch (child.listen(hang_timeout)) {
      case ChildProcess::Heard::end:
        return false;
      case ChildProcess::Heard::something:
        if (!line_with(summary_mark, child.text()).empty()) {
          child.kill();
          return false;
        }
        break;
      case ChildProcess::Heard::nothing:
        if (std::exchange(rounds, report.rounds()) == report.rounds()) {
          child.kill();
          return true;
        }
    }
  }
}

Finding finding_of(const test::Exit& exit, bool is_hang, const std::string& output,
                   const SharedReport& report) {
  const std::string first_line = output.substr(0, output.find('\n'));
  if (const std::string summary = line_with(summary_mark, output); !summary.empty()) {
    return {Verdict::sanitizer_report, report.rounds(), summary.substr(summary_mark.size())};
  }
  if (is_hang) {
    return {Verdict::hang, report.rounds(), "no further round ended"};
  }
  if (const auto signal = exit.signal()) {
    return {Verdict::crash, report.rounds(),
            first_line.empty() ? ::strsignal(*signal) : first_line};
  }
  const Finding finding = report.finding();
  if (finding.verdict == Verdict::not_found && !exit.is_success()) {
    throw std::runtime_error("a seeded bug could not be run: " + exit.text() + ", " + first_line);
  }
  return finding;
}

}  // namespace

void report_use_after_release(std::string_view step) noexcept {
  report_of_child->write(Verdict::use_after_release, step);
  ::_exit(0);
}

Finding run_in_child(Race::Run run, const RaceSettings& settings,
                     std::chrono::seconds hang_timeout) {
  SharedReport& report = SharedReport::map();
  ChildProcess child([&](int output) {
    test::redirect(STDERR_FILENO, output);
    run_and_report(run, settings, report);
    std::exit(0);  // looks for leaks, where a sanitizer does
  });
  const bool is_hang = follow(child, report, hang_timeout);
  const test::Exit exit = child.wait();
  const Finding finding = finding_of(exit, is_hang, child.text(), report);
  report.unmap();
  return finding;
}

std::string_view name_of(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::not_found:
      return "not found";
    case Verdict::wrong_result:
      return "wrong result";
    case Verdict::use_after_release:
      return "use after release";
    case Verdict::sanitizer_report:
      return "sanitizer report";
    case Verdict::crash:
      return "crash";
    case Verdict::hang:
      return "hang";
  }
  return "";
}

}  // namespace byre::stress::seeded_bugs
