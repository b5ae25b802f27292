// SPDX-License-Identifier: BSL-1.0
// This file has more than 300 lines because the nodes and the functions that traverse them depend
// on each other.
/// The table of a tiled buffer: a tree of nodes. Each node has its own share word and is shared
/// copy-on-write, like the data of a Buffer. A copy of a handle to the root shares the whole tree.
/// The first write to a tile after a copy makes the nodes on the path to the tile unshared, from
/// the root down: the write claims each node, then steals the node or copies its handles.
///
///     handle --> level 2       FanOut handles to nodes of level 1
///                  |
///                level 1       FanOut handles to leaves
///                  |
///                level 0       FanOut tiles, each a buffer
///
/// The digits of a tile's number, to the base FanOut, determine the position of the tile. The
/// height of the tree suffices for the largest number of tiles that the tree has had; slots beyond
/// the current tiles are empty.
///
/// Owners share nodes by the steps of basic_share_word. Two of its invariants make this correct: a
/// node is constant from claim() to finish_copy() (I4), and the handles in the node are copied in
/// that interval. An owner modifies a node only after all such copies (I5).
#pragma once

#include <byre/cow/share_word.hpp>
#include <byre/error/error.hpp>
#include <byre/observe/detail/observer.hpp>
#include <byre/storage/buffer.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace byre::inline BYRE_ABI::detail {

/// A handle to a node; may be empty. Thread-safety: as for a standard container; two handles are
/// different objects even if they share nodes. Progress: copying a handle is lock-free; dropping a
/// handle never waits; the first write after a copy waits, in claim(), for pending copies of the
/// node.
template <sync::Sync Sync, std::size_t FanOut>
class basic_tile_tree {
  static_assert(FanOut >= 2 && std::has_single_bit(FanOut));

 public:
  using Tile = basic_buffer<Sync>;

  basic_tile_tree() noexcept : node_(nullptr) {}
  basic_tile_tree(const basic_tile_tree& other) noexcept : node_(other.node_.get()) {
    if (Node* const node = node_.get()) {
      node->share.add_owner();
    }
  }
  basic_tile_tree(basic_tile_tree&& other) noexcept : node_(other.node_.get()) {
    other.node_.set(nullptr);
  }
  basic_tile_tree& operator=(basic_tile_tree other) noexcept {
    swap(other);
    return *this;
  }
  ~basic_tile_tree() {
    if (Node* const node = node_.get(); node != nullptr && node->share.drop_owner()) {
      release(node);
    }
  }

  void swap(basic_tile_tree& other) noexcept {
    Node* const node = node_.get();
    node_.set(other.node_.get());
    other.node_.set(node);
  }

  /// True iff both handles refer to the same node.
  bool shares_node_with(const basic_tile_tree& other) const noexcept {
    return node_.get() == other.node_.get() && node_.get() != nullptr;
  }

  /// Reports to observers that all tiles, of `nbytes` bytes in total, were cloned.
  void report_clone(std::size_t nbytes, CallSite site) const noexcept {
    const Node* const node = node_.get();
    stats::detail::report_clone_of([=] { return facts_of(node, nbytes); }, nbytes, 0,
                                   node != nullptr && node->share.use_count() == 2, site);
  }

  static Tile allocate_tile(std::size_t nbytes, Allocator& allocator) {
    return Tile::allocate_tile(nbytes, allocator);
  }

  /// Requires that tile `index` exists.
  const Tile& tile(std::size_t index) const noexcept {
    const Node* node = node_.get();
    while (node->level != 0) {
      node = static_cast<const Inner*>(node)->children[digit(index, node->level)].node_.get();
    }
    return static_cast<const Leaf*>(node)->tiles[digit(index, 0)];
  }

  /// A lazy clone of tile `index`, which must exist. The statistics do not count it. Observers
  /// attribute it to the clones of the whole table.
  Tile clone_of_tile(std::size_t index, CallSite site) const noexcept {
    Tile clone;
    clone.share_tile(tile(index), site);
    stats::detail::if_listening(
        [&] { stats::detail::record_part(node_.get(), clone.facts(), clone.use_count() == 2); });
    return clone;
  }

  /// The tile at `index`, for writing. Creates missing nodes on the path to the tile, and makes the
  /// existing ones unshared. Throws OutOfMemory if there is no memory for a node; the contents are
  /// unchanged then.
  Tile& mutable_tile(std::size_t index, Wait wait, CallSite site) {
    while (!reaches(index)) {
      grow();
    }
    basic_tile_tree* tree = this;
    for (std::size_t level = node_.get()->level;; --level) {
      tree->make_unique(level, wait, site);
      Node* const node = tree->node_.get();
      if (level == 0) {
        return static_cast<Leaf*>(node)->tiles[digit(index, 0)];
      }
      tree = &static_cast<Inner*>(node)->children[digit(index, level)];
    }
  }

