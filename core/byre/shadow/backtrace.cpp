// SPDX-License-Identifier: BSL-1.0
#include <byre/shadow/backtrace.hpp>
#include <byre/shadow/switch.hpp>
#include <byre/sync/boost.hpp>
#include <byre/sync/immortal.hpp>

#include <boost/stacktrace.hpp>
#include <boost/thread/lock_guard.hpp>
#include <boost/thread/mutex.hpp>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>
#include <string_view>

namespace byre::inline v0::shadow {
namespace {

constexpr std::size_t most_frames = 32;

constinit basic_switch<sync::Boost> backtraces;

bool environment_asks_for_them() noexcept {
  const char* const asked = std::getenv("BYRE_RESHAPE_BACKTRACE");
  return asked != nullptr && std::string_view(asked) == "1";
}

struct Backtraces {
  boost::mutex mutex;
  std::map<PlaceId, std::string> texts;
};

/// Without the frames at its start that are of this file and of who asks for places.
std::string text_here() {
  return boost::stacktrace::to_string(boost::stacktrace::stacktrace(2, most_frames));
}

}  // namespace

void set_backtraces(bool are_kept) noexcept {
  backtraces.set(are_kept);
}

bool backtraces_are_kept() noexcept {
  static const bool from_environment = environment_asks_for_them();
  return backtraces.get().value_or(from_environment);
}

const char* backtrace_of(PlaceId id) noexcept {
  auto& kept = sync::immortal<Backtraces>();
  const boost::lock_guard<boost::mutex> lock(kept.mutex);
  const auto found = kept.texts.find(id);
  return found == kept.texts.end() ? "" : found->second.c_str();
}

void keep_backtrace(PlaceId id) noexcept {
  auto& kept = sync::immortal<Backtraces>();
  try {
    const boost::lock_guard<boost::mutex> lock(kept.mutex);
    if (!kept.texts.contains(id)) {
      kept.texts.emplace(id, text_here());
    }
  } catch (const std::exception&) {
    // No memory: a report without it is better than none.
  }
}

}  // namespace byre::inline v0::shadow
