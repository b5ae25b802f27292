// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/shadow/mode.hpp>
#include <byre/sync/detail/no_destructor.hpp>

#include <algorithm>
#include <array>
#include <boost/thread/lock_guard.hpp>
#include <boost/thread/mutex.hpp>
#include <cstdlib>

namespace byre::inline v0::shadow {
namespace {

constexpr std::array<std::string_view, 4> names{"alias", "warn", "error", "copy"};

/// Null for nothing.
const char* asked_by_environment() noexcept {
  const char* const asked = std::getenv("BYRE_RESHAPE");
  return asked == nullptr || *asked == '\0' ? nullptr : asked;
}

/// Nothing if it is not the name of one.
std::optional<ReshapeMode> mode_asked(const char* name) noexcept {
  return name == nullptr ? ReshapeMode::copy : mode_named(name);
}

/// What the process as a whole adds to the reasons to watch. Of changes one is made at a time; a reason
/// is counted before the mode is in force that it is for, and until after.
class Reasons {
 public:
  void set_default(std::optional<ReshapeMode> mode) noexcept {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    change(default_is_counted_, mode && watches(*mode), [&] { detail::default_mode.set(mode); });
  }

  void set_environment(ReshapeMode mode) noexcept {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    change(environment_is_counted_, watches(mode), [&] {
      detail::environment_watches.set(watches(mode));
      detail::mode_of_environment.set(mode);
    });
  }

  bool look_into_environment() noexcept {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    if (!detail::environment_watches.get()) {
      const bool found = watches(mode_asked(asked_by_environment()).value_or(ReshapeMode::copy));
      change(environment_is_counted_, found, [&] { detail::environment_watches.set(found); });
    }
    return *detail::environment_watches.get();
  }

 private:
  template <class Change>
  static void change(bool& is_counted, bool is_reason, const Change& make) noexcept {
    if (is_reason && !is_counted) {
      detail::watch_count.add();
    }
    make();
    if (!is_reason && is_counted) {
      detail::watch_count.drop();
    }
    is_counted = is_reason;
  }

  boost::mutex mutex_;
  bool default_is_counted_ = false;
  bool environment_is_counted_ = true;
};

Reasons& reasons() noexcept {
  return sync::no_destructor<Reasons>();
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

constinit basic_switch<sync::Boost> detail::environment_watches;

ReshapeMode detail::look_into_environment() {
  const char* const asked = asked_by_environment();
  const auto mode = mode_asked(asked);
  if (!mode) {
    throw InvalidArgument(format_text(
        "reshape: BYRE_RESHAPE in the environment is \"%.100s\", which is none of alias, "
        "warn, error and copy. Set it to one of these, or unset it for copy.",
        asked));
  }
  reasons().set_environment(*mode);
  return *mode;
}

bool detail::look_whether_environment_watches() noexcept {
  return reasons().look_into_environment();
}

void set_default_reshape_mode(std::optional<ReshapeMode> mode) noexcept {
  static_cast<void>(detail::is_watching());  // until somebody looks, the environment is a reason
  reasons().set_default(mode);
}

ReshapeModeScope::ReshapeModeScope(ReshapeMode mode) noexcept
    : watches_(watches(mode)), outer_(detail::mode_of_scope) {
  static_cast<void>(detail::is_watching());  // the same
  if (watches_) {
    detail::watch_count.add();
  }
  detail::mode_of_scope = mode;
}

ReshapeModeScope::~ReshapeModeScope() {
  detail::mode_of_scope = outer_;
  if (watches_) {
    detail::watch_count.drop();
  }
}

}  // namespace byre::inline v0::shadow
