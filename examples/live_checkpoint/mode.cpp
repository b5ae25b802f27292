// SPDX-License-Identifier: BSL-1.0
#include "mode.hpp"

namespace examples::live_checkpoint {

const char* to_string(Mode mode) noexcept {
  switch (mode) {
    case Mode::eager_fresh:
      return "eager-fresh";
    case Mode::eager_recycled:
      return "eager-recycled";
    case Mode::lazy:
      return "lazy";
    case Mode::pages:
      return "pages";
    case Mode::tiles:
      return "tiles";
  }
  return "?";
}

}  // namespace examples::live_checkpoint
