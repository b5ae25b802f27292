// SPDX-License-Identifier: BSL-1.0
#include <byre/system/detail/last_error.hpp>

#include <cerrno>
#include <cstring>

namespace byre::inline BYRE_ABI::system {

std::error_code last_error() noexcept {
  return {errno, std::system_category()};
}

Text text_of(std::error_code error) noexcept {
  return format_text("%s", std::strerror(error.value()));
}

KeptError::KeptError() noexcept : error_(0) {}

KeptError::~KeptError() {
  errno = errno_;
}

}  // namespace byre::inline BYRE_ABI::system
