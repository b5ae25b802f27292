// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/shadow/default_mode.hpp>
#include <byre/shadow/mode.hpp>
#include <byre/sync/boost.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace byre::inline v0::shadow {
namespace {

constexpr std::array<std::string_view, 4> names{"alias", "warn", "error", "copy"};

constinit basic_default_mode<sync::Boost> default_mode;
// Every reshape looks here: no function is called for it.
#if defined(__GNUC__)
[[gnu::tls_model("initial-exec")]]
#endif
constinit thread_local std::optional<ReshapeMode>
    mode_of_scope;

ReshapeMode mode_of_environment() {
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

ReshapeMode reshape_mode() {
  if (mode_of_scope) {
    return *mode_of_scope;
  }
  if (const auto mode = default_mode.get()) {
    return *mode;
  }
  static const ReshapeMode from_environment = mode_of_environment();
  return from_environment;
}

void set_default_reshape_mode(std::optional<ReshapeMode> mode) noexcept {
  default_mode.set(mode);
}

ReshapeModeScope::ReshapeModeScope(ReshapeMode mode) noexcept
    : outer_(std::exchange(mode_of_scope, mode)) {}

ReshapeModeScope::~ReshapeModeScope() {
  mode_of_scope = outer_;
}

}  // namespace byre::inline v0::shadow
