// SPDX-License-Identifier: BSL-1.0
/// The worst case of copy-on-write: training rewrites every row while a snapshot is saved. Compares
/// memory, as the system counts it, and the time of the training, for the ways of savers.hpp.
#pragma once

#include "on_threads.hpp"
#include "replay.hpp"
#include "savers.hpp"
#include "temporary_directory.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace examples::live_checkpoint {

class WorstCase {
 public:
  /// Trains on each row of the plan's table in random order, so that every row is rewritten between
  /// two snapshots. `spare` is the additional memory, as a fraction of the table.
  /// `level` is that of zstd in deltas.
  WorstCase(Plan plan, std::uint32_t tile_rows, double spare, int level)
      : plan_(std::move(plan)), tile_rows_(tile_rows), spare_(spare), level_(level) {
    plan_.text.resize(plan_.rows);
    std::iota(plan_.text.begin(), plan_.text.end(), 0U);
    std::shuffle(plan_.text.begin(), plan_.text.end(), std::mt19937_64(1));
    plan_.snapshot_every = plan_.rows;
    plan_.tokens = plan_.rows * (snapshots + 1);  // the rows are rewritten after the last snapshot
  }

  Report compare() {
    const std::vector<std::uint32_t> expected = replay(plan_);
    std::vector<Way> ways;
    ways.push_back({"no snapshots", &WorstCase::make<NoSaver>});
    ways.push_back({"fork", &WorstCase::make<ForkSaver>});
    ways.push_back({"lazy clone", &WorstCase::make<CloneSaver>});
    ways.push_back({"within a budget", &WorstCase::make_limited});
    Report report;
    for (int round = 0; round < rounds; ++round) {
      for (Way& way : ways) {
        run(way, expected, report.faults);
      }
    }
    add_figures(ways, report);
    return report;
  }

 private:
  static constexpr std::uint64_t snapshots = 4;
  static constexpr int rounds = 3;

  struct Way {
    const char* name;
    std::unique_ptr<Saver> (WorstCase::*make)(const fs::path& directory) const;
    std::vector<std::int64_t> training_ns{};
    std::vector<std::int64_t> extra_nbytes{};
    std::int64_t worst_stall_ns = 0;
    std::size_t stall_events = 0;  ///< of one round
  };

  template <class Made>
  std::unique_ptr<Saver> make(const fs::path& directory) const {
    return std::make_unique<Made>(plan_, directory, tile_rows_);
  }
  std::unique_ptr<Saver> make_limited(const fs::path& directory) const {
    return std::make_unique<LimitedSaver>(plan_, directory, tile_rows_, spare_, level_);
  }

  void run(Way& way, const std::vector<std::uint32_t>& expected,
           std::vector<std::string>& faults) const {
    const TemporaryDirectory directory("live_checkpoint");
    std::vector<WrittenSnapshot> written;
    {
      const auto saver = (this->*way.make)(directory.path());
      const PeakMemory peak;
      const auto before = figure_in("/proc/self/status", "VmRSS");
      std::int64_t training_ns = 0;
      Trainer trainer(plan_, saver->table());
      for (std::uint64_t token = 0; token < plan_.tokens;) {
        throw_if_interrupted();
        const std::uint64_t snapshot = token;
        training_ns += time_ns([&] {
          if (snapshot != 0) {
            saver->begin(snapshot);
          }
          for (; token < snapshot + plan_.snapshot_every; ++token) {
            trainer.step(token);
            if (token % 64 == 0) {
              saver->advance_to(token);
            }
          }
          saver->advance_to(token);
        });
        if (snapshot != 0) {
          saver->end();
        }
      }
      const auto most = peak.nbytes();
      if (most && before) {
        way.extra_nbytes.push_back(*most - *before + saver->extra_nbytes());
      }
      way.training_ns.push_back(training_ns);
      written = saver->written();
      const StallLog& stalls = saver->table().stalls;
      way.worst_stall_ns = std::max(way.worst_stall_ns, stalls.worst_ns);
      way.stall_events = stalls.events;
    }
    if (way.make != &WorstCase::make<NoSaver>) {
      check(way.name, written, {expected.begin(), expected.end() - 1}, faults);
    }
  }

  /// The figures of the rounds in ascending order: the one at `rounds / 2` is the median.
  template <class Value>
  static std::vector<Value> sorted(std::vector<Value> values) {
    std::sort(values.begin(), values.end());
    return values;
  }

  void add_figures(const std::vector<Way>& ways, Report& report) const {
    const std::size_t wrong = report.faults.size();  // before the fault of memory, if any
    report.figures["table bytes"] = plan_.table_nbytes();
    const double table = static_cast<double>(plan_.table_nbytes());
    for (const Way& way : ways) {
      const std::vector<double> ratios = sorted(ratios_of(way, ways[2]));
      const bool is_fork = way.make == &WorstCase::make<ForkSaver>;  // its page faults are unknown
      const bool is_known = !way.extra_nbytes.empty();
      const double extra =
          is_known ? static_cast<double>(std::max<std::int64_t>(
                         0, *std::max_element(way.extra_nbytes.begin(), way.extra_nbytes.end())))
                   : 0;
      Json& figures = report.figures["ways"][way.name];
      figures["extra memory, MiB"] = if_known(is_known, mebibytes_in(extra));
      figures["extra memory, % of the table"] = if_known(is_known, 100 * extra / table);
      figures["training, ms"] = milliseconds_in(sorted(way.training_ns)[rounds / 2]);
      figures["times that of a lazy clone"] = ratios[rounds / 2];
      figures["times that of a lazy clone, least"] = ratios.front();
      figures["times that of a lazy clone, most"] = ratios.back();
      figures["worst stall, ms"] = if_known(!is_fork, milliseconds_in(way.worst_stall_ns));
      figures["stall events"] = if_known(!is_fork, way.stall_events);
      if (&way == &ways.back() && extra > table * spare_) {
        report.faults.push_back(format(
            "Within a budget of %.1f MiB more than the table, the process took %.1f MiB more "
            "memory.",
            mebibytes_in(table * spare_), mebibytes_in(extra)));
      }
    }
    const std::size_t all = (ways.size() - 1) * rounds * snapshots;
    report.text =
        format("%u rows x %u dimensions = ", plan_.rows, plan_.dimensions) +
        mebibytes(plan_.table_nbytes()) +
        format(", all rewritten during each save; %.0f %% of memory to spare\n\n", 100 * spare_) +
        table_of(report.figures["ways"]) +
        format("\n%zu of %zu snapshots equal the table in a replay of the training.\n", all - wrong,
               all);
  }

  /// The ratio of the two ways' times in each round. A ratio across rounds would also compare how
  /// busy the machine was.
  static std::vector<double> ratios_of(const Way& way, const Way& other) {
    std::vector<double> ratios;
    for (std::size_t round = 0; round < way.training_ns.size(); ++round) {
      ratios.push_back(static_cast<double>(way.training_ns[round]) /
                       static_cast<double>(other.training_ns[round]));
    }
    return ratios;
  }

  Plan plan_;
  std::uint32_t tile_rows_;
  double spare_;
  int level_;
};

}  // namespace examples::live_checkpoint