  /// Drops the tiles from number `count` on. The height of the tree does not change. Throws
  /// OutOfMemory if there is no memory for the copy of a shared node; no tile is dropped then.
  /// Throws nothing if the nodes on the path to tile `count` are unshared.
  void truncate(std::size_t count, Wait wait, CallSite site) {
    if (count == 0) {
      *this = basic_tile_tree();
    } else {
      drop_from(count, node_.get()->level, wait, site);
    }
  }

  /// Calls visit(index) for each tile below `count` that the two trees do not share, in ascending
  /// order.
  template <class Visit>
  static void for_each_difference(const basic_tile_tree& left, const basic_tile_tree& right,
                                  std::size_t count, Visit&& visit) {
    const Node* const left_node = left.node_.get();
    const Node* const right_node = right.node_.get();
    compare(left_node, right_node, (std::max)(level_of(left_node), level_of(right_node)), 0, count,
            visit);
  }

 private:
  template <class Value>
  using Plain = typename Sync::template Plain<Value>;

  struct Node {
    explicit Node(std::size_t of_level) noexcept
        : level(static_cast<std::uint32_t>(of_level)), process(Sync::process_number()) {}

    basic_share_word<Sync> share;
    const std::uint32_t level;
    const std::uint32_t process;  // the process that created this node
  };
  struct Leaf : Node {
    Leaf() noexcept : Node(0) {}
    Leaf(const Leaf& other, CallSite site) noexcept : Leaf() {
      for (std::size_t slot = 0; slot < FanOut; ++slot) {
        tiles[slot].share_tile(other.tiles[slot], site);
      }
    }
    Tile tiles[FanOut];
  };
  struct Inner : Node {
    explicit Inner(std::size_t of_level) noexcept : Node(of_level) {}
    explicit Inner(const Inner& other) noexcept : Node(other.level) {
      std::copy_n(other.children, FanOut, children);
    }
    basic_tile_tree children[FanOut];
  };

  static constexpr unsigned digit_bits = std::countr_zero(FanOut);

  static std::size_t digit(std::size_t index, std::size_t level) noexcept {
    return index >> (digit_bits * level) & (FanOut - 1);
  }
  /// The number of tiles that one slot of a node of `level` covers.
  static std::size_t tiles_below(std::size_t level) noexcept {
    return std::size_t{1} << (digit_bits * level);
  }
  static std::size_t level_of(const Node* node) noexcept {
    return node == nullptr ? 0 : node->level;
  }

  bool reaches(std::size_t index) const noexcept {
    const Node* const node = node_.get();
    return node != nullptr && index >> (digit_bits * node->level) < FanOut;
  }

  template <class Made, class... From>
  static Made* make(const From&... from) {
    auto* const made = new (std::nothrow) Made(from...);
    if (made == nullptr) {
      throw OutOfMemory(sizeof(Made), "heap, for a table of tiles");
    }
    return made;
  }

  /// Called by the owner or copier that the share word told to free the node. Also releases the
  /// children that have no other owner.
  static void release(Node* node) noexcept {
    stats::detail::report_end(node, node);
    if (node->level == 0) {
      delete static_cast<Leaf*>(node);
    } else {
      delete static_cast<Inner*>(node);
    }
  }

  /// Adds a level on top of the root.
  void grow() {
    if (node_.get() == nullptr) {
      node_.set(make<Leaf>());
      return;
    }
    auto* const root = make<Inner>(node_.get()->level + std::size_t{1});
    root->children[0] = std::move(*this);
    node_.set(root);
  }

  /// Makes this handle the only owner of its node, as Buffer::materialize() does for data. If the
  /// handle is empty, creates a node of `level`.
  void make_unique(std::size_t level, Wait wait, CallSite site) {
    Node* const node = node_.get();
    if (node == nullptr) {
      node_.set(level == 0 ? static_cast<Node*>(make<Leaf>()) : make<Inner>(level));
      return;
    }
    if (node->share.is_writable()) {
      return;
    }
    if (node->process != Sync::process_number()) {
      wait = Wait::never;  // after fork() the copying threads do not exist in the child
    }
    stats::detail::WriteReport report;
    report.begin();
    const Claim claim = node->share.claim(wait);
    report.waited(node, site);
    if (claim == Claim::steal) {
      return;
    }
    Node* copy;
    try {
      copy = level == 0 ? static_cast<Node*>(make<Leaf>(static_cast<const Leaf&>(*node), site))
                        : make<Inner>(static_cast<const Inner&>(*node));
    } catch (...) {
      node->share.abandon_copy();
      throw;
    }
    stats::detail::if_listening([node] { record_parts(*node); });
    if (node->share.finish_copy()) {
      release(node);
    }
    node_.set(copy);
  }

