// SPDX-License-Identifier: BSL-1.0
/// TiledBuffer: bytes with value semantics, stored in tiles. A copy is a lazy clone, at the cost of
/// one atomic add for any size; a write copies only the tiles that it touches.
///
///     TiledBuffer a    b = a
///            \         /             both share the table, so the clone is one atomic add
///           table (a tree)
///          /      |       \          b.mutable_tile(1) copies the path to tile 1 in the table,
///     tile 0   tile 1   tile 2       about a kilobyte, and tile 1
///
/// docs/tiles.md explains when to use a TiledBuffer, and what it costs.
#pragma once

#include <byre/error/error.hpp>
#include <byre/storage/buffer.hpp>
#include <byre/storage/tiles/detail/tile_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace byre::inline BYRE_ABI {

class SnapshotWriter;
namespace detail {
struct ImportedTiles;
}

/// Tiles are numbered from 0, and each but the last has `tile_nbytes` bytes. Each tile is a
/// separate block of memory, aligned to data_alignment (64 bytes). The allocator may be that of a
/// device; bytes that are passed to read(), write() and append() have to be on that device.
///
/// If N tiled buffers share a tile and all of them write the tile, N-1 of them copy it.
///
/// Unless a member says otherwise: thread-safety, errors and progress are those of a Buffer, and
/// the whole tiled buffer, with all its tiles, is one object. A member that throws leaves size and
/// contents unchanged. A checked build detects a write through a stale pointer to a tile only after
/// a tile of the same node of the table was written: until then only the table is shared. `wait`
/// and `site` are those of Buffer. Each access to a tile costs O(log n) in the number of tiles.
///
/// `FanOut` is the number of tiles, or of child nodes, of one node of the table: a power of two.
template <sync::Sync Sync, std::size_t FanOut = 32>
class basic_tiled_buffer {
  using Tree = detail::basic_tile_tree<Sync, FanOut>;

 public:
  static constexpr std::size_t default_tile_nbytes = std::size_t{64} << 10;

  /// An empty buffer that uses default_allocator().
  basic_tiled_buffer() noexcept = default;

  /// `nbytes` bytes from `allocator`, with indeterminate contents, in tiles of `tile_nbytes` bytes.
  /// The last tile takes as much memory as the others. Requires that the allocator outlives all
  /// tiles. Throws OutOfMemory if there is no memory, InvalidArgument if `tile_nbytes` is 0 or a
  /// size exceeds max_nbytes, and any exception of the allocator. Cost: one allocation per tile.
  explicit basic_tiled_buffer(std::size_t nbytes, Allocator& allocator = default_allocator(),
                              std::size_t tile_nbytes = default_tile_nbytes)
      : tile_nbytes_(tile_nbytes), allocator_(&allocator) {
    if (tile_nbytes == 0) {
      throw InvalidArgument(format_text(
          "cannot create a tiled buffer of %zu bytes: tile_nbytes is 0, required at least 1. "
          "Pass %zu, for example.",
          nbytes, default_tile_nbytes));
    }
    if (tile_nbytes > max_nbytes) {
      throw InvalidArgument::size_overflow(tile_nbytes, max_nbytes);
    }
    resize(nbytes);
  }

  /// A lazy clone: shares each tile until either buffer writes it. Cost: one atomic add; copies
  /// nothing. Does not change `other`, so any number of threads may clone it concurrently.
  basic_tiled_buffer(const basic_tiled_buffer& other, CallSite site = CallSite::current()) noexcept
      : basic_tiled_buffer(other, other.monitor_.reads(site)) {
    tree_.report_clone(nbytes_, site);
  }
  basic_tiled_buffer lazy_clone(CallSite site = CallSite::current()) const noexcept {
    return basic_tiled_buffer(*this, site);
  }

  /// Takes over the bytes of `other`, which is empty afterwards and uses default_allocator().
  basic_tiled_buffer(basic_tiled_buffer&& other, CallSite site = CallSite::current()) noexcept {
    const auto access = other.monitor_.writes(site);
    swap_contents(other);
  }

  /// Replaces these bytes by a lazy clone of `other` if it is an lvalue, or else by its bytes.
  basic_tiled_buffer& operator=(basic_tiled_buffer other) noexcept {
    swap(other);
    return *this;
  }

