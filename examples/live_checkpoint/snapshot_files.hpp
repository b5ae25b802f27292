// SPDX-License-Identifier: BSL-1.0
/// Writes snapshots to files: full snapshots as .npy files, and deltas with the changes since the
/// previous snapshot.
#pragma once

#include "delta.hpp"
#include "on_threads.hpp"
#include "tables.hpp"
#include "training.hpp"

#include <byre/files/output_file.hpp>
#include <byre/interop/npy_header.hpp>
#include <byre/storage/tiles/tiled_buffer.hpp>

#include <atomic>
#include <cstdint>
#include <exception>
#include <limits>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

namespace examples::live_checkpoint {

struct WrittenSnapshot {
  std::uint64_t token = 0;
  fs::path file{};
  std::uint32_t identity = 0;  ///< see delta.hpp
  std::uint64_t nbytes = 0;    ///< size of the file
  ChangeSizes changes{};       ///< of a delta
  std::int64_t write_ns = 0;   ///< wall-clock time to write the file
};

/// Writes the snapshots of one run, in order. Not thread-safe.
class SnapshotFiles {
 public:
  /// Writes to `directory`, which must exist. `level` is the level of zstd in deltas, or 0.
  SnapshotFiles(const Plan& plan, fs::path directory, int level)
      : plan_(&plan), directory_(std::move(directory)), level_(level) {}

  /// Writes and releases a snapshot. Releases each storage as soon as the storage is written, and
  /// tiles when no delta needs them any more. May throw byre::FileError and std::bad_alloc.
  WrittenSnapshot write(Snapshot snapshot) {
    auto* const tiles = std::get_if<byre::TiledBuffer>(&snapshot.rows);
    if (tiles == nullptr) {
      return write_full(snapshot);
    }
    const bool is_first = previous_.token == 0;
    previous_ = is_first ? write_full(snapshot) : write_changes(snapshot.token, *tiles);
    previous_tiles_ = std::move(*tiles);  // the next snapshot is compared with them
    return previous_;
  }

 private:
  WrittenSnapshot write_full(Snapshot& snapshot) const {
    const fs::path path = snapshot_file(directory_, snapshot.token, full_extension);
    byre::OutputFile file(path);
    Checksum checksum;
    const auto put = [&](std::span<const std::byte> bytes) {
      checksum.process_bytes(bytes.data(), bytes.size());
      file.write(bytes.data(), bytes.size());
    };
    const std::string header = byre::npy_header(byre::DType::f32, {plan_->rows, plan_->dimensions});
    put(std::as_bytes(std::span(header)));
    if (auto* const storages = std::get_if<std::vector<byre::Storage>>(&snapshot.rows)) {
      std::size_t left = plan_->table_nbytes();
      for (byre::Storage& storage : *storages) {
        const std::size_t nbytes = std::min(left, storage.nbytes());
        put({std::as_const(storage).data(), nbytes});
        left -= nbytes;
        storage = byre::Storage();  // so that training need not copy the data
      }
    } else {
      const auto& tiles = std::get<byre::TiledBuffer>(snapshot.rows);
      tiles.for_each_part(0, tiles.nbytes(), put);
    }
    file.commit();
    return {snapshot.token, path, checksum.checksum(), fs::file_size(path)};
  }

  WrittenSnapshot write_changes(std::uint64_t token, const byre::TiledBuffer& tiles) {
    const fs::path path = snapshot_file(directory_, token, delta_extension);
    DeltaWriter delta(
        path, {token, previous_.token, previous_.identity, tiles.nbytes(), tiles.tile_nbytes()},
        level_);
    for_each_difference(previous_tiles_, tiles, [&](std::size_t tile) {
      delta.add(tile, previous_tiles_.tile(tile), tiles.tile(tile));
    });
    delta.finish();
    // Released before the wait for the disk, to free memory for training.
    previous_tiles_ = byre::TiledBuffer();
    const std::uint32_t identity = delta.commit();
    return {token, path, identity, fs::file_size(path), delta.sizes()};
  }

  const Plan* plan_;
  fs::path directory_;
  int level_;
  WrittenSnapshot previous_;
  byre::TiledBuffer previous_tiles_;
};

/// The second thread, which loads the published table and writes it to files during the training.
///
/// So that no snapshot is skipped, the training waits in wait_for_room() until the thread has
/// loaded what was published last. At most one snapshot waits while another is written. A program
/// that saves the newest table from time to time needs no such wait, nor do threads that only
/// read.
///
/// An exception of the thread ends its work, and the next call of wait_for_room() or finish()
/// rethrows it. The members must be called on one thread.
class SavingThread {
 public:
  SavingThread(Table& table, SnapshotFiles files)
      : table_(&table), files_(std::move(files)), thread_([this] { run(); }) {}
  /// Discards a snapshot that has not been loaded.
  ~SavingThread() { end(); }
  SavingThread(const SavingThread&) = delete;
  SavingThread& operator=(const SavingThread&) = delete;

  void wait_for_room() {
    const std::uint64_t published = published_.load();
    for (std::uint64_t seen = loaded_.load(); seen != published; seen = loaded_.load()) {
      if (seen == failed) {
        std::rethrow_exception(error_);
      }
      loaded_.wait(seen);
    }
  }

  /// Publishes the table after `token` tokens. Requires wait_for_room().
  void publish(std::uint64_t token) {
    table_->publish();
    published_.store(token);
    published_.notify_one();
  }

  /// Waits until all snapshots are written, and returns them in order.
  std::vector<WrittenSnapshot> finish() {
    wait_for_room();
    end();
    wait_for_room();
    return std::move(written_);
  }

 private:
  static constexpr std::uint64_t ended = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::uint64_t failed = ended - 1;

  void end() {
    if (thread_.joinable()) {
      published_.store(ended);
      published_.notify_one();
      thread_.join();
    }
  }

  void run() noexcept {
    std::uint64_t token = 0;
    try {
      for (;;) {
        published_.wait(token);
        token = published_.load();
        if (token == ended) {
          set_loaded(ended);
          return;
        }
        Rows rows = table_->load_published();
        set_loaded(token);
        WrittenSnapshot written;
        const std::int64_t ns = time_ns([&] { written = files_.write({token, std::move(rows)}); });
        written.write_ns = ns;
        written_.push_back(std::move(written));
      }
    } catch (...) {
      error_ = std::current_exception();
      set_loaded(failed);
    }
  }

  void set_loaded(std::uint64_t token) noexcept {
    loaded_.store(token);
    loaded_.notify_one();
  }

  Table* table_;
  SnapshotFiles files_;                      // used only by the thread
  std::vector<WrittenSnapshot> written_;     // used only by the thread until it has ended
  std::exception_ptr error_;                 // set before `loaded_` is `failed`
  std::atomic<std::uint64_t> published_{0};  // the token of the published table; `ended`
  std::atomic<std::uint64_t> loaded_{0};     // the token that was loaded last; `ended` or `failed`
  std::thread thread_;                       // declared last: the thread uses the members above
};

}  // namespace examples::live_checkpoint
