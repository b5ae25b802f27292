// SPDX-License-Identifier: BSL-1.0
/// What `reshape` does where its output can be a view of its input: alias the input, tracked or not, or
/// copy it lazily.
#pragma once

#include <byre/config.hpp>
#include <byre/sync/detail/relaxed_counter.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace byre::inline v0::shadow {

/// Source: the seed "Copy-on-write motivation".
enum class ReshapeMode : std::uint8_t {
  alias,  ///< aliases, and reports nothing: as it always was
  warn,   ///< aliases, and reports what relies on that
  error,  ///< aliases, and throws where something relies on that
  copy,   ///< a lazy copy: the default
};

/// Whether a reshape in this mode tracks the accesses to its input and its output.
constexpr bool tracks(ReshapeMode mode) noexcept {
  return mode == ReshapeMode::warn || mode == ReshapeMode::error;
}

/// "alias", ...
BYRE_API std::string_view name_of(ReshapeMode mode) noexcept;
/// Nothing for a name that no mode has.
BYRE_API std::optional<ReshapeMode> mode_named(std::string_view name) noexcept;

namespace detail {

// Every reshape reads these, and calls no function for it.
BYRE_TLS_MODEL BYRE_API extern constinit thread_local std::optional<ReshapeMode> mode_of_scope;
/// One more than the number of the mode; 0 until the environment was read, and where it names no mode.
BYRE_API extern constinit sync::detail::RelaxedCounter mode_of_process;

/// The active-tracking count: how many scopes in force, process-wide modes and storages track accesses.
/// The environment is one until it was read. Alone in its line of cache. Whoever has what tracks finds a
/// count.
struct alignas(64) ActiveTracking : sync::detail::RelaxedCounter {
  using sync::detail::RelaxedCounter::RelaxedCounter;
};
BYRE_API extern constinit ActiveTracking active_tracking;

/// Whether the mode in force on this thread tracks; not if the environment has no mode's name. Wait-free,
/// but for the first look at the environment.
BYRE_API bool is_tracking() noexcept;

[[gnu::cold]] BYRE_API ReshapeMode read_environment();

}  // namespace detail

/// The mode in force on this thread: of its innermost ReshapeModeScope, else the process's default,
/// else what BYRE_RESHAPE in the environment said when the process first asked, else copy. Throws
/// InvalidArgument, each time, if BYRE_RESHAPE is not the name of a mode. Wait-free.
inline ReshapeMode reshape_mode() {
  if (detail::mode_of_scope) [[unlikely]] {
    return *detail::mode_of_scope;
  }
  if (const std::uint64_t number = detail::mode_of_process.value(); number != 0) [[likely]] {
    return static_cast<ReshapeMode>(number - 1);
  }
  return detail::read_environment();
}

/// The process's default from now on, on all threads; without one, what the environment says now.
/// Thread-safe; locks. A reshape at the same time may have the default before.
BYRE_API void set_default_reshape_mode(std::optional<ReshapeMode> mode) noexcept;

/// A mode for this thread, until the scope ends. Scopes nest, and end in the opposite order on the
/// thread they began on.
class [[nodiscard]] BYRE_API ReshapeModeScope {
 public:
  explicit ReshapeModeScope(ReshapeMode mode) noexcept;
  ~ReshapeModeScope();
  ReshapeModeScope(const ReshapeModeScope&) = delete;
  ReshapeModeScope& operator=(const ReshapeModeScope&) = delete;

 private:
  const bool tracks_;
  const std::optional<ReshapeMode> outer_;
};

}  // namespace byre::inline v0::shadow
