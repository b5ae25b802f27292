// SPDX-License-Identifier: BSL-1.0
/// The recording that BYRE_TRACE in the environment asks for.
#include <byre/error/error.hpp>
#include <byre/stats/detail/recorder.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/sync/detail/process_state.hpp>
#include <byre/trace/recording.hpp>

#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>

namespace byre::inline v0::trace {
namespace {

const char* place_in_environment() noexcept {
  const char* const value = std::getenv("BYRE_TRACE");
  return value == nullptr ? "" : value;
}

bool is_place(const std::string& where) noexcept {
  return where == "stderr" || where.ends_with(".json") || where.ends_with(".txt");
}

struct FromEnvironment {
  FromEnvironment() noexcept;
  void write() const;

  std::optional<Recording> recording;
  const std::uint32_t process = sync::detail::process_number;
};

/// What is wrong is told when the program ends.
FromEnvironment::FromEnvironment() noexcept {
  try {
    if (BYRE_STATS && is_place(place_in_environment())) {
      recording.emplace();
    }
  } catch (const std::exception& error) {
    warn("BYRE_TRACE in the environment asks for a trace, which failed: %s", error.what());
  }
}

void FromEnvironment::write() const {
  std::string where = place_in_environment();
  if (!is_place(where)) {
    throw InvalidArgument(
        format_text("\"%.500s\" is neither stderr, nor a file whose name ends in .json or .txt. "
                    "Use one of these.",
                    where.c_str()));
  }
  if (!BYRE_STATS) {
    throw InvalidArgument(
        format_text("this byre was built without stats. Configure it with -Dstats=enabled."));
  }
  if (!recording) {
    return;  // it was told why
  }
  if (const std::size_t at = where.find("%p"); at != std::string::npos) {
    where.replace(at, 2, std::to_string(::getpid()));
  } else if (sync::detail::process_number != process) {
    return;  // the file is the parent's
  }
  if (where == "stderr") {
    std::fputs(recording->summary().c_str(), stderr);
  } else {
    recording->write(where);
  }
  if (const std::uint64_t lost = recording->lost(); lost != 0) {
    warn("the trace in %s lacks %llu events, for which there was no room.", where.c_str(),
         static_cast<unsigned long long>(lost));
  }
}

/// After the destructors of statics.
[[gnu::destructor]] void write_trace_at_exit() noexcept {
  try {
    if (*place_in_environment() != '\0') {
      sync::no_destructor<FromEnvironment>().write();
    }
  } catch (const std::exception& error) {
    warn("the trace that BYRE_TRACE in the environment asks for was not written: %s", error.what());
  }
}

}  // namespace
}  // namespace byre::inline v0::trace

#if BYRE_STATS
void byre::stats::detail::record_for_environment() noexcept {
  if (*trace::place_in_environment() != '\0') {
    sync::no_destructor<trace::FromEnvironment>();
  }
}
#endif
