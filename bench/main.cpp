// SPDX-License-Identifier: BSL-1.0
/// byre-bench: compares byre in one run with hand-written alternatives and with lower bounds
/// ("floors"). It accepts Google Benchmark's options and options of its own. report.py runs
/// byre-bench and reads its JSON.
#include "harness.hpp"

#include <byre/config.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

namespace {

constexpr const char* help =
    R"(Options of byre-bench, in addition to Google Benchmark's:
  --smoke                    run three bursts of each benchmark, up to 4 KiB
  --round=N                  number of the round: rotates the order of contenders
  --expect-one-copy-more     expect one copy too many, to test that the program fails
)";

/// A second thread that waits until the end of the program: in a process with one thread, libstdc++
/// replaces the atomic operations of shared_ptr with plain operations.
class ParkedThread {
 public:
  ParkedThread() : thread_([this] { over_.wait(false); }) {}
  ~ParkedThread() {
    over_.store(true);
    over_.notify_all();
    thread_.join();
  }

 private:
  std::atomic<bool> over_{false};
  std::thread thread_;
};

/// Handles an option of byre-bench. Returns false for an option of Google Benchmark.
bool take_argument(const std::string& argument) {
  constexpr std::string_view round = "--round=";
  auto& settings = byre_bench::settings();
  if (argument.starts_with(round)) {
    char* end = nullptr;
    settings.round = static_cast<unsigned>(std::strtoul(&argument[round.size()], &end, 10));
    return argument.size() > round.size() && *end == '\0';
  }
  settings.is_smoke |= argument == "--smoke";
  settings.expect_one_copy_more |= argument == "--expect-one-copy-more";
  if (argument == "--help") {
    std::fputs(help, stdout);  // Google Benchmark prints its own help afterwards
  }
  return argument == "--smoke" || argument == "--expect-one-copy-more";
}

int run(int argc, char** argv) {
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    if (!take_argument(argv[i])) {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  benchmark::AddCustomContext("byre_stats", BYRE_STATS ? "enabled" : "disabled");
  benchmark::AddCustomContext("byre_checks", BYRE_CHECKS ? "enabled" : "disabled");
  std::cout << std::unitbuf;  // unbuffered, because report.py shows the progress
  const ParkedThread parked;
  byre_bench::add_unique_data();
  byre_bench::add_shared_data();
  byre_bench::add_writers();
  byre_bench::add_atomic_places();
#if defined(BYRE_HAS_SEAMS)
  byre_bench::add_seams();
#endif
#if defined(BYRE_HAS_INTERFACE_C)
  byre_bench::add_c_interface();
#endif
  byre_bench::add_pages_and_tiles();
  byre_bench::add_tensors();
  byre_bench::add_functionalize();
  byre_bench::register_all();
  benchmark::RunSpecifiedBenchmarks();
  return byre_bench::a_count_was_wrong() ? byre_bench::wrong_count_exit : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::system_error& error) {
    std::cerr << "byre-bench: " << error.what()
              << ". If a thread could not be created, raise the limits: ulimit -u -v -s.\n";
  } catch (const std::exception& error) {
    std::cerr << "byre-bench: " << error.what() << '\n';
  }
  return 1;
}
