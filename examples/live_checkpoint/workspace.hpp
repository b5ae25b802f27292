// SPDX-License-Identifier: BSL-1.0
/// The directory that the snapshots go to: the user's, or a temporary one that is removed. What
/// would go wrong for want of a place is found out before any training.
#pragma once

#include "run.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>

namespace examples::live_checkpoint {

class Workspace {
 public:
  /// Creates `given`, or a temporary directory. Throws Failure.
  Workspace(const std::optional<std::filesystem::path>& given, bool keep);

  /// Removes the directory if it is temporary and not to be kept.
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  const std::filesystem::path& directory() const noexcept { return directory_; }

  /// From now on the files stay.
  void keep_files() noexcept { keeps_files_ = true; }

  /// True iff the files stay.
  bool keeps_files() const noexcept { return keeps_files_; }

  /// Throws Failure if fewer than `nbytes` are free.
  void require_space(std::uint64_t nbytes) const;

  /// A new directory for the files of `mode`. Throws Failure if there is one with files in it,
  /// which are those of an earlier run.
  std::filesystem::path create_for(Mode mode) const;

  /// The files of `mode` are not needed any more; removes them unless they stay.
  void done_with(Mode mode) const noexcept;

 private:
  std::filesystem::path directory_;
  bool keeps_files_;
};

}  // namespace examples::live_checkpoint
