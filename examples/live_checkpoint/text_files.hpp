// SPDX-License-Identifier: BSL-1.0
/// Finds text on disk: the files below the paths the user gave, in an order that does not depend on
/// the file system. Says of each whether it is text, so that pictures and archives teach no words.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

namespace examples::live_checkpoint {

/// Regular files of `paths`, in the order given, those of a directory recursively and sorted by
/// name. Symbolic links inside directories are left out: they name files twice. Throws UsageError
/// if a path is missing, and Failure if it is no file or directory or cannot be read.
std::vector<std::filesystem::path> find_files(const std::vector<std::filesystem::path>& paths);

/// True iff a file that begins so is text: no control bytes but those of layout, and not one of the
/// compressed formats that may happen to have none.
bool begins_like_text(std::string_view beginning) noexcept;

enum class ReadOutcome { read, stopped, not_text, unreadable };

/// Hands the file's bytes to `feed`, piece by piece, until it returns false.
ReadOutcome read_text(const std::filesystem::path& path,
                      const std::function<bool(std::string_view)>& feed);

}  // namespace examples::live_checkpoint
