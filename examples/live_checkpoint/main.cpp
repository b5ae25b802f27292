// SPDX-License-Identifier: BSL-1.0
// live_checkpoint: takes consistent snapshots of a model during its training. See ../README.md.
#include "corpus.hpp"
#include "format.hpp"
#include "on_threads.hpp"
#include "process_memory.hpp"
#include "replay.hpp"
#include "run_program.hpp"
#include "snapshot_files.hpp"
#include "temporary_directory.hpp"
#include "worst_case.hpp"

#include <byre/memory/pool.hpp>
#include <byre/observe/counters.hpp>

#include <algorithm>
#include <memory>
#include <optional>

namespace examples::live_checkpoint {
namespace {

enum class Mode { eager_fresh, eager_recycled, lazy, pages, tiles };
const std::vector<std::string> mode_names{"eager-fresh", "eager-recycled", "lazy", "pages",
                                          "tiles"};

/// The number of rows that fills the smallest block that the pool recycles. A tiled buffer has
/// smaller tiles, because the cost of its snapshots does not depend on the size of tiles.
std::uint32_t default_tile_rows(Mode mode, const Plan& plan) {
  const std::size_t nbytes = mode == Mode::tiles ? 16384 : byre::RecyclingPool::recycled_from;
  return static_cast<std::uint32_t>((nbytes + plan.row_nbytes() - 1) / plan.row_nbytes());
}

std::unique_ptr<Table> make_table(Mode mode, const Plan& plan, std::uint32_t tile_rows,
                                  byre::Allocator& pool) {
  switch (mode) {
    case Mode::pages:
      return std::make_unique<PagedTable>(plan);
    case Mode::tiles:
      return std::make_unique<TiledTable>(plan, tile_rows, pool);
    case Mode::lazy:
      return std::make_unique<StorageTable>(plan, tile_rows, pool, StorageTable::Cloning::lazy);
    default:
      return std::make_unique<StorageTable>(plan, tile_rows, pool, StorageTable::Cloning::eager);
  }
}

/// Trains and takes snapshots. A user's program would contain such a loop.
void train(const Plan& plan, Table& table, SavingThread& writer) {
  Trainer trainer(plan, table);
  for (std::uint64_t index = 0; index < plan.tokens; ++index) {
    trainer.step(index);
    if ((index + 1) % plan.snapshot_every == 0) {
      throw_if_interrupted();
      writer.wait_for_room();
      table.stalls.time([&] {
        writer.publish(index + 1);
        return index;
      });
    }
  }
}

/// Puts as many used blocks in the pool as a copy of the table needs, so that even the first
/// snapshot gets recycled memory.
void warm_up(byre::RecyclingPool& pool, std::size_t blocks, std::size_t block_nbytes) {
  std::vector<byre::Storage> used;
  while (used.size() < blocks) {
    used.push_back(byre::Storage::allocate(block_nbytes, pool));
    std::memset(used.back().mutable_data(), 1, block_nbytes);
  }
}

/// Adds the figures of the files after the first, as averages of one file.
void add_figures_of_files(const std::vector<WrittenSnapshot>& written, const Plan& plan,
                          Json& figures) {
  const std::size_t files = written.size() - 1;
  const bool are_deltas = files != 0 && written.back().file.extension() == delta_extension;
  std::uint64_t nbytes = 0;
  std::int64_t write_ns = 0;
  ChangeSizes changes;
  for (std::size_t index = 1; index < written.size(); ++index) {
    nbytes += written[index].nbytes;
    write_ns += written[index].write_ns;
    changes += written[index].changes;
  }
  const auto one = [&](double all) {
    return if_known(files != 0, all / static_cast<double>(files));
  };
  const auto of_delta = [&](double all) { return if_known(are_deltas, one(all)); };
  const double elements = static_cast<double>(plan.table_nbytes() / element_nbytes);
  figures["first file, MiB"] = mebibytes_in(written.front().nbytes);
  figures["each further file, MiB"] = one(mebibytes_in(nbytes));
  figures["changed elements, %"] =
      of_delta(100 * static_cast<double>(changes.changed_elements) / elements);
  figures["as whole tiles, MiB"] = of_delta(mebibytes_in(changes.whole_tiles));
  figures["as elements, MiB"] = of_delta(mebibytes_in(changes.elements));
  figures["smaller of each tile, MiB"] = of_delta(mebibytes_in(changes.chosen));
  figures["compression ratio"] =
      if_known(are_deltas, static_cast<double>(changes.chosen) / static_cast<double>(nbytes));
  figures["write each, ms"] = one(milliseconds_in(write_ns));
}

struct Run {
  Json figures;
  std::vector<WrittenSnapshot> written;
};

Run run(Mode mode, const Plan& plan, std::uint32_t tile_rows, const fs::path& directory,
        int compression) {
  const PeakMemory peak;
  // A pool with a limit of 0 maps fresh pages for every block.
  byre::RecyclingPool pool(mode == Mode::eager_fresh ? 0
                                                     : byre::RecyclingPool::default_limit_nbytes());
  const auto table = make_table(mode, plan, tile_rows, pool);
  const std::size_t tiles = (plan.rows + tile_rows - 1) / tile_rows;
  if (mode == Mode::eager_recycled) {
    warm_up(pool, tiles, tile_rows * plan.row_nbytes());
  }
  const auto counted_before = byre::stats::snapshot();
  SavingThread writer(*table, {plan, directory, compression});
  const std::int64_t training_ns = time_ns([&] { train(plan, *table, writer); });
  std::vector<WrittenSnapshot> written = writer.finish();
  const auto counted = byre::stats::snapshot() - counted_before;

  const auto most = peak.nbytes();
  const StallLog& stalls = table->stalls;
  Json figures = {
      {"worst stall, ms", milliseconds_in(stalls.worst_ns)},
      {"worst processor time, ms", milliseconds_in(stalls.worst_processor_ns)},
      {"total stall, ms", milliseconds_in(stalls.total_ns)},
      {"stall events", stalls.events},
      {"copies", if_known(BYRE_STATS, counted.copies)},
      {"copied, MiB", if_known(BYRE_STATS, mebibytes_in(counted.bytes_copied))},
      {"overlays", if_known(BYRE_STATS, counted.overlays)},
      {"tiles", tiles},
      {"peak memory, MiB", if_known(most, mebibytes_in(most.value_or(0)))},
      {"tokens per second", static_cast<std::uint64_t>(static_cast<double>(plan.tokens) * 1e9 /
                                                       static_cast<double>(training_ns))},
  };
  add_figures_of_files(written, plan, figures);
  return {std::move(figures), std::move(written)};
}

void print_time(const std::string& phase, std::int64_t ns) {
  std::fprintf(stderr, "%s: %.1f s\n", phase.c_str(), static_cast<double>(ns) / 1e9);
}

Plan plan_for(const Arguments& given) {
  Corpus corpus = read_corpus(given.text("text"), given.number("tokens", 1, 1'000'000'000));
  constexpr std::uint64_t default_table_nbytes = std::uint64_t{32} << 20;
  const auto number = [&](const char* name, std::uint64_t default_value, std::uint64_t most) {
    return given.has(name) ? given.number(name, 1, most) : default_value;
  };
  Plan plan;
  plan.text = std::move(corpus.tokens);
  plan.rows = corpus.words;
  // A multiple of 16, for whole vector registers and cache lines.
  const std::uint64_t default_value = default_table_nbytes / (plan.rows * sizeof(float) * 16);
  plan.dimensions = static_cast<std::uint32_t>(
      number("dimensions", std::clamp<std::uint64_t>(default_value, 1, 32) * 16, 65536));
  plan.tokens = given.number("tokens", 1, 1'000'000'000);
  plan.snapshot_every =
      number("snapshot-every", std::max<std::uint64_t>(1, plan.tokens / 24), plan.tokens);
  plan.sparse_percent = static_cast<std::uint32_t>(number("sparse", 0, 100));
  return plan;
}

void run_and_check(Mode mode, const Arguments& given, const Plan& plan, const fs::path& directory,
                   const std::vector<std::uint32_t>& expected, Report& report) {
  const std::string& name = mode_names[static_cast<std::size_t>(mode)];
  fs::create_directories(directory);
  if (!fs::is_empty(directory)) {
    throw Failure("Cannot write to " + directory.string() +
                  ": it contains files, which are not overwritten. Give another --output.");
  }
  const std::uint32_t tile_rows =
      given.has("tile-rows") ? static_cast<std::uint32_t>(given.number("tile-rows", 1, 1 << 24))
                             : default_tile_rows(mode, plan);
  Run done = run(mode, plan, mode == Mode::pages ? plan.rows : std::min(tile_rows, plan.rows),
                 directory, static_cast<int>(given.number("compression", 0, has_zstd ? 19 : 0)));
  done.figures["restore each, ms"] = check(name, done.written, expected, report.faults);
  report.figures["modes"][name] = std::move(done.figures);
}

Report train_and_report(const Arguments& given) {
  std::vector<std::string> choices = mode_names;
  choices.push_back("all");
  const std::size_t chosen = given.choice("mode", choices);
  const Plan plan = plan_for(given);
  std::optional<TemporaryDirectory> temporary;
  fs::path output = given.text("output");
  if (output.empty()) {
    output = temporary.emplace("live_checkpoint").path();
  }
  Report report;
  report.figures = {{"rows", plan.rows}, {"table bytes", plan.table_nbytes()}};
  std::vector<std::uint32_t> expected;
  print_time("replay on a plain array", time_ns([&] { expected = replay(plan); }));
  for (std::size_t mode = 0; mode < mode_names.size(); ++mode) {
    if (chosen != mode_names.size() && chosen != mode) {
      continue;
    }
    const fs::path directory = output / mode_names[mode];
    print_time("train " + mode_names[mode], time_ns([&] {
                 run_and_check(static_cast<Mode>(mode), given, plan, directory, expected, report);
               }));
    if (temporary) {
      fs::remove_all(directory);
    }
  }
  const std::size_t snapshots = expected.size() * report.figures["modes"].size();
  report.text = format("%llu tokens, %u words x %u dimensions = ",
                       static_cast<unsigned long long>(plan.tokens), plan.rows, plan.dimensions) +
                mebibytes(plan.table_nbytes()) +
                format("; a snapshot every %llu tokens\n\n",
                       static_cast<unsigned long long>(plan.snapshot_every)) +
                table_of(report.figures["modes"]) +
                format("\n%zu of %zu snapshots equal the table in a replay of the training.\n",
                       snapshots - report.faults.size(), snapshots);
  return report;
}

Report compare_and_report(const Arguments& given) {
  for (const char* const name : {"output", "snapshot-every", "sparse"}) {
    if (given.has(name)) {
      throw UsageError("--limit takes no --" + std::string(name) +
                       ": it saves while every row is rewritten, to temporary files.");
    }
  }
  const Plan plan = plan_for(given);
  const std::uint32_t tile_rows =
      given.has("tile-rows") ? static_cast<std::uint32_t>(given.number("tile-rows", 1, 1 << 24))
                             : default_tile_rows(Mode::lazy, plan);
  return WorstCase(plan, std::min(tile_rows, plan.rows),
                   static_cast<double>(given.number("limit", 1, 100)) / 100,
                   static_cast<int>(given.number("compression", 0, has_zstd ? 19 : 0)))
      .compare();
}

Report work(const Arguments& given) {
  if (!given.has("restore")) {
    return given.has("limit") ? compare_and_report(given) : train_and_report(given);
  }
  if (!given.has("output")) {
    throw UsageError("--restore requires --output, the directory for the .npy file.");
  }
  const fs::path npy = restore(given.text("restore"), given.text("output"));
  return {.text = "Restored " + npy.string() + ".\n", .figures = {{"restored", npy.string()}}};
}

}  // namespace
}  // namespace examples::live_checkpoint

int main(int argc, char** argv) {
  return examples::run_program(
      {.name = "live_checkpoint",
       .about =
           R"(Trains word embeddings on real text and takes consistent snapshots of their table
during the training: the table is published, and a second thread loads it and writes it
to files. The program does this in five modes: with eager clones in fresh memory
(eager-fresh) and in recycled memory (eager-recycled), with byre's lazy clones of
each tile (lazy), with one lazy clone of paged memory (pages), and with one lazy
clone of a tiled buffer (tiles). It also repeats the training without byre. Every
snapshot, restored from its files, must equal the table in that replay.

A snapshot is a .npy file. In mode tiles, all but the first are deltas: files with
the changes since the previous snapshot. For each tile, a delta has the changed
elements or the whole tile, whichever is smaller. zstd compresses them, if the
program is built with it.

With --limit, the program compares ways to save while every row is rewritten during
each save: fork, a lazy clone, and a byre::SnapshotWriter within a budget. The budget
allows VALUE % of the table beside the table. The system counts the extra memory.

A stall is one event in which the training thread did not train because of snapshots:
a call that publishes the table, or a write access to a part that a snapshot shared.
With --limit, the call also opens the file and starts the thread that saves, and the stalls
of fork are unknown, because the program cannot time the page faults that copy.
)",
       .options = {{"text", "/usr/share/doc",
                    "training text: a file, or a directory with all files below it"},
                   {"tokens", "2000000", "words to train; a shorter text is repeated"},
                   {"snapshot-every", "", "tokens between two snapshots (default: --tokens / 24)"},
                   {"dimensions", "", "floats in a row (default: a table of about 32 MiB)"},
                   {"tile-rows", "", "rows in a tile (default: 64 KiB, in mode tiles 16 KiB)"},
                   {"mode", "all", "eager-fresh, eager-recycled, lazy, pages, tiles or all"},
                   {"sparse", "", "instead of training, change VALUE % of the elements at random"},
                   {"limit", "", "compare ways to save, with VALUE % of the table to spare"},
                   {"compression", examples::live_checkpoint::has_zstd ? "1" : "0",
                    "level of zstd in deltas, or 0 for none; 0 if built without zstd"},
                   {"output", "", "directory of the files (default: a temporary directory)"},
                   {"restore", "", "write the snapshot of the delta VALUE to --output as .npy"}},
       .work = examples::live_checkpoint::work},
      argc, argv);
}
