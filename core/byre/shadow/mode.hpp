// SPDX-License-Identifier: BSL-1.0
/// What `reshape` does where its output can be a view of its input: alias it, as it always did, watched
/// or not, or copy it lazily.
#pragma once

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

/// "alias", ...
std::string_view name_of(ReshapeMode mode) noexcept;
/// Nothing for a name that no mode has.
std::optional<ReshapeMode> mode_named(std::string_view name) noexcept;

/// The mode in force on this thread: of its innermost ReshapeModeScope, else the process's default,
/// else what BYRE_RESHAPE in the environment said when it was first asked for, else copy. Throws
/// InvalidArgument, each time, if that is not the name of a mode.
ReshapeMode reshape_mode();

/// The process's default from now on, on all threads; nothing gives the choice back to the environment.
/// Thread-safe; what threads that reshape at the same time see is either.
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
  std::optional<ReshapeMode> outer_;
};

}  // namespace byre::inline v0::shadow
