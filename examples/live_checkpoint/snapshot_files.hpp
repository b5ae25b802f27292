// SPDX-License-Identifier: BSL-1.0
/// Writes snapshots to files: a full one is a .npy file, and a delta has the tiles that changed since the snapshot before.
#pragma once

#include "delta.hpp"
#include "tables.hpp"
#include "training.hpp"

#include <byre/files/output_file.hpp>
#include <byre/interop/npy_header.hpp>
#include <byre/storage/tiles/tiled_buffer.hpp>

#include <utility>
#include <variant>

namespace examples::live_checkpoint {

struct WrittenSnapshot {
  std::uint64_t token = 0;
  fs::path file{};
  std::uint32_t identity = 0;  ///< see delta.hpp
  std::uint64_t nbytes = 0;    ///< of the file
};

/// Writes the snapshots of one run, in order. Used by one thread.
class SnapshotFiles {
 public:
  /// Writes into `directory`, which exists.
  SnapshotFiles(const Plan& plan, fs::path directory)
      : plan_(&plan), directory_(std::move(directory)) {}

  /// Releases the snapshot: storages as soon as each is written, tiles when no delta needs them any more. Throws
  /// byre::FileError, std::bad_alloc.
  WrittenSnapshot write(Snapshot snapshot) {
    auto* const tiles = std::get_if<byre::TiledBuffer>(&snapshot.rows);
    if (tiles == nullptr) {
      return write_full(snapshot);
    }
    const bool is_first = previous_.token == 0;
    previous_ = is_first ? write_full(snapshot) : write_changes(snapshot.token, *tiles);
    previous_tiles_ = std::move(*tiles);  // for the next one to be compared with
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
        storage = byre::Storage();  // training need not copy it any more
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
    previous_tiles_ = byre::TiledBuffer();  // before the writing, in which training needs memory
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

}  // namespace examples::live_checkpoint
