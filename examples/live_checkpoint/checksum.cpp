// SPDX-License-Identifier: BSL-1.0
#include "checksum.hpp"

#include <cstdio>

namespace examples::live_checkpoint {

std::string to_hex(std::uint32_t checksum) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", static_cast<unsigned>(checksum));
  return text;
}

}  // namespace examples::live_checkpoint
