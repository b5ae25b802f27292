// SPDX-License-Identifier: BSL-1.0
/// TiledBuffer: bytes with value semantics, stored in tiles. A copy is a lazy clone of one atomic
/// add for any size; a write copies only the tiles that it touches.
///
///     TiledBuffer a    b = a
///            \         /             both share the table, so the clone is one atomic add
///           table (a tree)
///          /      |       \          b.mutable_tile(1) copies the path to tile 1 in the table,
///     tile 0   tile 1   tile 2       about a kilobyte, and tile 1
///
/// docs/tiles.md says when to use it, and what it costs.
///
/// One file of more than 300 lines, as buffer.hpp is: one class, each member documented at its
/// declaration.
#pragma once

#include <byre/error/error.hpp>
#include <byre/storage/buffer.hpp>
#include <byre/storage/tiles/detail/tile_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace byre::inline v0 {

/// Tiles are numbered from 0, and each but the last has `tile_nbytes` bytes. Each tile is a
/// separate block, aligned to data_alignment, from any allocator, also of a device. Bytes that are
/// passed to read and write have to be on that device.
///
/// Unless a member says otherwise: thread-safety, exceptions and progress are as for a Buffer, with
/// all tiles as one object. A member that throws leaves size and contents unchanged. Of N tiled
/// buffers that share a tile and all write it, N-1 copy it. A checked build detects a stale pointer
/// to a tile only after a tile of the same node was written: until then only the table is shared.
///
/// `FanOut` is the number of tiles, or of child nodes, of one node of the table: a power of two.
template <sync::Sync Sync, std::size_t FanOut = 32>
class basic_tiled_buffer {
  using Tree = detail::basic_tile_tree<Sync, FanOut>;

 public:
  static constexpr std::size_t default_tile_nbytes = std::size_t{64} << 10;

  /// Empty; uses the default allocator.
  basic_tiled_buffer() noexcept = default;

  /// `nbytes` bytes from `allocator`, contents indeterminate, in tiles of `tile_nbytes` bytes. The
  /// last tile takes as much memory as the others. Throws OutOfMemory, InvalidArgument if
  /// `tile_nbytes` is 0 or a size is above max_nbytes, or what the allocator throws.
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

  /// A lazy clone: shares all tiles until either buffer writes them. Cost: one atomic add; copies
  /// nothing. Does not change `other`: any number of threads may clone it concurrently.
  basic_tiled_buffer(const basic_tiled_buffer& other, CallSite site = CallSite::current()) noexcept
      : basic_tiled_buffer(other, other.monitor_.reads(site)) {
    tree_.report_clone(nbytes_, site);
  }
  basic_tiled_buffer lazy_clone(CallSite site = CallSite::current()) const noexcept {
    return basic_tiled_buffer(*this, site);
  }

  /// Leaves `other` empty, with the default allocator.
  basic_tiled_buffer(basic_tiled_buffer&& other, CallSite site = CallSite::current()) noexcept {
    const auto access = other.monitor_.writes(site);
    swap_contents(other);
  }

  /// Replaces these bytes by a lazy clone of `other`, or by the bytes of a temporary.
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

  /// The bytes of a tile, for reading. Copies nothing. Valid until this buffer is next written or
  /// destroyed. Throws InvalidArgument if `index` is out of range.
  std::span<const std::byte> tile(std::size_t index, CallSite site = CallSite::current()) const {
    const auto access = monitor_.reads(site);
    check_index("tile", index);
    return {tree_.tile(index).data(site), nbytes_of(index)};
  }

  /// The bytes of a tile, for writing; not shared until this buffer is cloned again. If the tile is
  /// shared, copies or steals it as Buffer::materialize() does, and copies the shared nodes on the
  /// path to it. Throws InvalidArgument if `index` is out of range, OutOfMemory, and what
  /// allocating and copying throw.
  std::span<std::byte> mutable_tile(std::size_t index, Wait wait = Wait::allowed,
                                    CallSite site = CallSite::current()) {
    const auto access = monitor_.writes(site);
    check_index("mutable_tile", index);
    return {tree_.mutable_tile(index, wait, site).mutable_data(wait, site), nbytes_of(index)};
  }

