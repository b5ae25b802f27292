// SPDX-License-Identifier: BSL-1.0
#include "label.hpp"

#include <string_view>

namespace examples::reshape_audit {

bool Label::is_of(const byre::shadow::Violation& report) const noexcept {
  const auto is_at = [&](const byre::shadow::TensorSite& place, std::uint32_t line) {
    return place.site.line == line && std::string_view(place.site.file).ends_with(file);
  };
  return is_at(report.reshape, reshape) && is_at(report.write, write) &&
         is_at(report.access, access) && report.access_writes == access_writes;
}

std::string to_string(const Label& label) {
  return std::string(label.file) + ": " + std::to_string(label.reshape) + " reshaped, " +
         std::to_string(label.write) + " written, " + std::to_string(label.access) +
         (label.access_writes ? " then written" : " then read");
}

}  // namespace examples::reshape_audit
