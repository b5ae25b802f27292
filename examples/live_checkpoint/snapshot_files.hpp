// SPDX-License-Identifier: BSL-1.0
/// Writes snapshots to files: full snapshots as .npy files, and deltas with the tiles that changed
/// since the previous snapshot.
#pragma once

#include "delta.hpp"
#include "tables.hpp"
#include "training.hpp"

#include <byre/files/output_file.hpp>
#include <byre/interop/npy_header.hpp>
#include <byre/storage/tiles/tiled_buffer.hpp>

#include <boost/thread/condition_variable.hpp>
#include <boost/thread/lock_types.hpp>
#include <boost/thread/mutex.hpp>
#include <boost/thread/thread.hpp>
#include <deque>
#include <exception>
#include <utility>
#include <variant>
#include <vector>

namespace examples::live_checkpoint {

struct WrittenSnapshot {
  std::uint64_t token = 0;
  fs::path file{};
  std::uint32_t identity = 0;  ///< see delta.hpp
  std::uint64_t nbytes = 0;    ///< size of the file
};

/// Writes the snapshots of one run, in order. Not thread-safe.
class SnapshotFiles {
 public:
  /// Writes to `directory`, which must exist.
  SnapshotFiles(const Plan& plan, fs::path directory)
      : plan_(&plan), directory_(std::move(directory)) {}

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
    std::vector<std::uint64_t> changed;
    for_each_difference(previous_tiles_, tiles, [&](std::size_t tile) { changed.push_back(tile); });
    // Released before the file is written, to free memory for training.
    previous_tiles_ = byre::TiledBuffer();
    const fs::path path = snapshot_file(directory_, token, delta_extension);
    const std::uint32_t identity =
        write_delta(path,
                    {token, previous_.token, previous_.identity, tiles.nbytes(),
                     tiles.tile_nbytes(), changed.size()},
                    changed, tiles);
    return {token, path, identity, fs::file_size(path)};
  }

  const Plan* plan_;
  fs::path directory_;
  WrittenSnapshot previous_;
  byre::TiledBuffer previous_tiles_;
};

/// The second thread, which writes snapshots to files during the training.
///
/// At most two snapshots are queued; with more, the training waits in wait_for_room(). Otherwise a
/// slow disk would exhaust the memory, because each queued snapshot holds the data that training
/// overwrites.
///
/// An exception of the thread ends its work, and the next call of wait_for_room() or finish()
/// rethrows it. The members must be called on one thread.
class SnapshotWriter {
 public:
  explicit SnapshotWriter(SnapshotFiles files)
      : files_(std::move(files)), thread_([this] { run(); }) {}
  /// Discards the snapshots that have not been written.
  ~SnapshotWriter() { close(false); }
  SnapshotWriter(const SnapshotWriter&) = delete;
  SnapshotWriter& operator=(const SnapshotWriter&) = delete;

  void wait_for_room() {
    Lock lock(mutex_);
    changed_.wait(lock, [&] { return error_ != nullptr || waiting_.size() < 2; });
    rethrow_error();
  }

  void submit(Snapshot snapshot) {
    const Lock lock(mutex_);
    waiting_.push_back(std::move(snapshot));
    changed_.notify_all();
  }

  /// Waits until all snapshots are written, and returns them in order.
  std::vector<WrittenSnapshot> finish() {
    close(true);
    rethrow_error();
    return std::move(written_);
  }

 private:
  using Lock = boost::unique_lock<boost::mutex>;

  void close(bool write_the_rest) {
    if (thread_.joinable()) {
      Lock lock(mutex_);
      is_closed_ = true;
      if (!write_the_rest) {
        waiting_.clear();
      }
      changed_.notify_all();
      lock.unlock();
      thread_.join();
    }
  }

  void run() noexcept {
    Lock lock(mutex_);
    while (error_ == nullptr) {
      changed_.wait(lock, [&] { return is_closed_ || !waiting_.empty(); });
      if (waiting_.empty()) {
        return;
      }
      Snapshot next = std::move(waiting_.front());
      waiting_.pop_front();
      changed_.notify_all();
      lock.unlock();
      try {
        written_.push_back(files_.write(std::move(next)));
        lock.lock();
      } catch (...) {
        lock.lock();
        error_ = std::current_exception();
        changed_.notify_all();
      }
    }
  }

  void rethrow_error() const {
    if (error_ != nullptr) {
      std::rethrow_exception(error_);
    }
  }

  SnapshotFiles files_;                   // used only by the thread
  std::vector<WrittenSnapshot> written_;  // used only by the thread until it has ended
  boost::mutex mutex_;                    // guards the members below
  boost::condition_variable changed_;
  std::deque<Snapshot> waiting_;
  std::exception_ptr error_;
  bool is_closed_ = false;
  boost::thread thread_;  // declared last: the thread uses the members above
};

}  // namespace examples::live_checkpoint
