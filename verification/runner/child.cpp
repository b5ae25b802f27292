// SPDX-License-Identifier: BSL-1.0
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <byre/observe/counters.hpp>
#include <string_view>

#include "job.hpp"
// These include Relacy and come last: see relacy/detector.hpp.
#include "../relacy/execution.hpp"
#include "../relacy/trace.hpp"

namespace byre::verification {
namespace {

/// Limits of the second search for a failure, which uses few preemptions to find a short trace.
constexpr std::uint64_t most_executions_for_a_trace = 2'000'000;
constexpr std::chrono::seconds longest_for_a_trace{20};
constexpr unsigned most_preemptions_in_a_trace = 8;

void write_line(int file, const test::Json& what) {
  test::write_all(file, what.dump(-1, ' ', false, test::Json::error_handler_t::replace) + '\n');
}

/// Searches for a failure with the verdict of `found` and as few preemptions as possible. Returns
/// `found` if the search finds no such failure.
std::pair<Search, SearchResult> shortest(const Job& job, const SearchResult& found) {
  Search search = job.search;
  search.state.clear();
  search.most_executions = most_executions_for_a_trace;
  search.longest = longest_for_a_trace;
  for (unsigned count = 0;
       count <= most_preemptions_in_a_trace && count < job.search.bound.preemptions; ++count) {
    search.bound = count;
    SearchResult shorter = job.scenario->search(search);
    if (shorter.verdict == found.verdict) {
      return {search, shorter};
    }
  }
  search.bound = job.search.bound;
  return {search, found};
}

/// The trace of the failure, and its replay string.
test::Json traced(const Job& job, const SearchResult& found) {
  Job again = job;
  SearchResult failing = found;
  if (!job.is_replay) {
    std::tie(again.search, failing) = shortest(job, found);
  }
  const std::string replay = replay_string(again, failing);
  again.search.state = job.is_replay ? job.search.state : failing.state;
  again.search.most_executions = 1;
  trace.start();
  const SearchResult end = job.scenario->search(again.search);
  trace.stop();
  return {{"replay", replay},
          {"trace", trace_text(job.scenario->threads) + "        " +
                        std::string(to_string(end.verdict)) +
                        (end.message.empty() ? "" : ": " + end.message) + '\n'}};
}

int captured_file = -1;
off_t captured_end = 0;
std::array<char, 1024> captured_text;

/// The text written to the captured file since the last call.
std::string_view newly_captured() noexcept {
  const ssize_t size =
      pread(captured_file, captured_text.data(), captured_text.size() - 1, captured_end);
  if (size <= 0) {
    return {};
  }
  captured_end += size;
  std::string_view text(captured_text.data(), static_cast<std::size_t>(size));
  while (text.ends_with('\n')) {
    text.remove_suffix(1);
  }
  captured_text[text.size()] = '\0';
  return text;
}

void on_signal(int signal) {
  const std::string_view text = newly_captured();
  const Verdict verdict = text.starts_with("RELACY")  ? Verdict::checker_error
                          : text.starts_with("byre:") ? Verdict::core_assertion
                                                      : Verdict::crash;
  if (rl::is_ctx() && rl::ctx().threadx_ != nullptr) {
    // Leaves this handler and the thread that crashed. Does not return.
    fail(verdict, !text.empty()       ? text.data()
                  : signal == SIGABRT ? "the program aborted"
                                      : "the program accessed invalid memory");
  }
  _exit(3);
}

/// Turns an abort or a fault within an execution into a verdict, which depends on the text last
/// written to `captured`.
void turn_crashes_into_verdicts(int captured) {
  captured_file = captured;
  struct sigaction action {};
  action.sa_handler = &on_signal;
  action.sa_flags = SA_NODEFER;  // on_signal() does not return: it ends with a jump
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    sigaction(signal, &action, nullptr);
  }
}

/// Uses the counters once. Otherwise the memory that their first use allocates would be reported as
/// a leak of an execution.
void allocate_before_searching() {
  stats::detail::count(stats::detail::plus(stats::Counter::waits, 0));
}

}  // namespace

void prepare_searches() {
  const int captured = memfd_create("captured", 0);
  dup2(captured, STDOUT_FILENO);
  dup2(captured, STDERR_FILENO);
  turn_crashes_into_verdicts(captured);
  allocate_before_searching();
}

void run_in_child(const Job& job, int file) {
  prepare_searches();
  active_mutation = job.mutation;

  const SearchResult found = job.scenario->search(job.search);
  test::Json report = {{"verdict", to_string(found.verdict)},
                       {"executions", found.executions},
                       {"seconds", found.seconds},
                       {"programs", found.programs},
                       {"unbounded", found.unbounded},
                       {"message", found.message.substr(0, found.message.find('\n'))},
                       {"not_covered", test::Json::array()},
                       {"reached", test::Json::array()}};
  for (const std::string_view state : (job.family != nullptr ? job.family : job.scenario)->cover) {
    if (!is_covered(state)) {
      report["not_covered"].push_back(state);
    }
  }
  for (const auto& table : site_tables()) {
    for (const sync::Site& site : table) {
      if (is_reached(site)) {
        report["reached"].push_back(site.name);
      }
    }
  }
  write_line(file, report);  // written before the search for a trace, which may crash
  if (is_failure(found.verdict)) {
    Job failed = job;
    failed.scenario = found.failing != nullptr ? found.failing : job.scenario;
    write_line(file, traced(failed, found));
  }
}

}  // namespace byre::verification
