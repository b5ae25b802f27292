// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/shadow/mode.hpp>
#include <byre/sync/detail/mutex.hpp>
#include <byre/sync/detail/no_destructor.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace byre::inline BYRE_ABI::shadow {
namespace {

constexpr std::array<std::string_view, 4> mode_names{"alias", "warn", "error", "copy"};

std::string_view value_of_environment() noexcept {
  const char* const value = std::getenv("BYRE_RESHAPE");
  return value == nullptr ? "" : value;
}

/// nullopt if the value is not the name of a mode.
std::optional<ReshapeMode> mode_of_environment() noexcept {
  const std::string_view value = value_of_environment();
  return value.empty() ? ReshapeMode::copy : mode_named(value);
}

/// The mode of the process. If it tracks, it counts as one in active_tracking.
struct ProcessMode {
  sync::ProcessMutex mutex;

  /// Requires the mutex. active_tracking counts the new mode before the mode is in force, and the
  /// old mode as long as it is in force.
  void set(std::optional<ReshapeMode> mode) noexcept {
    const bool is_tracking = mode && tracks(*mode);
    if (is_tracking) {
      detail::active_tracking.add();
    }
    detail::mode_of_process.set(mode ? 1 + static_cast<std::uint64_t>(*mode) : 0);
    if (std::exchange(is_counted_, is_tracking)) {
      detail::active_tracking.subtract();
    }
  }

 private:
  bool is_counted_ = true;  // the environment counts as one until it is read
};

void read_environment_once() noexcept {
  if (detail::mode_of_process.value() == 0) {
    auto& process = sync::no_destructor<ProcessMode>();
    const sync::ProcessLock lock(process.mutex);
    if (detail::mode_of_process.value() == 0) {  // no other thread chose a default meanwhile
      process.set(mode_of_environment());
    }
  }
}

}  // namespace

std::string_view name_of(ReshapeMode mode) noexcept {
  return mode_names[static_cast<std::size_t>(mode)];
}

std::optional<ReshapeMode> mode_named(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(mode_names, name);
  return found == mode_names.end()
             ? std::nullopt
             : std::optional(static_cast<ReshapeMode>(found - mode_names.begin()));
}

constinit thread_local std::optional<ReshapeMode> detail::mode_of_scope;
constinit sync::detail::RelaxedCounter detail::mode_of_process;
constinit detail::ActiveTracking detail::active_tracking(1);

bool detail::is_tracking() noexcept {
  if (mode_of_scope) {
    return tracks(*mode_of_scope);
  }
  read_environment_once();
  const std::uint64_t number = mode_of_process.value();
  return number != 0 && tracks(static_cast<ReshapeMode>(number - 1));
}

ReshapeMode detail::read_environment() {
  read_environment_once();
  if (const std::uint64_t number = mode_of_process.value(); number != 0) {
    return static_cast<ReshapeMode>(number - 1);
  }
  throw InvalidArgument(format_text(
      "reshape: BYRE_RESHAPE in the environment is \"%.100s\", allowed are alias, warn, error "
      "and copy. Set it to one of these, or unset it for copy.",
      value_of_environment().data()));
}

void set_default_reshape_mode(std::optional<ReshapeMode> mode) noexcept {
  auto& process = sync::no_destructor<ProcessMode>();
  const sync::ProcessLock lock(process.mutex);
  process.set(mode ? mode : mode_of_environment());
}

ReshapeModeScope::ReshapeModeScope(ReshapeMode mode) noexcept
    : tracks_(tracks(mode)), outer_(detail::mode_of_scope) {
  read_environment_once();  // until then the environment counts in active_tracking
  if (tracks_) {
    detail::active_tracking.add();
  }
  detail::mode_of_scope = mode;
}

ReshapeModeScope::~ReshapeModeScope() {
  detail::mode_of_scope = outer_;
  if (tracks_) {
    detail::active_tracking.subtract();
  }
}

}  // namespace byre::inline BYRE_ABI::shadow
