// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/shadow/backtrace.hpp>
#include <byre/shadow/switch.hpp>
#include <byre/sync/boost.hpp>
#include <byre/sync/detail/no_destructor.hpp>

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

constinit basic_switch<sync::Boost> backtraces;
/// Saves those that keep none the lock.
constinit basic_switch<sync::Boost> there_are_backtraces;

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

/// The file that a frame's function is in.
std::string_view module_of(const boost::stacktrace::frame& frame) noexcept {
  Dl_info info{};
  return ::dladdr(frame.address(), &info) == 0 || info.dli_fname == nullptr ? "" : info.dli_fname;
}

bool is_own(const boost::stacktrace::frame& frame) {
  const std::string_view module = module_of(frame);
  return module.substr(module.rfind('/') + 1).starts_with("libbyre.") ||
         frame.name().starts_with("byre::v0::");
}

/// Where byre's own frames at the innermost end are over. In a program that byre is a part of, some have
/// no name: they are byre's if one of byre's calls them.
std::size_t end_of_own(const boost::stacktrace::stacktrace& frames) {
  std::size_t end = 0;
  for (std::size_t at = 0; at < frames.size(); ++at) {
    if (is_own(frames[at])) {
      end = at + 1;
    } else if (!frames[at].name().empty() || module_of(frames[at]) != module_of(frames[0])) {
      break;
    }
  }
  return end;
}

std::string text_here() {
  std::string text;
  const boost::stacktrace::stacktrace frames(0, most_frames);
  for (std::size_t at = end_of_own(frames); at < frames.size(); ++at) {
    text += text_of(frames[at]);
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
  if (!there_are_backtraces.get()) {
    return "";
  }
  auto& kept = sync::no_destructor<Backtraces>();
  const boost::lock_guard<boost::mutex> lock(kept.mutex);
  const auto found = kept.texts.find(id);
  return found == kept.texts.end() ? "" : found->second.c_str();
}

void keep_backtrace(PlaceId id) noexcept {
  auto& kept = sync::no_destructor<Backtraces>();
  try {
    const boost::lock_guard<boost::mutex> lock(kept.mutex);
    if (!kept.texts.contains(id)) {
      kept.texts.emplace(id, text_here());
      there_are_backtraces.set(true);
    }
  } catch (const std::exception&) {
    // No memory: a report without it is better than none.
  }
}

}  // namespace byre::inline v0::shadow
