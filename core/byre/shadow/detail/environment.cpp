// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/shadow/detail/environment.hpp>
#include <byre/shadow/summary.hpp>
#include <byre/shadow/suppression.hpp>

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
  if (const std::string summary = value_of("BYRE_RESHAPE_SUMMARY"); !summary.empty()) {
    detail::check_place_of_summary(summary);
  }
  std::string suppressions = value_of("BYRE_RESHAPE_SUPPRESSIONS");
  if (suppressions.empty()) {
    suppressions = value_of("BYRE_RESHAPE_SILENCE");  // its old name, for one release
  }
  if (!suppressions.empty()) {
    suppress_sites(suppressions);
  }
  return true;
}

}  // namespace

void detail::heed_environment() {
  [[maybe_unused]] static const bool heeded = heed();
}

}  // namespace byre::inline v0::shadow
