// SPDX-License-Identifier: BSL-1.0
#include "options.hpp"

#include "command_line.hpp"
#include "failure.hpp"

#include <boost/program_options.hpp>
#include <limits>
#include <sstream>
#include <system_error>

namespace examples::live_checkpoint {
namespace {

namespace po = boost::program_options;

constexpr std::uint64_t most_tokens = 1'000'000'000;
constexpr std::uint64_t most_dimensions = 65'536;
constexpr std::uint64_t most_tile_rows = 16'777'216;
constexpr std::uint64_t most_queued = 64;

using Texts = std::vector<std::string>;

/// "eager-fresh, eager-recycled, ..."
std::string mode_names() {
  std::string names;
  for (const Mode mode : all_modes) {
    names += (names.empty() ? "" : ", ") + std::string(to_string(mode));
  }
  return names;
}

po::options_description described_options() {
  po::options_description options("Options", 96, 62);
  const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
  options.add_options()("help,h", "say this, and exit");
  options.add_options()(
      "text", po::value<Texts>()->value_name("PATH")->composing(),
      "text to train on: a file, or a directory with all below it in sorted order; binary and "
      "compressed files are passed over. May be repeated. Default: /usr/share/common-licenses "
      "and /usr/share/doc");
  options.add_options()("tokens", text("N")->default_value("2000000"),
                        "words to train; a shorter text starts over");
  options.add_options()("snapshot-every", text("N"),
                        "tokens from one snapshot to the next. Default: a 24th of --tokens");
  options.add_options()("dimensions", text("N"),
                        "floats in a word's row. Default: as many as make a table of 32 MiB");
  options.add_options()("tile-rows", text("N"),
                        "rows in a tile. Default: 64 KiB of them, in mode tiles 16 KiB");
  options.add_options()("seed", text("N")->default_value("1"),
                        "of the initial values and the negative samples");
  const std::string modes = mode_names() + " or all";
  options.add_options()("mode", text("MODE")->default_value("all"), modes.c_str());
  options.add_options()("full-every", text("N"),
                        "in mode tiles, snapshots from one full file to the next. Default: the "
                        "first file alone is full, the others are deltas");
  options.add_options()("queue", text("N")->default_value("2"),
                        "snapshots that may wait for the writer thread");
  options.add_options()("output", text("DIR"),
                        "where the snapshots go, and stay. Default: a temporary directory, which "
                        "is removed");
  options.add_options()(
      "restore", text("FILE"),
      "write the snapshot of FILE, a delta, as a .npy file to --output, and exit");
  options.add_options()("trace", text("FILE"),
                        "record what byre did, and write it for https://ui.perfetto.dev or "
                        "chrome://tracing; as a text, if the name ends in .txt");
  options.add_options()("keep", "do not remove the temporary directory");
  add_json_option(options);
  return options;
}

std::vector<Mode> modes_named(const std::string& name) {
  if (name == "all") {
    return {std::begin(all_modes), std::end(all_modes)};
  }
  for (const Mode mode : all_modes) {
    if (name == to_string(mode)) {
      return {mode};
    }
  }
  throw UsageError("--mode takes " + mode_names() + " or all, not '" + name + "'.");
}

/// A small system may lack one of the two.
Texts default_text() {
  Texts paths{"/usr/share/common-licenses", "/usr/share/doc"};
  std::error_code unknown;
  if (!std::filesystem::exists(paths.back(), unknown)) {
    paths.pop_back();
  } else if (!std::filesystem::exists(paths.front(), unknown)) {
    paths.erase(paths.begin());
  }
  return paths;
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  const po::variables_map given = parse_command_line(argc, argv, described_options());
  constexpr auto any = std::numeric_limits<std::uint64_t>::max();
  const auto required = [&](const char* name, std::uint64_t least, std::uint64_t most) {
    return number(name, given[name].as<std::string>(), least, most);
  };
  const auto optional = [&](const char* name, std::uint64_t most) {
    return given.count(name) == 0 ? std::nullopt : std::optional(required(name, 1, most));
  };
  Options options;
  options.help = given.count("help") != 0;
  options.tokens = required("tokens", 1, most_tokens);
  options.snapshot_every = optional("snapshot-every", most_tokens);
  options.dimensions = optional("dimensions", most_dimensions);
  options.tile_rows = optional("tile-rows", most_tile_rows);
  options.full_every = optional("full-every", most_tokens);
  options.seed = required("seed", 0, any);
  options.queue = static_cast<std::size_t>(required("queue", 1, most_queued));
  options.modes = modes_named(given["mode"].as<std::string>());
  options.keep = given.count("keep") != 0;
  const Texts text = given.count("text") != 0 ? given["text"].as<Texts>() : default_text();
  options.text.assign(text.begin(), text.end());
  if (given.count("output") != 0) {
    options.output = given["output"].as<std::string>();
  }
  if (given.count("trace") != 0) {
    options.trace = given["trace"].as<std::string>();
  }
  if (given.count("restore") != 0) {
    options.restore = given["restore"].as<std::string>();
    if (options.trace) {
      throw UsageError("--trace records training, and --restore does none.");
    }
    if (!options.output) {
      throw UsageError("--restore writes a .npy file: say with --output into which directory.");
    }
  }
  options.json = json_option(given);
  return options;
}

std::string help_text() {
  std::ostringstream text;
  text << R"(Usage: live_checkpoint [options]

Trains word embeddings on real text and takes consistent snapshots of the table while training goes
on: the table is cloned, and a second thread writes the clones to files. The same work is done with
eager clones into fresh memory (eager-fresh) and into recycled memory (eager-recycled), with byre's
lazy clones of each tile (lazy), with one lazy clone of paged memory (pages), and with one of a tiled
buffer (tiles). Training is also repeated without byre, and every snapshot, restored from its files,
must be the table as it was.

A snapshot is a .npy file with its CRC-32 beside it. In mode tiles all but the first are deltas: files
of the tiles that changed since the snapshot before. To have such a snapshot as a .npy file, keep the
files of its folder together and do

    live_checkpoint --restore out/tiles/token-000000166666.delta --output restored

)" << described_options()
       << R"(
A stall is one event in which the training thread did not train because there are snapshots: a
snapshot call (the table cloned and handed to the writer thread), or a write access to a part that a
snapshot shared. In mode lazy that is a tile that is still shared (byre copies it, or keeps it if the
writer just let go); in modes pages and tiles it is the first write to a page or a tile since the last
snapshot. It is timed with a steady clock just around that, so that being preempted meanwhile counts
too. The table has the worst event; the most processor time that the thread itself spent in one,
without preemption and waiting; the 99th percentile of all events (a lazy run has more and smaller
ones, so look at the worst and at the sums too); the sum of those that the costliest snapshot caused;
and the total.

If --queue snapshots wait for the writer thread, training waits for it before it takes another one.
That time is given apart and is no stall: how fast files are written does not depend on copying.

Peak memory is the process's largest resident set during the run, text included; "n/a" where the
system cannot count it anew. A page that is mapped twice counts twice in it, which in mode pages
overstates what is used. Tiles below 64 KiB come from malloc, which recycles them in all modes.

Exit codes: 0 all snapshots are right, 1 one is not, or something failed, 2 wrong usage
(a path that is missing or has no text included).
)";
  return text.str();
}

}  // namespace examples::live_checkpoint
