// SPDX-License-Identifier: BSL-1.0
/// A pool of pages that are watched, and the blocks that tests take of it.
#pragma once

#include <byre/memory/pool.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <vector>

#include "nbytes.hpp"
#include "support/fake_pages.hpp"

namespace byre::test {

class PoolTest : public testing::Test {
 protected:
  ~PoolTest() override {
    while (!out_.empty()) {
      give_back(out_.back());
    }
  }

  /// A block that is given back at the end, if not before.
  Block take(std::size_t nbytes, std::size_t prefix = 64) {
    return out_.emplace_back(pool->allocate({nbytes, prefix}));
  }
  void give_back(const Block block) {
    std::erase_if(out_, [&](const Block& other) { return other.data == block.data; });
    pool->deallocate(block);
  }
  /// Blocks of these sizes, alive at the same time, given back in this order.
  std::vector<Block> release(const std::vector<std::size_t>& sizes) {
    std::vector<Block> blocks;
    for (const std::size_t nbytes : sizes) {
      blocks.push_back(take(nbytes));
    }
    for (const Block& block : blocks) {
      give_back(block);
    }
    return blocks;
  }

  FakePages source;
  std::optional<RecyclingPool> pool{std::in_place, plenty, source};

 private:
  std::vector<Block> out_;
};

inline std::vector<const void*> places_of(const std::vector<Block>& blocks) {
  std::vector<const void*> places;
  std::ranges::transform(blocks, std::back_inserter(places), &Block::data);
  return places;
}

}  // namespace byre::test