  /// Calls visit(std::span<const std::byte>) for each piece of the `nbytes` bytes from `offset` on
  /// that is in one tile, in order. Copies nothing. Throws InvalidArgument if the range exceeds the
  /// buffer, and what `visit` throws.
  template <class Visit>
  void for_each_part(std::size_t offset, std::size_t nbytes, Visit&& visit,
                     CallSite site = CallSite::current()) const {
    const auto access = monitor_.reads(site);
    check_range("for_each_part", offset, nbytes);
    split(offset, nbytes, [&](std::size_t index, std::size_t begin, std::size_t part_nbytes) {
      visit(std::span<const std::byte>(tree_.tile(index).data(site) + begin, part_nbytes));
    });
  }

  /// Copies destination.size() bytes from `offset` on to `destination`. Throws InvalidArgument if
  /// the range exceeds the buffer, and what the allocator's copy throws: some bytes may have been
  /// copied then.
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

  /// Writes `bytes`, which must not be bytes of this buffer, from `offset` on. All affected tiles
  /// are made unshared, as by mutable_tile(), before the first byte is written. Throws as
  /// mutable_tile(), having changed nothing, and what the allocator's copy throws: some bytes may
  /// have been written then.
  void write(std::size_t offset, std::span<const std::byte> bytes, Wait wait = Wait::allowed,
             CallSite site = CallSite::current()) {
    const auto access = monitor_.writes(site);
    check_range("write", offset, bytes.size());
    overwrite(offset, bytes, wait, site);
  }

  /// Appends `bytes`, which must not be bytes of this buffer. Copies at most the last tile, if it
  /// is shared and has room. Throws OutOfMemory, InvalidArgument if the new size is above
  /// max_nbytes, and what the allocator throws, having changed nothing.
  void append(std::span<const std::byte> bytes, Wait wait = Wait::allowed,
              CallSite site = CallSite::current()) {
    const auto access = monitor_.writes(site);
    const std::size_t offset = nbytes_;
    grow_by(bytes.size(), wait, site);
    try {
      overwrite(offset, bytes, wait, site);
    } catch (...) {
      shrink_to(offset, wait, site);  // throws nothing: all nodes are unshared
      throw;
    }
  }

  /// Shrinks the buffer to `nbytes` bytes, at most its size, and drops the tiles beyond them.
  /// Copies no tile. Throws InvalidArgument, and OutOfMemory for the table, having changed nothing.
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

  /// Changes the size. The bytes up to the smaller size remain; bytes beyond are indeterminate.
  /// Copies no tile. Throws as append() and truncate(), having changed nothing.
  void resize(std::size_t nbytes, Wait wait = Wait::allowed, CallSite site = CallSite::current()) {
    const auto access = monitor_.writes(site);
    if (nbytes < nbytes_) {
      shrink_to(nbytes, wait, site);
    } else {
      grow_by(nbytes - nbytes_, wait, site);
    }
  }

  /// True iff both have the same table and size: no tile of either was written since they were
  /// cloned.
  bool shares_data_with(const basic_tiled_buffer& other,
                        CallSite site = CallSite::current()) const noexcept {
    const auto access = monitor_.reads(site);
    const auto other_access = other.monitor_.reads(site);
    return tree_.shares_node_with(other.tree_) && nbytes_ == other.nbytes_;
  }

  /// True iff both share tile `index`: a write to it in either buffer would copy it.
  bool shares_tile_with(const basic_tiled_buffer& other, std::size_t index,
                        CallSite site = CallSite::current()) const noexcept {
    const auto access = monitor_.reads(site);
    const auto other_access = other.monitor_.reads(site);
    return index < count_of(nbytes_) && index < other.count_of(other.nbytes_) &&
           tree_.tile(index).shares_data_with(other.tree_.tile(index), site);
  }

  /// Calls visit(index) for each tile that the two do not share, in ascending order; includes tiles
  /// that only one of them has. Tiles are compared whole: two sizes that end in one shared tile are
  /// no difference. Cost: proportional to what differs, not to what is shared. Throws
  /// InvalidArgument if the tile sizes differ, and what `visit` throws.
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

  /// Calls part(index, begin, nbytes) for the bytes of a range that are in each tile.
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
        // Allocate the tile first: if that fails, no node has been created.
        auto tile = Tree::allocate_tile(tile_nbytes_, *allocator_);
        tree_.mutable_tile(index, wait, site) = std::move(tile);
      }
    } catch (...) {
      if (index != count) {
        tree_.truncate(count, wait, site);  // throws nothing: the nodes are unshared
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

using TiledBuffer = basic_tiled_buffer<sync::Boost>;

}  // namespace byre::inline v0
