// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/shadow/mode.hpp>
#include <byre/shadow/switch.hpp>
#include <byre/sync/immortal.hpp>

#include <algorithm>
#include <array>
#include <boost/thread/lock_guard.hpp>
#include <boost/thread/mutex.hpp>
#include <cstdlib>
#include <utility>

namespace byre::inline v0::shadow {
namespace {

constexpr std::array<std::string_view, 4> names{"alias", "warn", "error", "copy"};

/// Nothing if it is not the name of one.
std::optional<ReshapeMode> mode_in_environment() noexcept {
  const char* const asked = std::getenv("BYRE_RESHAPE");
  return asked == nullptr || *asked == '\0' ? ReshapeMode::copy : mode_named(asked);
}

/// What the process as a whole adds to the reasons to watch. Of changes one is made at a time.
class Reasons {
 public:
  void set_default(std::optional<ReshapeMode> mode) noexcept {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    detail::default_mode.set(mode);
    count(default_watches_, mode && watches(*mode));
  }

  void set_environment(ReshapeMode mode) noexcept {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    count(environment_is_counted_, watches(mode));
    environment_watches_.set(watches(mode));
  }

  /// Looks into it, unless somebody did.
  bool environment_watches() noexcept {
    if (const auto known = environment_watches_.get()) {
      return *known;
    }
    const boost::lock_guard<boost::mutex> lock(mutex_);
    if (!environment_watches_.get()) {
      const bool found = watches(mode_in_environment().value_or(ReshapeMode::copy));
      count(environment_is_counted_, found);
      environment_watches_.set(found);
    }
    return *environment_watches_.get();
  }

 private:
  static void count(bool& is_counted, bool is_one) noexcept {
    if (is_one && !is_counted) {
      detail::watch_count.add();
    } else if (!is_one && is_counted) {
      detail::watch_count.drop();
    }
    is_counted = is_one;
  }

  boost::mutex mutex_;
  bool default_watches_ = false;
  bool environment_is_counted_ = true;
  basic_switch<sync::Boost> environment_watches_;
};

Reasons& reasons() noexcept {
  return sync::immortal<Reasons>();
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
constinit detail::WatchCount detail::watch_count(1);

ReshapeMode detail::look_into_environment() {
  const auto mode = mode_in_environment();
  if (!mode) {
    throw InvalidArgument(format_text(
        "reshape: BYRE_RESHAPE in the environment is \"%.100s\", which is none of alias, "
        "warn, error and copy. Set it to one of these, or unset it for copy.",
        std::getenv("BYRE_RESHAPE")));
  }
  reasons().set_environment(*mode);
  mode_of_environment.set(mode);
  return *mode;
}

bool detail::is_watching() noexcept {
  // First: until somebody did, all that asks comes here.
  const bool environment_watches = reasons().environment_watches();
  if (mode_of_scope) {
    return watches(*mode_of_scope);
  }
  if (const auto mode = default_mode.get()) {
    return watches(*mode);
  }
  return environment_watches;
}

void set_default_reshape_mode(std::optional<ReshapeMode> mode) noexcept {
  reasons().set_default(mode);
}

ReshapeModeScope::ReshapeModeScope(ReshapeMode mode) noexcept
    : outer_(std::exchange(detail::mode_of_scope, mode)) {
  if (watches(mode)) {
    detail::watch_count.add();
  }
}

ReshapeModeScope::~ReshapeModeScope() {
  if (watches(*detail::mode_of_scope)) {
    detail::watch_count.drop();
  }
  detail::mode_of_scope = outer_;
}

}  // namespace byre::inline v0::shadow
