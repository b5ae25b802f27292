// SPDX-License-Identifier: BSL-1.0
/// Restores the table of a snapshot from its full file, or from a chain of deltas and the full file
/// at its beginning.
#pragma once

#include "delta.hpp"

#include <byre/files/output_file.hpp>
#include <byre/interop/npy_header.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace examples::live_checkpoint {

class Restorer {
 public:
  /// Loads the snapshot of `file`. Reads the earlier snapshots in the folder of `file`, unless the
  /// previous snapshot is loaded already. Throws Failure if files are missing, damaged or from
  /// different runs.
  void load(const fs::path& file) {
    // Walks back to the loaded snapshot or to a full file. Only one delta at a time is in memory.
    std::vector<fs::path> deltas;
    fs::path at = file;
    while (at.extension() == delta_extension) {
      deltas.push_back(at);
      const DeltaHeader header = read_delta(at).header;
      if (identity_ == header.previous_identity) {
        break;
      }
      at = snapshot_file(file.parent_path(), header.previous_token, delta_extension);
      if (!fs::exists(at)) {
        at.replace_extension(full_extension);
      }
    }
    if (at.extension() != delta_extension) {
      load_full(at);
    }
    for (; !deltas.empty(); deltas.pop_back()) {
      apply(read_delta(deltas.back()));
    }
  }

  /// The loaded snapshot as the bytes of a .npy file.
  const std::vector<char>& npy() const noexcept { return npy_; }
  std::uint32_t checksum() const {
    Checksum checksum;
    checksum.process_bytes(npy_.data(), npy_.size());
    return checksum.checksum();
  }

 private:
  void load_full(const fs::path& file) {
    identity_.reset();
    npy_ = read_file(file);
    table_offset_ =
        byre::parse_npy_header(std::as_bytes(std::span(npy_)), file.c_str()).data_offset;
    identity_ = checksum();
  }

  void apply(const Delta& delta) {
    if (identity_ != delta.header.previous_identity ||
        delta.header.table_nbytes != npy_.size() - table_offset_) {
      throw Failure(delta.file.string() + " does not follow the snapshot of token " +
                    std::to_string(delta.header.previous_token) +
                    " in its directory. Put only files of one run there.");
    }
    identity_.reset();  // a failure leaves some of the changes
    delta.apply_to(std::span(npy_).subspan(table_offset_));
    identity_ = delta.identity;
  }

  std::vector<char> npy_;
  std::size_t table_offset_ = 0;           ///< in npy_
  std::optional<std::uint64_t> identity_;  ///< of the loaded snapshot, if one is loaded
};

/// Writes the snapshot of `file` as a new .npy file in `directory`. Returns its path. Throws
/// Failure, byre::FileError.
inline fs::path restore(const fs::path& file, const fs::path& directory) {
  Restorer restorer;
  restorer.load(file);
  const fs::path npy = directory / file.filename().replace_extension(full_extension);
  fs::create_directories(directory);
  if (fs::exists(npy)) {
    throw Failure("Cannot write " + npy.string() +
                  ": it exists and is not overwritten. Give another --output.");
  }
  byre::OutputFile output(npy);
  output.write(restorer.npy().data(), restorer.npy().size());
  output.commit();
  return npy;
}

}  // namespace examples::live_checkpoint