  ~basic_tiled_buffer() { const auto access = monitor_.writes(CallSite::current()); }

  void swap(basic_tiled_buffer& other, CallSite site = CallSite::current()) noexcept {
    if (&other == this) {
      return;
    }
    const auto access = monitor_.writes(site);
    const auto other_access = other.monitor_.writes(site);
    swap_contents(other);
  }
  friend void swap(basic_tiled_buffer& left, basic_tiled_buffer& right) noexcept {
    left.swap(right);
  }

  std::size_t nbytes(CallSite site = CallSite::current()) const noexcept {
    const auto access = monitor_.reads(site);
    return nbytes_;
  }
  std::size_t tile_count(CallSite site = CallSite::current()) const noexcept {
    const auto access = monitor_.reads(site);
    return count_of(nbytes_);
  }
  std::size_t tile_nbytes() const noexcept { return tile_nbytes_; }
  Allocator& allocator() const noexcept { return *allocator_; }

  /// The bytes of tile `index`, for reading. Copies nothing. Valid until this buffer is next
  /// written or destroyed. Throws InvalidArgument if `index` is out of range.
  std::span<const std::byte> tile(std::size_t index, CallSite site = CallSite::current()) const {
    const auto access = monitor_.reads(site);
    check_index("tile", index);
    return {tree_.tile(index).data(site), nbytes_of(index)};
  }

  /// The bytes of tile `index`, for writing; not shared until this buffer is cloned again. If the
  /// tile is shared, copies or steals it as Buffer::materialize() does, and likewise the shared
  /// nodes on the path to the tile. Throws InvalidArgument if `index` is out of range, OutOfMemory
  /// if there is no memory for the copies, and any exception of the allocator. Cost: the copies of
  /// the tile and of the nodes.
  std::span<std::byte> mutable_tile(std::size_t index, Wait wait = Wait::allowed,
                                    CallSite site = CallSite::current()) {
    const auto access = monitor_.writes(site);
    check_index("mutable_tile", index);
    return {tree_.mutable_tile(index, wait, site).mutable_data(wait, site), nbytes_of(index)};
  }

  /// Splits the `nbytes` bytes from `offset` on into the parts that are in one tile each, and calls
  /// visit(std::span<const std::byte>) for each part, in order. Copies nothing. Throws
  /// InvalidArgument if the range exceeds the buffer, and any exception of `visit`.
  template <class Visit>
  void for_each_part(std::size_t offset, std::size_t nbytes, Visit&& visit,
                     CallSite site = CallSite::current()) const {
    const auto access = monitor_.reads(site);
    check_range("for_each_part", offset, nbytes);
    split(offset, nbytes, [&](std::size_t index, std::size_t begin, std::size_t part_nbytes) {
      visit(std::span<const std::byte>(tree_.tile(index).data(site) + begin, part_nbytes));
    });
  }

  /// Copies destination.size() bytes, from `offset` on, to `destination`. Throws InvalidArgument if
  /// the range exceeds the buffer, and any exception of the allocator's copy; some bytes may have
  /// been copied then.
  void read(std::size_t offset, std::span<std::byte> destination,
            CallSite site = CallSite::current()) const {
    std::byte* to = destination.data();
    for_each_part(
        offset, destination.size(),
        [&](std::span<const std::byte> part) {
          allocator_->copy(to, part.data(), part.size());
          to += part.size();
        },
        site);
  }

  /// Writes `bytes` from `offset` on. Before the first byte is written, makes all affected tiles
  /// unshared, as mutable_tile() does. Requires that `bytes` are not bytes of this buffer. Throws
  /// InvalidArgument if the range exceeds the buffer, and the errors of mutable_tile(); the
  /// contents are unchanged then. Also throws any exception of the allocator's copy; some bytes may
  /// have been written then.
  void write(std::size_t offset, std::span<const std::byte> bytes, Wait wait = Wait::allowed,
             CallSite site = CallSite::current()) {
    const auto access = monitor_.writes(site);
    check_range("write", offset, bytes.size());
    overwrite(offset, bytes, wait, site);
  }

