// SPDX-License-Identifier: BSL-1.0
#include <byre/memory/detail/size_tree.hpp>

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <map>
#include <vector>

#include "support/random.hpp"

namespace byre::test {
namespace {

using detail::SizeNode;
using detail::SizeTree;

TEST(SizeTree, finds_the_smallest_node_that_is_large_enough) {
  SizeTree tree;
  EXPECT_EQ(tree.find_at_least(0), nullptr);
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  std::array<SizeNode, 5> nodes;
  const std::array<std::size_t, 5> sizes = {0, 12, 16, 17, most};
  for (const std::size_t index : {3U, 0U, 4U, 2U, 1U}) {
    tree.insert(nodes[index], sizes[index]);
  }
  EXPECT_EQ(tree.find_at_least(0), &nodes[0]);
  EXPECT_EQ(tree.find_at_least(1), &nodes[1]);
  EXPECT_EQ(tree.find_at_least(13), &nodes[2]);
  EXPECT_EQ(tree.find_at_least(16), &nodes[2]);
  EXPECT_EQ(tree.find_at_least(17), &nodes[3]);
  EXPECT_EQ(tree.find_at_least(18), &nodes[4]);
  tree.remove(nodes[4]);
  EXPECT_EQ(tree.find_at_least(18), nullptr);
}

TEST(SizeTree, finds_the_newest_of_nodes_with_equal_sizes) {
  SizeTree tree;
  std::array<SizeNode, 4> nodes;
  for (SizeNode& node : nodes) {
    tree.insert(node, 8);
  }
  for (const std::size_t removed : {1U, 3U, 0U, 2U}) {
    const bool has_newest = removed != 1;
    EXPECT_EQ(tree.find_at_least(1),
              removed < 2 ? (has_newest ? &nodes[2] : &nodes[3]) : &nodes[removed]);
    tree.remove(nodes[removed]);
  }
  EXPECT_EQ(tree.find_at_least(1), nullptr);
}

std::size_t random_size(Random& random) {
  constexpr std::size_t most_shift = std::size_t{std::numeric_limits<std::size_t>::digits} - 6;
  return random.below(std::size_t{64}) << (random.below(std::size_t{4}) * most_shift / 3);
}

// The sizes are few, so that nodes often have equal sizes, and have many or few leading zeros.
TEST(SizeTree, finds_what_an_ordered_map_finds_in_random_programs) {
  Random random(seed());
  SizeTree tree;
  std::vector<SizeNode> nodes(64);
  std::vector<bool> is_in(nodes.size());
  std::map<std::size_t, std::vector<SizeNode*>> expected;  // the last is the newest
  for (int step = 0; step < 20'000; ++step) {
    const std::size_t index = random.below(nodes.size());
    SizeNode& node = nodes[index];
    if (is_in[index]) {
      tree.remove(node);
      auto& equal = expected.at(node.nbytes());
      std::erase(equal, &node);
      if (equal.empty()) {
        expected.erase(node.nbytes());
      }
    } else {
      const std::size_t size = random_size(random);
      tree.insert(node, size);
      expected[size].push_back(&node);
    }
    is_in[index] = !is_in[index];
    const std::size_t wanted = random_size(random);
    const auto found = expected.lower_bound(wanted);
    ASSERT_EQ(tree.find_at_least(wanted), found == expected.end() ? nullptr : found->second.back())
        << "at least " << wanted << " in step " << step;
  }
}

}  // namespace
}  // namespace byre::test
