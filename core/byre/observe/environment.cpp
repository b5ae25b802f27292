// SPDX-License-Identifier: BSL-1.0
/// The recording that the environment variable BYRE_TRACE requests.
#include <byre/error/error.hpp>
#include <byre/observe/detail/observer.hpp>
#include <byre/observe/recording.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/sync/detail/process_state.hpp>
#include <byre/system/detail/process.hpp>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>

namespace byre::inline BYRE_ABI::trace {
namespace {

bool is_supported_name(const std::string& file_name) noexcept {
  return file_name == "stderr" || file_name.ends_with(".json") || file_name.ends_with(".txt");
}

/// Reads the environment and the working directory at the first use of data, because the program
/// may change both later.
struct EnvironmentRecording {
  /// An unsupported name is reported at the end of the program.
  EnvironmentRecording() noexcept {
    try {
      // If the variable could be trusted in a set-user-ID program, its caller could make it
      // overwrite any file of the program's user.
      const char* const value = system::trusted_variable("BYRE_TRACE");
      file_name = value == nullptr ? "" : value;
      if (BYRE_STATS && is_supported_name(file_name)) {
        file_name =
            file_name == "stderr" ? file_name : std::filesystem::absolute(file_name).string();
        recording.emplace();
      }
    } catch (const std::exception& error) {
      warn("cannot begin the trace that BYRE_TRACE requests: %s", error.what());
    }
  }
  void write() const;

  std::string file_name;
  std::optional<Recording> recording;
  const std::uint32_t process = sync::detail::process_number;
};

void EnvironmentRecording::write() const {
  if (file_name.empty()) {
    return;
  }
  if (!is_supported_name(file_name)) {
    throw InvalidArgument(format_text(
        "unsupported name \"%.500s\". Use stderr, or a name that ends in .json or .txt.",
        file_name.c_str()));
  }
  if (!BYRE_STATS) {
    throw InvalidArgument(
        format_text("byre was built without stats. Configure it with -Dstats=enabled."));
  }
  if (!recording) {
    return;  // the constructor has printed a warning
  }
  std::string file = file_name;
  if (const std::size_t at = file.find("%p"); at != std::string::npos) {
    file.replace(at, 2, std::to_string(system::process_id()));
  } else if (sync::detail::process_number != process) {
    return;  // this process is a forked child, and the parent writes the file
  }
  if (file == "stderr") {
    std::fputs(recording->summary().c_str(), stderr);
  } else {
    recording->write(file);
  }
  if (const std::uint64_t lost = recording->lost(); lost != 0) {
    warn("the trace in %s lacks %llu events: the recording was full.", file.c_str(),
         static_cast<unsigned long long>(lost));
  }
}

/// Runs after the destructors of static objects.
[[gnu::destructor]] void write_trace_at_exit() noexcept {
  try {
    sync::no_destructor<EnvironmentRecording>().write();
  } catch (const std::exception& error) {
    warn("cannot write the trace that BYRE_TRACE requests: %s", error.what());
  }
}

}  // namespace
}  // namespace byre::inline BYRE_ABI::trace

void byre::stats::detail::record_for_environment() noexcept {
  sync::no_destructor<trace::EnvironmentRecording>();
}
