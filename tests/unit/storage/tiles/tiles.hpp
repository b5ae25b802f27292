// SPDX-License-Identifier: BSL-1.0
/// Tiled buffers of small tiles, and their contents as text.
#pragma once

#include <byre/storage/tiles/tiled_buffer.hpp>

#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace byre::test {

/// Two tiles or nodes per node, so that few tiles make a high table.
using NarrowTiles = basic_tiled_buffer<sync::Default, 2>;

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

template <class Tiled>
requires requires(const Tiled& tiled, std::span<std::byte> bytes) {
  tiled.read(0, bytes);
}
std::string text_of(const Tiled& tiled) {
  std::string text(tiled.nbytes(), '?');
  tiled.read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

/// A tiled buffer of `text`, in tiles of four bytes by default.
template <class Tiled>
Tiled tiled_of(std::string_view text, Allocator& allocator = default_allocator(),
               std::size_t tile_nbytes = 4) {
  Tiled tiled(0, allocator, tile_nbytes);
  tiled.append(bytes_of(text));
  return tiled;
}

template <class Tiled>
void put(Tiled& tiled, std::size_t tile, char letter, Wait wait = Wait::allowed) {
  tiled.mutable_tile(tile, wait)[0] = std::byte(letter);
}

template <class Tiled>
std::vector<std::size_t> differences(const Tiled& left, const Tiled& right) {
  std::vector<std::size_t> tiles;
  for_each_difference(left, right, [&](std::size_t tile) { tiles.push_back(tile); });
  return tiles;
}

}  // namespace byre::test
