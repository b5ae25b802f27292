// SPDX-License-Identifier: BSL-1.0
/// How snapshots are taken.
#pragma once

namespace examples::live_checkpoint {

enum class Mode {
  eager_fresh,     ///< every tile copied at the snapshot, into pages new from the system
  eager_recycled,  ///< every tile copied at the snapshot, into memory that was used before
  lazy,            ///< tiles copied when training writes to them, into recycled memory
  pages,           ///< pages copied by the system when training writes to them
  tiles,           ///< as lazy, with the tiles in one TiledBuffer, and files of what changed
};

inline constexpr Mode all_modes[] = {Mode::eager_fresh, Mode::eager_recycled, Mode::lazy,
                                     Mode::pages, Mode::tiles};

/// "eager-fresh", ...
const char* to_string(Mode mode) noexcept;

}  // namespace examples::live_checkpoint
