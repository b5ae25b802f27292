// SPDX-License-Identifier: BSL-1.0
/// byre-bench: byre against what a user would write instead, and against the floors, in one run.
/// It takes Google Benchmark's options and the ones below; report.py runs it and reads its JSON.
#include "harness.hpp"
#include "memory.hpp"

#include <byre/config.hpp>
#include <byre/memory/pool.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

namespace {

constexpr const char* help =
    R"(byre-bench's own options, beside Google Benchmark's:
  --effort=smoke|quick|full  how many bursts, and up to which size: 4 KiB, 16 MiB, 1 GiB
  --round=N                  whose turn it is to go first among those who compete
  --expect-one-copy-more     check for one copy more than there has to be: has to fail
)";

/// libstdc++ leaves out the atomics of shared_ptr while a process has one thread: this one waits
/// until the end, so that it never has.
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

bool take_effort(std::string_view value) {
  using byre_bench::Effort;
  auto& effort = byre_bench::settings().effort;
  if (value == "smoke") {
    effort = Effort::smoke;
  } else if (value == "quick") {
    effort = Effort::quick;
  } else if (value == "full") {
    effort = Effort::full;
  } else {
    return false;
  }
  return true;
}

/// True iff `argument` is one of ours.
bool take_argument(std::string_view argument) {
  constexpr std::string_view effort = "--effort=";
  constexpr std::string_view round = "--round=";
  if (argument.starts_with(effort)) {
    return take_effort(argument.substr(effort.size()));
  }
  if (argument.starts_with(round)) {
    const std::string digits(argument.substr(round.size()));
    char* end = nullptr;
    byre_bench::settings().round = static_cast<unsigned>(std::strtoul(digits.c_str(), &end, 10));
    return !digits.empty() && *end == '\0';
  }
  if (argument == "--expect-one-copy-more") {
    byre_bench::settings().expect_one_copy_more = true;
    return true;
  }
  return false;
}

void describe_this_run() {
  benchmark::AddCustomContext("byre_stats", BYRE_STATS ? "enabled" : "disabled");
  benchmark::AddCustomContext("byre_checks", BYRE_CHECKS ? "enabled" : "disabled");
  benchmark::AddCustomContext("compiler", __VERSION__);
  benchmark::AddCustomContext("malloc", byre_bench::malloc_settings());
  benchmark::AddCustomContext("pool_limit_nbytes",
                              std::to_string(byre::default_pool().limit_nbytes()));
  benchmark::AddCustomContext("clock_cost_ns", std::to_string(byre_bench::clock_cost_ns()));
}

void add_everything() {
  byre_bench::add_access();
  byre_bench::add_allocations();
  byre_bench::add_steals();
  byre_bench::add_clone_drop();
  byre_bench::add_shared_writes();
  byre_bench::add_pages();
  byre_bench::add_raw_copies();
  byre_bench::add_writers_at_once();
  byre_bench::add_parallel_writers();
  byre_bench::add_memory_per_clone();
  byre_bench::add_tensor_views();
  byre_bench::add_tiles();
  byre_bench::add_tracked_access();
  byre_bench::add_tensor_elements();
  byre_bench::add_functionalize();
  byre_bench::register_all();
}

int run(int argc, char** argv) {
  byre_bench::pin_malloc(byre_bench::Memory::recycled);
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--help") == 0) {
      std::fputs(help, stdout);  // Google Benchmark adds its own
    }
    if (!take_argument(argv[i])) {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  std::cout << std::unitbuf;  // for whoever watches the progress through a pipe
  const ParkedThread parked;
  describe_this_run();
  add_everything();
  benchmark::RunSpecifiedBenchmarks();
  return byre_bench::a_count_was_wrong() ? byre_bench::wrong_count_exit : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::system_error& error) {
    std::cerr << "byre-bench: " << error.what()
              << ". If that is a thread, raise the limits: ulimit -u -v -s.\n";
  } catch (const std::exception& error) {
    std::cerr << "byre-bench: " << error.what() << '\n';
  }
  return 1;
}
