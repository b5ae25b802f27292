// SPDX-License-Identifier: BSL-1.0
/// The fixture of tests of the pool: a pool over a fake page source, and the blocks that a test has
/// taken.
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

  /// Takes a block. The destructor releases it if the test does not.
  Block take(std::size_t nbytes, std::size_t prefix = 64) {
    return out_.emplace_back(pool->allocate({nbytes, prefix}));
  }
  void give_back(const Block block) {
    std::erase_if(out_, [&](const Block& other) { return other.data == block.data; });
    pool->deallocate(block);
  }
  /// Takes blocks of these sizes, and then releases them in the order in which they were taken.
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
