// SPDX-License-Identifier: BSL-1.0
/// What byre did, recorded from now on, for the option --trace.
#pragma once

#include <byre/files/output_file.hpp>
#include <byre/observe/recording.hpp>

#include <filesystem>
#include <optional>
#include <string>

namespace examples::live_checkpoint {

class TraceFile {
 public:
  /// Opens the file: a long run is not to end with that error. Without a name, nothing is recorded. Throws FileError,
  /// InvalidArgument.
  explicit TraceFile(const std::optional<std::filesystem::path>& name) : name_(name) {
    if (name_) {
      file_.emplace(*name_);
      recording_.emplace(room_nbytes);
    }
  }

  /// Stops, writes the file, and says so, or nothing where there is none. Throws FileError.
  std::string write() {
    if (!name_) {
      return "";
    }
    recording_->stop();
    const std::string text =
        name_->extension() == ".txt" ? recording_->summary() : recording_->to_json();
    file_->write(text.data(), text.size());
    file_->commit();
    const auto lost = recording_->lost();
    return "The trace is in " + name_->string() + "." +
           (lost == 0 ? "" : " It lacks " + std::to_string(lost) + " events, for want of room.");
  }

 private:
  static constexpr std::size_t room_nbytes = std::size_t{256} << 20;

  std::optional<std::filesystem::path> name_;
  std::optional<byre::OutputFile> file_;
  std::optional<byre::trace::Recording> recording_;
};

}  // namespace examples::live_checkpoint
