// SPDX-License-Identifier: BSL-1.0
#include <byre/system/detail/last_error.hpp>

#include <cerrno>
#include <cstring>

namespace byre::inline BYRE_ABI::system {

std::error_code last_error() noexcept {
  return {errno, std::system_category()};
}

namespace {

/// The result of strerror_r(), which is a status on some systems and the text on others.
[[maybe_unused]] const char* text_in(const char* buffer, int) noexcept {
  return buffer;
}
[[maybe_unused]] const char* text_in(const char*, const char* text) noexcept {
  return text;
}

}  // namespace

Text text_of(std::error_code error) noexcept {
  char buffer[256] = "";
  return format_text("%s", text_in(buffer, ::strerror_r(error.value(), buffer, sizeof buffer)));
}

KeptError::KeptError() noexcept : error_(0) {}

KeptError::~KeptError() {
  errno = errno_;
}

}  // namespace byre::inline BYRE_ABI::system
