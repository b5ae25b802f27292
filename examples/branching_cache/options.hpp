// SPDX-License-Identifier: BSL-1.0
/// The command line, checked against what the machine can hold.
#pragma once

#include "command_line.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace examples::branching_cache {

/// What the model and the branches are like.
struct Plan {
  std::size_t layers = 0;
  std::size_t kv_heads = 0;   ///< of a layer, each with a key and a value for each token
  std::size_t head_size = 0;  ///< numbers of a key or a value, in bf16
  std::size_t tile_tokens = 0;
  std::size_t prefix_tokens = 0;
  std::size_t branches = 0;
  std::size_t eager_branches = 0;  ///< of the eager way, which cannot afford more
  std::size_t append_tokens = 0;   ///< that each branch appends
  std::size_t threads = 0;
  std::size_t repeat = 0;
  std::uint64_t seed = 0;

  std::size_t row_nbytes() const noexcept { return head_size * 2; }
  std::size_t token_nbytes() const noexcept { return layers * kv_heads * 2 * row_nbytes(); }
  std::size_t tile_nbytes() const noexcept { return tile_tokens * token_nbytes(); }
  std::size_t full_tiles(std::size_t tokens) const noexcept { return tokens / tile_tokens; }
  std::size_t tiles(std::size_t tokens) const noexcept {
    return full_tiles(tokens + tile_tokens - 1);
  }
  /// Tiles that a branch of so many tokens cannot share with the prefix.
  std::size_t own_tiles(std::size_t tokens) const noexcept {
    return tiles(tokens) - full_tiles(prefix_tokens);
  }

  std::size_t appended_to() const noexcept { return prefix_tokens + append_tokens; }
  std::size_t truncated_to() const noexcept { return prefix_tokens + append_tokens / 2; }
  /// Appended by who is truncated or branches again: half a tile, so that two may share a tile with room.
  std::size_t later_tokens() const noexcept { return std::max<std::size_t>(1, tile_tokens / 2); }
  std::size_t most_tokens() const noexcept { return appended_to() + 2 * later_tokens(); }
};

struct Options {
  bool help = false;
  Plan plan;
  JsonOption json;
};

/// Throws UsageError.
Options parse_options(int argc, const char* const* argv);

std::string help_text();

}  // namespace examples::branching_cache
