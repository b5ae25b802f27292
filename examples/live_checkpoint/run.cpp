// SPDX-License-Identifier: BSL-1.0
#include "run.hpp"

#include "process_memory.hpp"
#include "snapshot_writer.hpp"
#include "table.hpp"

#include <byre/memory/pool.hpp>

#include <algorithm>
#include <cstring>

namespace examples::live_checkpoint {
namespace {

using Clock = StallLog::Clock;

/// A pool that keeps nothing maps fresh pages for every block.
std::size_t pool_limit_nbytes(Mode mode) noexcept {
  return mode == Mode::eager_fresh ? 0 : byre::RecyclingPool::default_limit_nbytes();
}

/// Leaves one more table's worth of used blocks in the pool, so that "recycled" is what is
/// measured from the first snapshot on. The other modes are not helped so.
void warm_up(byre::RecyclingPool& pool, std::size_t blocks, std::size_t block_nbytes) {
  std::vector<byre::Storage> used;
  used.reserve(blocks);
  while (used.size() < blocks) {
    used.push_back(byre::Storage::allocate(block_nbytes, pool));
    std::memset(used.back().mutable_data(), 1, block_nbytes);
  }
}

/// The loop that trains and takes snapshots: the part a program of one's own would have.
class Run {
 public:
  Run(const Plan& plan, Table& table, SnapshotWriter& writer)
      : plan_(&plan), table_(&table), writer_(&writer) {}

  void train(Progress& progress) {
    Trainer trainer(*plan_, *table_);
    for (std::uint64_t index = 0; index < plan_->tokens; ++index) {
      trainer.step(index);
      if ((index + 1) % plan_->snapshot_every == 0) {
        take_snapshot(index + 1);
      }
      if (index % 1024 == 0) {
        progress.advance_to(index);
      }
    }
    progress.advance_to(plan_->tokens);
  }

  std::int64_t waited_ns() const noexcept { return waited_ns_; }

 private:
  void take_snapshot(std::uint64_t token) {
    const auto begin = Clock::now();
    writer_->wait_for_room();
    waited_ns_ += StallLog::to_ns(Clock::now() - begin);

    table_->stalls().begin_snapshot();
    table_->stalls().time([&] {
      writer_->submit(table_->snapshot(token));
      return token;
    });
  }

  const Plan* plan_;
  Table* table_;
  SnapshotWriter* writer_;
  std::int64_t waited_ns_ = 0;
};

}  // namespace

std::uint32_t RunSettings::tile_rows(Mode mode, const Plan& plan) const noexcept {
  if (mode == Mode::pages) {
    return plan.rows;
  }
  constexpr std::size_t usual_nbytes_of_tiles = std::size_t{16} << 10;
  const std::size_t usual_nbytes =
      mode == Mode::tiles ? usual_nbytes_of_tiles : byre::RecyclingPool::recycled_from;
  const std::size_t usual_rows = (usual_nbytes + plan.row_nbytes() - 1) / plan.row_nbytes();
  return std::min(given_tile_rows.value_or(static_cast<std::uint32_t>(usual_rows)), plan.rows);
}

RunResult run(Mode mode, const Plan& plan, const RunSettings& settings,
              const std::filesystem::path& directory, Progress& progress) {
  RunResult result;
  result.mode = mode;
  result.tile_rows = settings.tile_rows(mode, plan);
  result.tiles = (plan.rows + result.tile_rows - 1) / result.tile_rows;
  const PeakMemory peak;
  byre::RecyclingPool pool(pool_limit_nbytes(mode));
  const auto table = make_table(mode, plan, result.tile_rows, pool);
  if (mode == Mode::eager_recycled) {
    warm_up(pool, result.tiles, result.tile_rows * plan.row_nbytes());
  }

  progress.begin(std::string("train ") + to_string(mode), plan.tokens, "tokens");
  SnapshotWriter writer({plan, directory, settings.full_every}, settings.queue_capacity);
  Run training(plan, *table, writer);
  const auto counted_before = byre::stats::snapshot();
  const auto faults_before = page_faults_of_this_thread();
  const auto begin = Clock::now();
  training.train(progress);
  const auto end = Clock::now();
  if (faults_before) {
    result.page_faults = *page_faults_of_this_thread() - *faults_before;
  }
  progress.end();
  result.written = writer.finish();
  result.finishing_ns = StallLog::to_ns(Clock::now() - end);
  result.training_ns = StallLog::to_ns(end - begin);
  result.waited_for_writer_ns = training.waited_ns();
  result.copying = byre::stats::snapshot() - counted_before;
  result.stalls = summarize(table->stalls());
  result.peak_nbytes = peak.nbytes();
  return result;
}

}  // namespace examples::live_checkpoint
