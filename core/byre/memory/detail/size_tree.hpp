// SPDX-License-Identifier: BSL-1.0
/// SizeTree: nodes ordered by a size, in memory that the nodes contain, so that inserting and
/// removing a node never allocates.
#pragma once

#include <byre/config.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <limits>

namespace byre::inline BYRE_ABI::detail {

/// Base class of the objects in a SizeTree. An object is in one tree at most.
class SizeNode {
 public:
  std::size_t nbytes() const noexcept { return nbytes_; }

 private:
  friend class SizeTree;

  std::size_t nbytes_ = 0;
  SizeNode* children_[2] = {};
  // Nodes of equal size: only the newest is in the tree, and the others are in a list behind it.
  SizeNode* newer_ = nullptr;
  SizeNode* older_ = nullptr;
};

/// A trie for each number of significant bits, over the bits that follow the first. All sizes at
/// and below a node at depth d have their first d + 1 significant bits in common; those below
/// children_[b] have b as the next bit. So the depth is less than the number of bits of a size,
/// without balancing. Thread-safety: that of a standard container.
class SizeTree {
 public:
  void insert(SizeNode& node, std::size_t nbytes) noexcept {
    node.nbytes_ = nbytes;
    SizeNode** const link = link_to(nbytes);
    SizeNode* const older = *link;
    node.newer_ = nullptr;
    node.older_ = older;
    node.children_[0] = older == nullptr ? nullptr : older->children_[0];
    node.children_[1] = older == nullptr ? nullptr : older->children_[1];
    if (older != nullptr) {
      older->newer_ = &node;
    }
    *link = &node;
  }

  /// Requires that the node is in this tree.
  void remove(SizeNode& node) noexcept {
    if (node.older_ != nullptr) {
      node.older_->newer_ = node.newer_;
    }
    if (node.newer_ != nullptr) {
      node.newer_->older_ = node.older_;
      return;
    }
    SizeNode** const link = link_to(node.nbytes_);
    SizeNode* const next = node.older_ != nullptr ? node.older_ : cut_leaf_below(link);
    if (next == &node) {
      return;  // the node was a leaf
    }
    next->children_[0] = node.children_[0];
    next->children_[1] = node.children_[1];
    *link = next;
  }

  /// The newest of the smallest nodes of at least `nbytes` bytes, or null.
  SizeNode* find_at_least(std::size_t nbytes) const noexcept {
    auto root = roots_.begin() + std::bit_width(nbytes);
    SizeNode* found = find_in_trie(*root, nbytes);
    while (found == nullptr && ++root != roots_.end()) {
      found = smaller_of(nullptr, *root);
    }
    return found;
  }

 private:
  /// The bit that chooses among the children of a root.
  static std::size_t first_bit_for(std::size_t nbytes) noexcept {
    return std::bit_floor(nbytes) >> 1U;
  }

  static SizeNode* find_in_trie(SizeNode* node, std::size_t nbytes) noexcept {
    SizeNode* found = nullptr;
    SizeNode* larger = nullptr;  // the last node whose sizes are all larger
    for (std::size_t bit = first_bit_for(nbytes); node != nullptr; bit >>= 1U) {
      if (node->nbytes_ >= nbytes && (found == nullptr || node->nbytes_ < found->nbytes_)) {
        found = node;
      }
      const bool is_set = (nbytes & bit) != 0;
      larger = !is_set && node->children_[1] != nullptr ? node->children_[1] : larger;
      node = node->children_[is_set ? 1 : 0];
    }
    return smaller_of(found, larger);
  }

  /// The smallest of `found` and the nodes at and below `node`. Both may be null.
  static SizeNode* smaller_of(SizeNode* found, SizeNode* node) noexcept {
    while (node != nullptr) {
      found = found == nullptr || node->nbytes_ < found->nbytes_ ? node : found;
      node = node->children_[node->children_[0] != nullptr ? 0 : 1];
    }
    return found;
  }

  /// The pointer to the node of this size, or the null pointer that the node would replace.
  SizeNode** link_to(std::size_t nbytes) noexcept {
    SizeNode** link = &roots_[static_cast<std::size_t>(std::bit_width(nbytes))];
    for (std::size_t bit = first_bit_for(nbytes); *link != nullptr && (*link)->nbytes_ != nbytes;
         bit >>= 1U) {
      link = &(*link)->children_[(nbytes & bit) != 0 ? 1 : 0];
    }
    return link;
  }

  /// Removes a leaf from the nodes at and below a link, and returns it. A leaf may be anywhere
  /// above its place, because it has all bits that its new place requires.
  static SizeNode* cut_leaf_below(SizeNode** link) noexcept {
    for (;;) {
      SizeNode* const node = *link;
      SizeNode** const child = &node->children_[node->children_[0] != nullptr ? 0 : 1];
      if (*child == nullptr) {
        *link = nullptr;
        return node;
      }
      link = child;
    }
  }

  std::array<SizeNode*, std::numeric_limits<std::size_t>::digits + 1> roots_{};
};

}  // namespace byre::inline BYRE_ABI::detail
