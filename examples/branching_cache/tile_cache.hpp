// SPDX-License-Identifier: BSL-1.0
/// A branch's keys and values in byre's tiles. This file contains all uses of byre that a server
/// needs. Copying a TileCache makes a branch, and costs one atomic add for a prompt of any length.
#pragma once

#include <byre/storage/tiles/tiled_buffer.hpp>

#include <cstddef>
#include <span>

namespace examples::branching_cache {

class TileCache {
 public:
  TileCache(std::size_t token_nbytes, std::size_t tile_tokens)
      : token_nbytes_(token_nbytes),
        buffer_(0, byre::default_allocator(), tile_tokens * token_nbytes) {}

  std::size_t tokens() const noexcept { return buffer_.nbytes() / token_nbytes_; }
  void append(std::span<const std::byte> token) { buffer_.append(token); }
  void truncate(std::size_t tokens) { buffer_.truncate(tokens * token_nbytes_); }

  /// The bytes of a token, for reading. A tile contains only whole tokens.
  const std::byte* token(std::size_t position) const {
    const std::size_t tile_tokens = buffer_.tile_nbytes() / token_nbytes_;
    return buffer_.tile(position / tile_tokens).data() + position % tile_tokens * token_nbytes_;
  }

  /// The number of tiles that the two caches do not share. Compares only nodes of the tables that
  /// differ.
  std::size_t count_unshared_tiles(const TileCache& other) const {
    std::size_t count = 0;
    for_each_difference(buffer_, other.buffer_, [&](std::size_t) { ++count; });
    return count;
  }

 private:
  std::size_t token_nbytes_;
  byre::TiledBuffer buffer_;
};

}  // namespace examples::branching_cache
