// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/shadow/environment.hpp>
#include <byre/shadow/silence.hpp>
#include <byre/shadow/summary.hpp>

#include <cstdlib>
#include <exception>
#include <string>

namespace byre::inline v0::shadow {
namespace {

/// Empty if it is not set.
std::string value_of(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// After the destructors of statics. Needs nobody to come by before.
[[gnu::destructor]] void print_summary_at_exit() noexcept {
  try {
    if (const std::string where = value_of("BYRE_RESHAPE_SUMMARY"); !where.empty()) {
      print_summary(where);
    }
  } catch (const std::exception& error) {
    warn("the summary of reshapes was not written: %s", error.what());
  }
}

bool heed() {
  const std::string wanted = value_of("BYRE_RESHAPE_BACKTRACE");
  if (!wanted.empty() && wanted != "0" && wanted != "1") {
    throw InvalidArgument(format_text(
        "reshape: BYRE_RESHAPE_BACKTRACE in the environment is \"%.100s\". Set it to 1 for "
        "backtraces, or to 0 or nothing for none.",
        wanted.c_str()));
  }
  if (const std::string summary = value_of("BYRE_RESHAPE_SUMMARY"); !summary.empty()) {
    detail::check_place_of_summary(summary);
  }
  if (const std::string list = value_of("BYRE_RESHAPE_SILENCE"); !list.empty()) {
    silence_sites(list);
  }
  return true;
}

}  // namespace

void detail::heed_environment() {
  [[maybe_unused]] static const bool heeded = heed();
}

}  // namespace byre::inline v0::shadow
