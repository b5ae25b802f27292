// SPDX-License-Identifier: BSL-1.0
/// Puts the table of a snapshot together again, from its full file or from deltas and the full file that they
/// go back to.
#pragma once

#include "delta.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace examples::live_checkpoint {

class Restorer {
 public:
  /// Reads the snapshot of `file`, a .npy file with its CRC-32 beside it or a delta. Reads those before it as
  /// well, from the same folder, unless the one just before was loaded last. Throws Failure, byre::FileError
  /// for files that are missing, damaged or not made from each other.
  void load(const std::filesystem::path& file);

  /// What was loaded: the bytes of a .npy file, and the CRC-32 of them all.
  const std::vector<char>& npy() const noexcept { return npy_; }
  std::uint32_t checksum() const;

 private:
  void load_full(const std::filesystem::path& file);
  bool is_loaded(const DeltaHeader& before) const noexcept;
  void apply(const Delta& delta, const std::filesystem::path& file);

  std::vector<char> npy_;
  std::size_t table_offset_ = 0;  ///< in npy_
  std::uint32_t identity_ = 0;    ///< what a delta to this has as previous CRC-32
};

/// Writes the snapshot of `file` as a .npy file into `directory`, with its CRC-32 beside it, and says so. Throws
/// as Restorer::load(), and Failure if the file is there already or the directory cannot be made.
std::string restore(const std::filesystem::path& file, const std::filesystem::path& directory);

}  // namespace examples::live_checkpoint
