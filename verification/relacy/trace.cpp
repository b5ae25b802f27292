// SPDX-License-Identifier: BSL-1.0
#include "trace.hpp"

#include <cstdio>

namespace byre::verification {

void format_value(std::array<char, 120>& text, const char* verb, const sync::Site* site,
                  std::uint64_t value) noexcept {
  if (site != nullptr && site->name.starts_with("share_word.")) {
    const auto owners = static_cast<unsigned>(value & 0x7FFF'FFFF);
    const auto copies = static_cast<unsigned>(value >> 32 & 0x7FFF'FFFF);
    std::snprintf(text.data(), text.size(), "%s %u owner%s%s%.0u%s%s%s", verb, owners,
                  owners == 1 ? "" : "s", copies == 0 ? "" : ", ", copies,
                  copies == 0   ? ""
                  : copies == 1 ? " copy"
                                : " copies",
                  (value >> 31 & 1) != 0 ? ", waiting" : "",
                  (value >> 63) != 0 ? ", read-only" : "");
  } else {
    std::snprintf(text.data(), text.size(), "%s %llu", verb,
                  static_cast<unsigned long long>(value));
  }
}

}  // namespace byre::verification
