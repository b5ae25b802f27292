// SPDX-License-Identifier: BSL-1.0
#include <byre/memory/detail/size_tree.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <iterator>
#include <list>
#include <vector>

#include "support/random.hpp"

namespace byre::test {
namespace {

struct Sized : detail::SizeNode {
  std::size_t size = 0;
};

/// The nodes of a tree, sorted by size; of equal sizes, the latest one is first.
using Sorted = std::list<Sized*>;

Sorted::const_iterator first_from(const Sorted& nodes, std::size_t size) {
  auto found = nodes.begin();
  while (found != nodes.end() && (*found)->size < size) {
    ++found;
  }
  return found;
}

void expect_equal(const detail::SizeTree& tree, const Sorted& model, std::size_t sizes) {
  for (std::size_t size = 0; size <= sizes; ++size) {
    const auto expected = first_from(model, size);
    ASSERT_EQ(tree.first_from(size), expected == model.end() ? nullptr : *expected) << size;
  }
}

TEST(SizeTree, finds_the_latest_of_the_smallest_nodes) {
  constexpr std::size_t sizes = 12;
  Random random(seed());
  std::vector<Sized> nodes(40);
  std::vector<bool> is_in_tree(nodes.size());
  detail::SizeTree tree;
  Sorted model;
  for (int step = 0; step < 3000; ++step) {
    const std::size_t chosen = random.below(nodes.size());
    Sized& node = nodes[chosen];
    if (is_in_tree[chosen]) {
      tree.remove(node);
      model.remove(&node);
    } else {
      node.size = random.below(sizes);
      tree.insert(node, node.size);
      model.insert(first_from(model, node.size), &node);
    }
    is_in_tree[chosen] = !is_in_tree[chosen];
    expect_equal(tree, model, sizes);
  }
}

/// A tree that degenerates to a list would take 10^10 steps.
TEST(SizeTree, stays_shallow_if_sizes_are_inserted_in_order) {
  constexpr std::size_t count = 200'000;
  std::vector<Sized> nodes(count);
  detail::SizeTree tree;
  for (std::size_t size = 0; size < count; ++size) {
    tree.insert(nodes[size], size);
  }
  for (std::size_t size = 0; size < count; ++size) {
    ASSERT_EQ(tree.first_from(size), &nodes[size]);
    tree.remove(nodes[size]);
  }
  EXPECT_EQ(tree.first_from(0), nullptr);
}

}  // namespace
}  // namespace byre::test
