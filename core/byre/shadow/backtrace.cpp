// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/shadow/backtrace.hpp>
#include <byre/shadow/switch.hpp>
#include <byre/sync/boost.hpp>
#include <byre/sync/immortal.hpp>

#include <dlfcn.h>

#include <boost/stacktrace.hpp>
#include <boost/thread/lock_guard.hpp>
#include <boost/thread/mutex.hpp>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>
#include <string_view>

namespace byre::inline v0::shadow {
namespace {

constexpr std::size_t most_frames = 32;
/// At the innermost end, of this file and of who asks for places.
constexpr std::size_t frames_of_our_own = 2;

constinit basic_switch<sync::Boost> backtraces;

bool environment_asks_for_them() noexcept {
  const char* const asked = std::getenv("BYRE_RESHAPE_BACKTRACE");
  return asked != nullptr && std::string_view(asked) == "1";
}

/// "    name of the function in /path/of/program+0x1234", of which `addr2line -e` makes a line.
std::string text_of(const boost::stacktrace::frame& frame) {
  // Of the call, not of what comes after it.
  const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(frame.address()) - 1;
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(address), &info) == 0 || info.dli_fname == nullptr) {
    return format_text("    ? at %#zx\n", static_cast<std::size_t>(address)).chars.data();
  }
  const std::string name = frame.name();
  const auto offset =
      static_cast<std::size_t>(address - reinterpret_cast<std::uintptr_t>(info.dli_fbase));
  return std::string("    ") + (name.empty() ? "?" : name) +
         format_text(" in %s+%#zx\n", info.dli_fname, offset).chars.data();
}

std::string text_here() {
  std::string text;
  for (const auto& frame : boost::stacktrace::stacktrace(frames_of_our_own, most_frames)) {
    text += text_of(frame);
  }
  return text;
}

struct Backtraces {
  boost::mutex mutex;
  std::map<PlaceId, std::string> texts;
};

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
