// SPDX-License-Identifier: BSL-1.0
/// The reference model of tiled buffers: each has its own bytes, copied eagerly. Beside them it knows which
/// tiles are one, and so which writes copy. Of the table it knows nothing, as users do not.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace byre::fuzz {

/// A tile. It lives while a tiled buffer owns it, or copies it.
class ModelTile {
 public:
  ModelTile(std::size_t& live, const std::byte* at) : data(at), live_(live) { ++live_; }
  ~ModelTile() { --live_; }
  ModelTile(const ModelTile&) = delete;
  ModelTile& operator=(const ModelTile&) = delete;

  const std::byte* const data;
  std::size_t copies_under_way = 0;  ///< by former owners

 private:
  std::size_t& live_;
};

using TileOwner = std::shared_ptr<ModelTile>;

inline bool is_alone(const TileOwner& tile) {
  return tile.use_count() == 1 && tile->copies_under_way == 0;
}
/// A write that may wait does, for copies that end when the steps in their middle do: never.
inline bool would_wait(const TileOwner& tile) {
  return tile.use_count() - static_cast<long>(tile->copies_under_way) == 1 &&
         tile->copies_under_way != 0;
}

/// What a tiled buffer has to be.
struct ModelValue {
  std::vector<std::byte> bytes;
  std::vector<TileOwner> tiles;
};

}  // namespace byre::fuzz
