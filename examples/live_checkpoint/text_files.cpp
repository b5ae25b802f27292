// SPDX-License-Identifier: BSL-1.0
#include "text_files.hpp"

#include "failure.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <system_error>
#include <vector>

namespace examples::live_checkpoint {
namespace {

namespace fs = std::filesystem;

/// Throws Failure for a directory that cannot be listed, except below one that can.
std::vector<fs::path> files_below(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  fs::recursive_directory_iterator entry(directory, error);
  if (error) {
    throw Failure("Cannot list " + directory.string() + ": " + error.message() + ".");
  }
  constexpr auto skipping = fs::directory_options::skip_permission_denied;
  entry = fs::recursive_directory_iterator(directory, skipping, error);
  while (!error && entry != fs::recursive_directory_iterator()) {
    std::error_code unknown;
    if (!entry->is_symlink(unknown) && entry->is_regular_file(unknown)) {
      files.push_back(entry->path());
    }
    entry.increment(error);
  }
  if (error) {
    throw Failure("Cannot list all of " + directory.string() + ": " + error.message() + ".");
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool is_layout(unsigned char byte) noexcept {
  return (byte >= '\b' && byte <= '\r') || byte == 0x1b;
}

}  // namespace

std::vector<fs::path> find_files(const std::vector<fs::path>& paths) {
  std::vector<fs::path> files;
  for (const fs::path& path : paths) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found) {
      throw UsageError("There is no " + path.string() + " to read text from.");
    }
    if (error) {
      throw Failure("Cannot look at " + path.string() + ": " + error.message() + ".");
    }
    if (fs::is_directory(status)) {
      const auto below = files_below(path);
      files.insert(files.end(), below.begin(), below.end());
    } else if (fs::is_regular_file(status)) {
      files.push_back(path);
    } else {
      throw Failure(path.string() + " is neither a file nor a directory. Give one with text.");
    }
  }
  return files;
}

bool begins_like_text(std::string_view beginning) noexcept {
  constexpr std::array<std::string_view, 4> formats{"BZh", "\x28\xb5\x2f\xfd", "LZIP", "%PDF-"};
  for (const std::string_view format : formats) {
    if (beginning.starts_with(format)) {
      return false;
    }
  }
  return std::all_of(beginning.begin(), beginning.end(), [](char character) {
    const auto byte = static_cast<unsigned char>(character);
    return byte >= ' ' || is_layout(byte);
  });
}

ReadOutcome read_text(const fs::path& path, const std::function<bool(std::string_view)>& feed) {
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "rbe"), close);
  if (file == nullptr) {
    return ReadOutcome::unreadable;
  }
  std::vector<char> buffer(65536);
  bool first = true;
  while (const std::size_t nbytes = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    const std::string_view piece(buffer.data(), nbytes);
    if (first && !begins_like_text(piece)) {
      return ReadOutcome::not_text;
    }
    first = false;
    if (!feed(piece)) {
      return ReadOutcome::stopped;
    }
  }
  return std::ferror(file.get()) != 0 ? ReadOutcome::unreadable : ReadOutcome::read;
}

}  // namespace examples::live_checkpoint