  /// Appends `bytes`. Copies no existing tile but the last one, if it is shared and has room.
  /// Requires that `bytes` are not bytes of this buffer. Throws OutOfMemory if there is no memory,
  /// InvalidArgument if the new size exceeds max_nbytes, and any exception of the allocator.
  void append(std::span<const std::byte> bytes, Wait wait = Wait::allowed,
              CallSite site = CallSite::current()) {
    const auto access = monitor_.writes(site);
    const std::size_t offset = nbytes_;
    grow_by(bytes.size(), wait, site);
    try {
      overwrite(offset, bytes, wait, site);
    } catch (...) {
      shrink_to(offset, wait, site);  // throws nothing, because all nodes are unshared
      throw;
    }
  }

  /// Shrinks the buffer to `nbytes` bytes and drops the tiles beyond them. Copies no tile. Throws
  /// InvalidArgument if `nbytes` exceeds the size, and OutOfMemory if there is no memory for the
  /// copy of a shared node of the table.
  void truncate(std::size_t nbytes, Wait wait = Wait::allowed,
                CallSite site = CallSite::current()) {
    const auto access = monitor_.writes(site);
    if (nbytes > nbytes_) {
      throw InvalidArgument(
          format_text("cannot truncate to %zu bytes: the tiled buffer has %zu bytes. Call resize() "
                      "to enlarge it.",
                      nbytes, nbytes_));
    }
    shrink_to(nbytes, wait, site);
  }

  /// Changes the size. Bytes up to the smaller of the two sizes are retained; bytes beyond the
  /// former size are indeterminate. Copies no tile. Throws the errors of append() if the buffer
  /// grows, and those of truncate() if it shrinks.
  void resize(std::size_t nbytes, Wait wait = Wait::allowed, CallSite site = CallSite::current()) {
    const auto access = monitor_.writes(site);
    if (nbytes < nbytes_) {
      shrink_to(nbytes, wait, site);
    } else {
      grow_by(nbytes - nbytes_, wait, site);
    }
  }

  /// True iff both buffers share their whole table and are of equal size, because neither has been
  /// written since the clone.
  bool shares_data_with(const basic_tiled_buffer& other,
                        CallSite site = CallSite::current()) const noexcept {
    const auto access = monitor_.reads(site);
    const auto other_access = other.monitor_.reads(site);
    return tree_.shares_node_with(other.tree_) && nbytes_ == other.nbytes_;
  }

  /// True iff both buffers share tile `index`, so that a write to the tile in either buffer would
  /// copy the tile. False if `index` is out of range.
  bool shares_tile_with(const basic_tiled_buffer& other, std::size_t index,
                        CallSite site = CallSite::current()) const noexcept {
    const auto access = monitor_.reads(site);
    const auto other_access = other.monitor_.reads(site);
    return index < count_of(nbytes_) && index < other.count_of(other.nbytes_) &&
           tree_.tile(index).shares_data_with(other.tree_.tile(index), site);
  }

  /// Calls visit(index) for each tile that the two buffers do not share, in ascending order. This
  /// includes tiles that only one buffer has. Compares whole tiles: if both sizes end in one shared
  /// tile, that tile is not a difference. Throws InvalidArgument if the tile sizes differ, and any
  /// exception of `visit`. Cost: proportional to the part that differs, not to the shared part.
  template <class Visit>
  friend void for_each_difference(const basic_tiled_buffer& left, const basic_tiled_buffer& right,
                                  Visit&& visit, CallSite site = CallSite::current()) {
    const auto left_access = left.monitor_.reads(site);
    const auto right_access = right.monitor_.reads(site);
    if (left.tile_nbytes_ != right.tile_nbytes_) {
      throw InvalidArgument(format_text(
          "cannot compare tiled buffers: their tiles have %zu and %zu bytes, required equal. "
          "Compare clones of one tiled buffer.",
          left.tile_nbytes_, right.tile_nbytes_));
    }
    Tree::for_each_difference(
        left.tree_, right.tree_,
        (std::max)(left.count_of(left.nbytes_), right.count_of(right.nbytes_)), visit);
  }

 private:
  friend class SnapshotWriter;
  friend struct detail::ImportedTiles;

  using Access = decltype(std::declval<const detail::AccessMonitor&>().reads(CallSite{}));

  basic_tiled_buffer(const basic_tiled_buffer& other, const Access&) noexcept
      : tree_(other.tree_),
        nbytes_(other.nbytes_),
        tile_nbytes_(other.tile_nbytes_),
        allocator_(other.allocator_) {}

