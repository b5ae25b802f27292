// SPDX-License-Identifier: BSL-1.0
/// SizeTree: a search tree of objects that contain their links, so that adding and removing an
/// object never allocates. It is a treap (Seidel and Aragon, 1996): sorted by size, and a heap by
/// priorities that a hash computes, so its expected depth is logarithmic for every order of calls.
#pragma once

#include <byre/config.hpp>

#include <cstddef>
#include <cstdint>

namespace byre::inline BYRE_ABI::detail {

/// Base class of the objects in a tree.
class SizeNode {
 private:
  friend class SizeTree;

  SizeNode* smaller_ = nullptr;
  SizeNode* larger_ = nullptr;
  std::size_t size_ = 0;
  std::uint64_t number_ = 0;  // counts insertions: of equal sizes, the latest one is first
};

/// It does not own the objects: remove each object before its lifetime ends. Thread-safety: that of
/// a standard container. Cost: O(log n) expected.
class SizeTree {
 public:
  SizeTree() noexcept = default;
  SizeTree(const SizeTree&) = delete;
  SizeTree& operator=(const SizeTree&) = delete;

  /// Requires that the node is in no tree.
  void insert(SizeNode& node, std::size_t size) noexcept {
    node.size_ = size;
    node.number_ = ++inserted_;
    SizeNode** place = &root_;
    while (*place != nullptr && priority_of(**place) > priority_of(node)) {
      place = precedes(node, **place) ? &(*place)->smaller_ : &(*place)->larger_;
    }
    split(*place, node);
    *place = &node;
  }

  /// Requires that the node is in this tree.
  void remove(SizeNode& node) noexcept {
    SizeNode** place = &root_;
    while (*place != &node) {
      place = precedes(node, **place) ? &(*place)->smaller_ : &(*place)->larger_;
    }
    SizeNode* smaller = node.smaller_;
    SizeNode* larger = node.larger_;
    while (smaller != nullptr && larger != nullptr) {
      if (priority_of(*smaller) > priority_of(*larger)) {
        *place = smaller;
        place = &smaller->larger_;
        smaller = *place;
      } else {
        *place = larger;
        place = &larger->smaller_;
        larger = *place;
      }
    }
    *place = smaller != nullptr ? smaller : larger;
  }

  /// The latest of the smallest nodes of at least `size`, or null.
  SizeNode* first_from(std::size_t size) const noexcept {
    SizeNode* found = nullptr;
    for (SizeNode* node = root_; node != nullptr;) {
      if (node->size_ < size) {
        node = node->larger_;
      } else {
        found = node;
        node = node->smaller_;
      }
    }
    return found;
  }

 private:
  static bool precedes(const SizeNode& a, const SizeNode& b) noexcept {
    return a.size_ != b.size_ ? a.size_ < b.size_ : a.number_ > b.number_;
  }

  static std::uint64_t priority_of(const SizeNode& node) noexcept {
    std::uint64_t mixed = node.number_ * 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 32U) * 0xd6e8feb86659fd93;
    return mixed ^ mixed >> 32U;
  }

  /// Makes the nodes of `tree` the children of `node`.
  static void split(SizeNode* tree, SizeNode& node) noexcept {
    SizeNode** smaller = &node.smaller_;
    SizeNode** larger = &node.larger_;
    while (tree != nullptr) {
      if (precedes(*tree, node)) {
        *smaller = tree;
        smaller = &tree->larger_;
        tree = *smaller;
      } else {
        *larger = tree;
        larger = &tree->smaller_;
        tree = *larger;
      }
    }
    *smaller = nullptr;
    *larger = nullptr;
  }

  SizeNode* root_ = nullptr;
  std::uint64_t inserted_ = 0;
};

}  // namespace byre::inline BYRE_ABI::detail
