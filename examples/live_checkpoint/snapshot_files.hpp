// SPDX-License-Identifier: BSL-1.0
/// The files of snapshots: a full one is a .npy file with its CRC-32 beside it, and a delta has the tiles that
/// changed since the snapshot before.
#pragma once

#include "table.hpp"
#include "training.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace examples::live_checkpoint {

inline constexpr const char* full_extension = ".npy";
inline constexpr const char* delta_extension = ".delta";

struct WrittenSnapshot {
  std::uint64_t token = 0;
  std::filesystem::path file;
  bool is_delta = false;
  std::uint32_t checksum =
      0;  ///< CRC-32: of a full file, as it was when written; of a delta, the one in it
  std::uint64_t nbytes = 0;  ///< of the file
  std::uint64_t tiles = 0;   ///< in the file
};

/// "token-000000001000" and the extension, in `directory`.
std::filesystem::path snapshot_file(const std::filesystem::path& directory, std::uint64_t token,
                                    const char* extension);

/// The name of the file beside `npy` that has its checksum: "<8 hexadecimal digits>  <name>".
std::filesystem::path checksum_file(const std::filesystem::path& npy);

/// Throws byre::FileError.
void write_checksum_file(const std::filesystem::path& npy, std::uint32_t checksum);

/// All of its bytes. Throws Failure.
std::vector<char> read_file(const std::filesystem::path& file);

/// Writes the snapshots of one run, in order. Used by one thread.
class SnapshotFiles {
 public:
  /// Writes into `directory`, which exists. Of snapshots in tiles each `full_every`th file is full, from the
  /// first on; others are always full.
  SnapshotFiles(const Plan& plan, std::filesystem::path directory, std::uint64_t full_every);

  /// Lets go of the snapshot: of storages as soon as each is written, of tiles when no delta needs them any
  /// more. Throws byre::FileError, std::bad_alloc.
  WrittenSnapshot write(Snapshot snapshot);

 private:
  WrittenSnapshot write_storages(std::uint64_t token, std::vector<byre::Storage> storages) const;
  WrittenSnapshot write_tiles(std::uint64_t token, const byre::TiledBuffer& tiles) const;
  WrittenSnapshot write_changes(std::uint64_t token, const byre::TiledBuffer& tiles);

  const Plan* plan_;
  std::filesystem::path directory_;
  std::uint64_t full_every_;
  std::uint64_t count_ = 0;
  WrittenSnapshot previous_;
  byre::TiledBuffer previous_tiles_;
};

}  // namespace examples::live_checkpoint