  void swap_contents(basic_tiled_buffer& other) noexcept {
    tree_.swap(other.tree_);
    std::swap(nbytes_, other.nbytes_);
    std::swap(tile_nbytes_, other.tile_nbytes_);
    std::swap(allocator_, other.allocator_);
  }

  std::size_t count_of(std::size_t nbytes) const noexcept {
    return nbytes / tile_nbytes_ + (nbytes % tile_nbytes_ != 0 ? 1 : 0);
  }
  std::size_t nbytes_of(std::size_t index) const noexcept {
    return (std::min)(tile_nbytes_, nbytes_ - index * tile_nbytes_);
  }

  void check_index(const char* call, std::size_t index) const {
    if (index >= count_of(nbytes_)) {
      throw InvalidArgument(format_text(
          "%s(%zu): index out of range, the tiled buffer has %zu tiles (%zu bytes in all). "
          "Pass an index from 0 to tile_count() - 1.",
          call, index, count_of(nbytes_), nbytes_));
    }
  }
  void check_range(const char* call, std::size_t offset, std::size_t nbytes) const {
    if (offset > nbytes_ || nbytes > nbytes_ - offset) {
      throw InvalidArgument(format_text(
          "%s: %zu bytes from byte %zu on are out of range, the tiled buffer has %zu bytes. Pass a "
          "range within it, or append.",
          call, nbytes, offset, nbytes_));
    }
  }

  /// Calls part(index, begin, nbytes) for each tile that contains bytes of the range: `nbytes`
  /// bytes from byte `begin` of tile `index` on.
  template <class Part>
  void split(std::size_t offset, std::size_t nbytes, Part part) const {
    while (nbytes != 0) {
      const std::size_t begin = offset % tile_nbytes_;
      const std::size_t part_nbytes = (std::min)(nbytes, tile_nbytes_ - begin);
      part(offset / tile_nbytes_, begin, part_nbytes);
      offset += part_nbytes;
      nbytes -= part_nbytes;
    }
  }

  void overwrite(std::size_t offset, std::span<const std::byte> bytes, Wait wait, CallSite site) {
    const auto for_each_tile = [&](auto&& part) { split(offset, bytes.size(), part); };
    for_each_tile([&](std::size_t index, std::size_t, std::size_t) {
      tree_.mutable_tile(index, wait, site).materialize(wait, site);
    });
    const std::byte* from = bytes.data();
    for_each_tile([&](std::size_t index, std::size_t begin, std::size_t part_nbytes) {
      std::byte* const to = tree_.mutable_tile(index, wait, site).mutable_data(wait, site);
      allocator_->copy(to + begin, from, part_nbytes);
      from += part_nbytes;
    });
  }

  void grow_by(std::size_t added_nbytes, Wait wait, CallSite site) {
    if (added_nbytes > max_nbytes - nbytes_) {
      throw InvalidArgument::size_overflow(added_nbytes, max_nbytes - nbytes_);
    }
    const std::size_t nbytes = nbytes_ + added_nbytes;
    const std::size_t count = count_of(nbytes_);
    std::size_t index = count;
    try {
      for (; index < count_of(nbytes); ++index) {
        // Allocate the tile first, so that no node has been created if the allocation fails.
        auto tile = Tree::allocate_tile(tile_nbytes_, *allocator_);
        tree_.mutable_tile(index, wait, site) = std::move(tile);
      }
    } catch (...) {
      if (index != count) {
        tree_.truncate(count, wait, site);  // throws nothing, because the nodes are unshared
      }
      throw;
    }
    nbytes_ = nbytes;
  }

  void shrink_to(std::size_t nbytes, Wait wait, CallSite site) {
    if (const std::size_t count = count_of(nbytes); count != count_of(nbytes_)) {
      tree_.truncate(count, wait, site);
    }
    nbytes_ = nbytes;
  }

  Tree tree_;
  std::size_t nbytes_ = 0;
  std::size_t tile_nbytes_ = default_tile_nbytes;
  Allocator* allocator_ = &default_allocator();
  [[no_unique_address]] detail::AccessMonitor monitor_;
};

using TiledBuffer = basic_tiled_buffer<sync::Default>;

}  // namespace byre::inline BYRE_ABI
