// SPDX-License-Identifier: BSL-1.0
#include "failure.hpp"
#include "options.hpp"

#include <byre/memory/pages.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace examples::live_checkpoint {
namespace {

constexpr std::uint64_t usual_snapshots = 24;
constexpr std::uint64_t usual_table_nbytes = std::uint64_t{32} << 20;

/// A multiple of 16, for whole vectors and lines.
std::uint32_t usual_dimensions(std::uint64_t rows) {
  constexpr std::uint64_t step = 16;
  const std::uint64_t steps = usual_table_nbytes / (rows * sizeof(float) * step);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(steps, 1, 32) * step);
}

/// Rows, dimensions and the queue are bounded so that none of this overflows 64 bits.
void throw_if_too_large(const Plan& plan, std::size_t queue) {
  const std::uint64_t table_nbytes =
      std::uint64_t{plan.rows} * plan.dimensions * std::uint64_t{sizeof(float)};
  // The table, and a snapshot each that waits, was written last, is written and is being taken.
  const std::uint64_t needed = table_nbytes / (1 << 20) * (queue + 4);
  const std::uint64_t usable = byre::usable_memory_nbytes() / (1 << 20);
  if (table_nbytes > byre::max_nbytes || needed > usable) {
    throw UsageError("A table of " + std::to_string(plan.rows) + " words and " +
                     std::to_string(plan.dimensions) + " dimensions takes up to " +
                     std::to_string(needed) + " MiB with its snapshots, and there are " +
                     std::to_string(usable) + ". Give fewer --dimensions or --tokens.");
  }
}

}  // namespace

Plan settle_plan(const Options& options, Corpus& corpus) {
  Plan plan;
  plan.rows = static_cast<std::uint32_t>(corpus.vocabulary.words().size());
  plan.dimensions = options.dimensions.value_or(usual_dimensions(plan.rows));
  plan.seed = options.seed;
  plan.tokens = options.tokens;
  plan.snapshot_every =
      options.snapshot_every.value_or(std::max<std::uint64_t>(1, plan.tokens / usual_snapshots));
  if (plan.snapshot_every > plan.tokens) {
    throw UsageError("--snapshot-every " + std::to_string(plan.snapshot_every) +
                     " is more than --tokens " + std::to_string(plan.tokens) +
                     ": there would be no snapshot.");
  }
  throw_if_too_large(plan, options.queue);
  plan.text = std::move(corpus.tokens);
  return plan;
}

RunSettings settle_run(const Options& options) {
  constexpr auto never = std::numeric_limits<std::uint64_t>::max();
  return {options.tile_rows, options.queue, options.full_every.value_or(never)};
}

}  // namespace examples::live_checkpoint
