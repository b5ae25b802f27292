// SPDX-License-Identifier: BSL-1.0
/// The recording that BYRE_TRACE in the environment asks for.
#include <byre/error/error.hpp>
#include <byre/observe/detail/observer.hpp>
#include <byre/observe/recording.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/sync/detail/process_state.hpp>

#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>

namespace byre::inline v0::trace {
namespace {

/// Empty if the program has rights that its caller lacks: the caller chooses the file that is
/// written.
const char* name_in_environment() noexcept {
#if defined(__GLIBC__)
  const char* const value = ::secure_getenv("BYRE_TRACE");
#else
  const char* const value = std::getenv("BYRE_TRACE");
#endif
  return value == nullptr ? "" : value;
}

bool is_supported_name(const std::string& file_name) noexcept {
  return file_name == "stderr" || file_name.ends_with(".json") || file_name.ends_with(".txt");
}

/// As it is when there is the first data: a program may change its environment and its folder
/// later.
struct EnvironmentRecording {
  /// An unsupported name is told when the program ends.
  EnvironmentRecording() noexcept {
    try {
      file_name = name_in_environment();
      if (BYRE_STATS && is_supported_name(file_name)) {
        file_name =
            file_name == "stderr" ? file_name : std::filesystem::absolute(file_name).string();
        recording.emplace();
      }
    } catch (const std::exception& error) {
      warn("BYRE_TRACE in the environment asks for a trace, which failed: %s", error.what());
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
    throw InvalidArgument(
        format_text("\"%.500s\" is neither stderr, nor a file whose name ends in .json or .txt. "
                    "Use one of these.",
                    file_name.c_str()));
  }
  if (!BYRE_STATS) {
    throw InvalidArgument(
        format_text("this byre was built without stats. Configure it with -Dstats=enabled."));
  }
  if (!recording) {
    return;  // it was told why
  }
  std::string file = file_name;
  if (const std::size_t at = file.find("%p"); at != std::string::npos) {
    file.replace(at, 2, std::to_string(::getpid()));
  } else if (sync::detail::process_number != process) {
    return;  // the file is the parent's
  }
  if (file == "stderr") {
    std::fputs(recording->summary().c_str(), stderr);
  } else {
    recording->write(file);
  }
  if (const std::uint64_t lost = recording->lost(); lost != 0) {
    warn("the trace in %s lacks %llu events, for which there was no room.", file.c_str(),
         static_cast<unsigned long long>(lost));
  }
}

/// After the destructors of statics.
[[gnu::destructor]] void write_trace_at_exit() noexcept {
  try {
    sync::no_destructor<EnvironmentRecording>().write();
  } catch (const std::exception& error) {
    warn("the trace that BYRE_TRACE in the environment asks for was not written: %s", error.what());
  }
}

}  // namespace
}  // namespace byre::inline v0::trace

void byre::stats::detail::record_for_environment() noexcept {
  sync::no_destructor<trace::EnvironmentRecording>();
}
