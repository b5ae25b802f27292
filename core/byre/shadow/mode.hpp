// SPDX-License-Identifier: BSL-1.0
/// What `reshape` does where its output can be a view of its input: alias it, as it always did, watched
/// or not, or copy it lazily.
#pragma once

#include <byre/config.hpp>
#include <byre/shadow/default_mode.hpp>
#include <byre/shadow/switch.hpp>
#include <byre/shadow/watch_count.hpp>
#include <byre/sync/boost.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace byre::inline v0::shadow {

/// Source: the seed "Copy-on-write motivation".
enum class ReshapeMode : std::uint8_t {
  alias,  ///< aliases, and says nothing: as it always was
  warn,   ///< aliases, and reports what relies on that
  error,  ///< aliases, and throws where something relies on that
  copy,   ///< a lazy copy: the default
};

/// Whether tensors that a reshape in this mode links are looked after.
constexpr bool watches(ReshapeMode mode) noexcept {
  return mode == ReshapeMode::warn || mode == ReshapeMode::error;
}

/// "alias", ...
std::string_view name_of(ReshapeMode mode) noexcept;
/// Nothing for a name that no mode has.
std::optional<ReshapeMode> mode_named(std::string_view name) noexcept;

namespace detail {

// Every reshape looks here, and calls no function for it.
BYRE_TLS_MODEL extern constinit thread_local std::optional<ReshapeMode> mode_of_scope;
extern constinit basic_default_mode<sync::Boost> default_mode;
/// Once somebody asked for it, and it was the name of a mode.
extern constinit basic_default_mode<sync::Boost> mode_of_environment;

[[gnu::cold]] ReshapeMode look_into_environment();

/// Of scopes in force, of the process's default, of the environment, and of storages that a watched
/// reshape met. The environment is one until somebody looked. By itself in its line of cache.
struct alignas(64) WatchCount : basic_watch_count<sync::Boost> {
  using basic_watch_count::basic_watch_count;
};
extern constinit WatchCount watch_count;

/// Whether the environment's mode watches, once somebody looked.
extern constinit basic_switch<sync::Boost> environment_watches;
[[gnu::cold]] bool look_whether_environment_watches() noexcept;

/// Whether the mode in force on this thread watches; not if the environment has no mode's name. Looks
/// into the environment once, but leaves it to the first reshape to say what it is for good. Wait-free
/// from then on.
inline bool is_watching() noexcept {
  if (mode_of_scope) {
    return watches(*mode_of_scope);
  }
  if (const auto mode = default_mode.get()) {
    return watches(*mode);
  }
  const auto known = environment_watches.get();
  return known ? *known : look_whether_environment_watches();
}

}  // namespace detail

/// The mode in force on this thread: of its innermost ReshapeModeScope, else the process's default,
/// else what BYRE_RESHAPE in the environment said when this was first asked for, else copy. (Whether it
/// watches is looked up before, by the first pointer to write that leaves: that decides nothing here.)
/// Throws InvalidArgument, each time, if it is not the name of a mode.
inline ReshapeMode reshape_mode() {
  if (detail::mode_of_scope) [[unlikely]] {
    return *detail::mode_of_scope;
  }
  if (const auto mode = detail::default_mode.get()) [[unlikely]] {
    return *mode;
  }
  if (const auto mode = detail::mode_of_environment.get()) [[likely]] {
    return *mode;
  }
  return detail::look_into_environment();
}

/// The process's default from now on, on all threads; nothing gives the choice back to the environment.
/// Thread-safe; locks. What threads see that reshape or hand out pointers at the same time is either.
void set_default_reshape_mode(std::optional<ReshapeMode> mode) noexcept;

/// A mode for this thread, until the scope ends. Scopes nest, and end in the opposite order on the
/// thread they began on.
class [[nodiscard]] ReshapeModeScope {
 public:
  explicit ReshapeModeScope(ReshapeMode mode) noexcept;
  ~ReshapeModeScope();
  ReshapeModeScope(const ReshapeModeScope&) = delete;
  ReshapeModeScope& operator=(const ReshapeModeScope&) = delete;

 private:
  const bool watches_;
  const std::optional<ReshapeMode> outer_;
};

}  // namespace byre::inline v0::shadow
