// SPDX-License-Identifier: BSL-1.0
/// The modes of `reshape`. If the output can be a view of the input, the mode decides whether it is
/// an alias of the input, an alias whose accesses are tracked, or a lazy copy. The mode is set by
/// the environment, for the process, or for a scope of a thread. docs/reshape.md explains their
/// use.
///
/// Unless a function says otherwise, it is thread-safe, wait-free except for the first read of the
/// environment, and throws nothing.
#pragma once

#include <byre/config.hpp>
#include <byre/sync/detail/relaxed.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace byre::inline BYRE_ABI::shadow {

/// Source: the design note "Copy-on-write motivation".
enum class ReshapeMode : std::uint8_t {
  alias,  ///< an untracked alias
  warn,   ///< a tracked alias: code that relies on the alias is reported
  error,  ///< a tracked alias: code that relies on the alias throws ReshapeViolation
  copy,   ///< a lazy copy: the default
};

/// Whether a reshape in this mode tracks the accesses to its input and to its output.
constexpr bool tracks(ReshapeMode mode) noexcept {
  return mode == ReshapeMode::warn || mode == ReshapeMode::error;
}

/// "alias", "warn", "error" or "copy".
BYRE_API std::string_view name_of(ReshapeMode mode) noexcept;
/// The mode of this name; nullopt for any other name.
BYRE_API std::optional<ReshapeMode> mode_named(std::string_view name) noexcept;

namespace detail {

// These are declared here so that a reshape loads them without a function call.
BYRE_TLS_MODEL BYRE_API extern constinit thread_local std::optional<ReshapeMode> mode_of_scope;
/// The number of the process's mode plus 1. 0 if the environment has not been read yet, or if its
/// value is not a mode.
BYRE_API extern constinit sync::detail::RelaxedCounter mode_of_process;

/// The active-tracking count: the number of objects that track accesses, which are scopes in force,
/// the process-wide mode, and storages. The environment counts as one object until it is read. A
/// thread that uses such an object loads a count above 0. The count has its own cache line.
struct alignas(64) ActiveTracking : sync::detail::RelaxedCounter {
  using sync::detail::RelaxedCounter::RelaxedCounter;
};
BYRE_API extern constinit ActiveTracking active_tracking;

/// Whether the mode in force on this thread tracks; false if the environment does not name a mode.
/// Wait-free, except for the first read of the environment.
BYRE_API bool is_tracking() noexcept;

[[gnu::cold]] BYRE_API ReshapeMode read_environment();

}  // namespace detail

/// The mode in force on this thread: that of its innermost ReshapeModeScope, else the process's
/// default, else the value of BYRE_RESHAPE in the environment at the first call in the process,
/// else copy. Throws InvalidArgument, at each call, if BYRE_RESHAPE is not the name of a mode.
inline ReshapeMode reshape_mode() {
  if (detail::mode_of_scope) [[unlikely]] {
    return *detail::mode_of_scope;
  }
  if (const std::uint64_t number = detail::mode_of_process.value(); number != 0) [[likely]] {
    return static_cast<ReshapeMode>(number - 1);
  }
  return detail::read_environment();
}

/// Sets the process's default for all threads; nullopt sets it to the current value of
/// BYRE_RESHAPE. Takes a lock. A concurrent reshape may still use the previous default.
BYRE_API void set_default_reshape_mode(std::optional<ReshapeMode> mode) noexcept;

/// Sets a mode for this thread until the scope ends. Scopes nest; they must end in reverse order,
/// each on the thread on which it began.
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

}  // namespace byre::inline BYRE_ABI::shadow
