// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/shadow/mode.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace byre::inline v0::shadow {
namespace {

constexpr std::array<std::string_view, 4> names{"alias", "warn", "error", "copy"};

ReshapeMode mode_named_by_environment() {
  const char* const asked = std::getenv("BYRE_RESHAPE");
  if (asked == nullptr || *asked == '\0') {
    return ReshapeMode::copy;
  }
  if (const auto mode = mode_named(asked)) {
    return *mode;
  }
  throw InvalidArgument(
      format_text("reshape: BYRE_RESHAPE in the environment is \"%.100s\", which is none of alias, "
                  "warn, error and copy. Set it to one of these, or unset it for copy.",
                  asked));
}

}  // namespace

std::string_view name_of(ReshapeMode mode) noexcept {
  return names[static_cast<std::size_t>(mode)];
}

std::optional<ReshapeMode> mode_named(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(names, name);
  return found == names.end() ? std::nullopt
                              : std::optional(static_cast<ReshapeMode>(found - names.begin()));
}

constinit thread_local std::optional<ReshapeMode> detail::mode_of_scope;
constinit basic_default_mode<sync::Boost> detail::default_mode;
constinit basic_default_mode<sync::Boost> detail::mode_of_environment;

ReshapeMode detail::look_into_environment() {
  const ReshapeMode mode = mode_named_by_environment();
  mode_of_environment.set(mode);
  return mode;
}

void set_default_reshape_mode(std::optional<ReshapeMode> mode) noexcept {
  detail::default_mode.set(mode);
}

ReshapeModeScope::ReshapeModeScope(ReshapeMode mode) noexcept
    : outer_(std::exchange(detail::mode_of_scope, mode)) {}

ReshapeModeScope::~ReshapeModeScope() {
  detail::mode_of_scope = outer_;
}

}  // namespace byre::inline v0::shadow
