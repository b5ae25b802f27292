// SPDX-License-Identifier: BSL-1.0
#include "workspace.hpp"

#include "failure.hpp"
#include "temporary_directory.hpp"

#include <string>
#include <system_error>

namespace examples::live_checkpoint {
namespace {

namespace fs = std::filesystem;

void create(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error || !fs::is_directory(directory, error)) {
    throw Failure("Cannot create the directory " + directory.string() + ": " +
                  (error ? error.message() : "there is a file of that name") + ".");
  }
}

}  // namespace

Workspace::Workspace(const std::optional<fs::path>& given, bool keep)
    : keeps_files_(keep || given.has_value()) {
  if (given) {
    create(*given);
    directory_ = *given;
  } else {
    directory_ = create_temporary_directory("live_checkpoint", "Give one with --output.");
  }
}

Workspace::~Workspace() {
  if (!keeps_files_) {
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
  }
}

void Workspace::require_space(std::uint64_t nbytes) const {
  std::error_code error;
  const auto space = fs::space(directory_, error);
  if (!error && space.available < nbytes) {
    throw Failure("The snapshots take " + std::to_string(nbytes >> 20) + " MiB, and " +
                  directory_.string() + " has " + std::to_string(space.available >> 20) +
                  " free. Give another place with --output, or a larger --snapshot-every.");
  }
}

fs::path Workspace::create_for(Mode mode) const {
  const fs::path directory = directory_ / to_string(mode);
  create(directory);
  std::error_code error;
  if (!fs::is_empty(directory, error) || error) {
    throw Failure(directory.string() +
                  " has files in it, which are not overwritten. Remove them, or give another "
                  "--output.");
  }
  return directory;
}

void Workspace::done_with(Mode mode) const noexcept {
  if (!keeps_files_) {
    std::error_code ignored;
    fs::remove_all(directory_ / to_string(mode), ignored);
  }
}

}  // namespace examples::live_checkpoint
