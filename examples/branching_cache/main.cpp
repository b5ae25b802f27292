// SPDX-License-Identifier: BSL-1.0
// branching_cache: many continuations of one prompt. See ../README.md.
#include "format.hpp"
#include "process_memory.hpp"
#include "run_program.hpp"
#include "server.hpp"

#include <byre/observe/counters.hpp>
#include <byre/storage/tiles/tiled_buffer.hpp>

namespace examples::branching_cache {
namespace {

Report work(const Arguments& given) {
  const auto count = [&](const char* name, std::uint64_t most) {
    return static_cast<std::size_t>(given.number(name, 1, most));
  };
  const Plan plan{count("layers", 256), count("prefix-tokens", 1 << 20), count("branches", 1 << 16),
                  count("append-tokens", 1 << 16), count("threads", 64)};
  const auto resident = resident_nbytes();
  Server server(plan);
  const auto before = byre::stats::snapshot();

  const std::int64_t make_ns = time_ns([&] { server.make_branches(); });
  const std::int64_t append_ns = time_ns([&] { server.append(); });
  const auto gained = resident_nbytes();
  const std::int64_t change_ns = time_ns([&] { server.change(); });
  const auto changed = byre::stats::snapshot() - before;

  const auto us_each = [&](std::int64_t ns) {
    return static_cast<double>(ns) / static_cast<double>(plan.branches) / 1e3;
  };
  const auto needed = static_cast<std::int64_t>(
      (plan.prefix_tokens + plan.branches * plan.append_tokens) * plan.token_nbytes());
  const std::int64_t beside = resident && gained ? *gained - *resident - needed : 0;
  Report report;
  report.figures["branches"] = {
      {"make a branch, us", us_each(make_ns)},
      {"append to each, us", us_each(append_ns)},
      {"drop, truncate, branch, us each", us_each(change_ns)},
      {"memory beside, KiB each",
       if_known(gained, static_cast<double>(beside) / 1024 / static_cast<double>(plan.branches))},
      {"branches that are left", server.count()},
      {"wrong tokens", server.wrong_tokens()},
      {"tiles not of the prefix", server.tiles_unlike_prefix()},
      {"copies that byre made", if_known(BYRE_STATS, changed.copies)},
      {"MiB alive beside the prefix",
       if_known(BYRE_STATS, static_cast<double>(changed.live_bytes) / (1 << 20))},
  };
  server.drop_all();
  if (report.figures["branches"]["wrong tokens"] != 0) {
    report.faults.push_back("Tokens read back are not those that were appended.");
  }
  if ((byre::stats::snapshot() - before).live_bytes != 0) {
    report.faults.push_back("Memory of dropped branches is still alive.");
  }
  report.text =
      format("%zu tokens of %zu KiB = ", plan.prefix_tokens, plan.token_nbytes() / 1024) +
      mebibytes(plan.prefix_tokens * plan.token_nbytes()) +
      format("; %zu branches append %zu tokens each = ", plan.branches, plan.append_tokens) +
      mebibytes(plan.branches * plan.append_tokens * plan.token_nbytes()) +
      format(", by %zu threads\n\n", plan.threads) + table_of(report.figures);
  return report;
}

}  // namespace
}  // namespace examples::branching_cache

int main(int argc, char** argv) {
  return examples::run_program(
      {.name = "branching_cache",
       .about =
           R"(Serves many continuations of one prompt, as beam search, sampling and agents do. What a language
model keeps of the prompt, its keys and values, is a prefix that all branches share, in a
byre::TiledBuffer. Each branch appends tokens of its own; then some are dropped, some truncated, and
some branch again. Every token of every branch is then read back.
)",
       .options = {{"layers", "4", "layers of the model, of 4 KiB for each token"},
                   {"prefix-tokens", "8192", "tokens that all branches begin with"},
                   {"branches", "1000", "branches of that prefix"},
                   {"append-tokens", "64", "tokens that each branch appends"},
                   {"threads", "2", "threads that serve the branches"}},
       .work = examples::branching_cache::work},
      argc, argv);
}