  /// A node in a report to observers. It has the tag of its first tile.
  static stats::detail::DataFacts facts_of(const Node* node, std::size_t nbytes) noexcept {
    const Tile* const first = node == nullptr ? nullptr : first_tile(*node);
    return {.header = node,
            .data = node,
            .nbytes = nbytes,
            .use_count =
                [](const void* header) noexcept {
                  return static_cast<const Node*>(header)->share.use_count();
                },
            .tag = first == nullptr ? stats::detail::untagged
                                    : stats::detail::ledger::tag_of(first->facts().header)};
  }

  /// Null if the node has no tile.
  static const Tile* first_tile(const Node& node) noexcept {
    const Tile* first = nullptr;
    for (std::size_t slot = 0; slot < FanOut && first == nullptr; ++slot) {
      if (node.level == 0) {
        const Tile& tile = static_cast<const Leaf&>(node).tiles[slot];
        first = tile.has_data() ? &tile : nullptr;
      } else if (const Node* const child =
                     static_cast<const Inner&>(node).children[slot].node_.get()) {
        first = first_tile(*child);
      }
    }
    return first;
  }

  /// The bytes of all tiles of a node, which no thread writes during the call.
  static std::size_t nbytes_below(const Node& node) noexcept {
    std::size_t nbytes = 0;
    for (std::size_t slot = 0; slot < FanOut; ++slot) {
      if (node.level == 0) {
        nbytes += static_cast<const Leaf&>(node).tiles[slot].nbytes();
      } else if (const Node* const child =
                     static_cast<const Inner&>(node).children[slot].node_.get()) {
        nbytes += nbytes_below(*child);
      }
    }
    return nbytes;
  }

  /// Records that the children of `node` are shared from now on, and attributes this to the call
  /// sites that cloned the node.
  static void record_parts(const Node& node) noexcept {
    for (std::size_t slot = 0; slot < FanOut; ++slot) {
      if (node.level == 0) {
        const Tile& tile = static_cast<const Leaf&>(node).tiles[slot];
        if (tile.data() != nullptr) {
          stats::detail::record_part(&node, tile.facts(), tile.use_count() == 2);
        }
      } else if (const Node* const child =
                     static_cast<const Inner&>(node).children[slot].node_.get()) {
        stats::detail::record_part(&node, facts_of(child, nbytes_below(*child)),
                                   child->share.use_count() == 2);
      }
    }
  }

  /// Drops the tiles of this node from number `count` on. All steps that may throw, at all levels,
  /// come before the first drop.
  void drop_from(std::size_t count, std::size_t level, Wait wait, CallSite site) {
    make_unique(level, wait, site);
    Node* const node = node_.get();
    const std::size_t kept =
        (count - 1) / tiles_below(level) + 1;  // slots; the last may lose some tiles
    if (level == 0) {
      for (std::size_t slot = kept; slot < FanOut; ++slot) {
        static_cast<Leaf*>(node)->tiles[slot] = Tile();
      }
      return;
    }
    auto& children = static_cast<Inner*>(node)->children;
    if (const std::size_t in_last = count - (kept - 1) * tiles_below(level);
        in_last != tiles_below(level)) {
      children[kept - 1].drop_from(in_last, level - 1, wait, site);
    }
    for (std::size_t slot = kept; slot < FanOut; ++slot) {
      children[slot] = basic_tile_tree();
    }
  }

  /// The child in `slot` of a node of `level`. If the tree of `node` is lower than `level`, acts as
  /// if the tree had the missing levels: `node` is then the child in slot 0.
  static const Node* child(const Node* node, std::size_t level, std::size_t slot) noexcept {
    if (level_of(node) < level) {
      return slot == 0 ? node : nullptr;
    }
    return static_cast<const Inner*>(node)->children[slot].node_.get();
  }

  template <class Visit>
  static void compare(const Node* left, const Node* right, std::size_t level, std::size_t first,
                      std::size_t count, Visit& visit) {
    if (left == right) {
      return;
    }
    for (std::size_t slot = 0; slot < FanOut; ++slot) {
      const std::size_t index = first + slot * tiles_below(level);
      if (index >= count) {
        return;
      }
      if (level != 0) {
        compare(child(left, level, slot), child(right, level, slot), level - 1, index, count,
                visit);
      } else if (left == nullptr || right == nullptr ||
                 !static_cast<const Leaf*>(left)->tiles[slot].shares_data_with(
                     static_cast<const Leaf*>(right)->tiles[slot])) {
        visit(index);
      }
    }
  }

  Plain<Node*> node_;
};

}  // namespace byre::inline BYRE_ABI::detail
