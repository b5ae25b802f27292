// SPDX-License-Identifier: BSL-1.0
/// TiledBuffer: bytes with value semantics, in tiles. A copy is a lazy clone as of a Buffer, of one atomic
/// add whatever the size, and a write copies the tiles that it touches, not all of the bytes.
///
///     TiledBuffer a    b = a
///            \         /             both share the table, so the clone is one atomic add
///           table (a tree)
///          /      |       \          b.mutable_tile(1) copies the way there, about a kilobyte,
///     tile 0   tile 1   tile 2       and tile 1
///
/// docs/parts.md says when to use it, and what it costs.
///
/// One file of more than 300 lines, as buffer.hpp is: a class whose members are documented where they are.
#pragma once

#include <byre/error/error.hpp>
#include <byre/storage/buffer.hpp>
#include <byre/storage/tiles/detail/tile_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace byre::inline v0 {

/// Tiles are numbered from 0 on, and each but the last has `tile_nbytes` bytes. They lie apart from each
/// other, each aligned to data_alignment, in memory of any allocator: a device's too. Bytes that are given
/// to read and write have to be of that device.
///
/// Thread-safety, exceptions and progress: as for a Buffer, with each tile as one. Of N tiled buffers that
/// share a tile and all write it, N-1 copy it. What throws leaves size and contents as they were. A checked
/// build finds a stale pointer to a tile once one of the same node was written; until then only the table is shared.
///
/// `FanOut` is how many tiles, or parts of the table, one node of the table holds: a power of two.
template <sync::Sync Sync, std::size_t FanOut = 32>
class basic_tiled_buffer {
  using Tree = detail::basic_tile_tree<Sync, FanOut>;

 public:
  static constexpr std::size_t default_tile_nbytes = std::size_t{64} << 10;

  /// No bytes, of the default allocator.
  basic_tiled_buffer() noexcept = default;

  /// `nbytes` of memory from `allocator`, contents indeterminate, in tiles of `tile_nbytes`: the last one
  /// takes as much memory as the others. Throws OutOfMemory, InvalidArgument for tiles of no bytes and for
  /// sizes that no object can have, or what the allocator throws.
  explicit basic_tiled_buffer(std::size_t nbytes, Allocator& allocator = default_allocator(),
                              std::size_t tile_nbytes = default_tile_nbytes)
      : tile_nbytes_(tile_nbytes), allocator_(&allocator) {
    if (tile_nbytes == 0) {
      throw InvalidArgument(format_text(
          "a tiled buffer of %zu bytes in tiles of 0 bytes. Give tiles some bytes: %zu is usual.",
          nbytes, default_tile_nbytes));
    }
    if (tile_nbytes > max_nbytes) {
      throw InvalidArgument::size_overflow(tile_nbytes, max_nbytes);
    }
    resize(nbytes);
  }

  /// A lazy clone: shares all tiles until one of the two writes them. One atomic add. Does not change
  /// `other`: any number of threads may clone it at once.
  basic_tiled_buffer(const basic_tiled_buffer& other, CallSite site = CallSite::current()) noexcept
      : basic_tiled_buffer(other, other.monitor_.reads(site)) {
    tree_.report_clone(nbytes_, site);
  }
  basic_tiled_buffer lazy_clone(CallSite site = CallSite::current()) const noexcept {
    return basic_tiled_buffer(*this, site);
  }

  /// Leaves `other` as a new one of the default allocator.
  basic_tiled_buffer(basic_tiled_buffer&& other, CallSite site = CallSite::current()) noexcept {
    const auto access = other.monitor_.writes(site);
    swap_contents(other);
  }

  /// Drops these bytes for a lazy clone of `other`, or for the bytes of a temporary.
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

  /// The bytes of a tile, to read. Never copies. Valid until this buffer is next written or destroyed.
  /// Throws InvalidArgument for a tile that there is not.
  std::span<const std::byte> tile(std::size_t index, CallSite site = CallSite::current()) const {
    const auto access = monitor_.reads(site);
    check_index("tile", index);
    return {tree_.tile(index).data(site), nbytes_of(index)};
  }

  /// The bytes of a tile, to write: this buffer's own until it is cloned again. Copies the tile if another
  /// tiled buffer has it too, and the way to it in the table; as Buffer::materialize. Throws InvalidArgument
  /// for a tile that there is not, OutOfMemory, and what allocating and copying throw.
  std::span<std::byte> mutable_tile(std::size_t index, Wait wait = Wait::allowed,
                                    CallSite site = CallSite::current()) {
    const auto access = monitor_.writes(site);
    check_index("mutable_tile", index);
    return {tree_.mutable_tile(index, wait, site).mutable_data(wait, site), nbytes_of(index)};
  }

  /// Calls visit(std::span<const std::byte>) for each part of `nbytes` bytes from `offset` on that lies in
  /// one tile, in order. Never copies. Throws InvalidArgument for a range that is not the buffer's.
  template <class Visit>
  void for_each_part(std::size_t offset, std::size_t nbytes, Visit&& visit,
                     CallSite site = CallSite::current()) const {
    const auto access = monitor_.reads(site);
    check_range("for_each_part", offset, nbytes);
    split(offset, nbytes, [&](std::size_t index, std::size_t begin, std::size_t part_nbytes) {
      visit(std::span<const std::byte>(tree_.tile(index).data(site) + begin, part_nbytes));
    });
  }

  /// Copies the bytes from `offset` on, as many as `destination` has. Throws InvalidArgument for a range that
  /// is not the buffer's, and what the allocator's copy throws: some may have been copied then.
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

  /// Writes `bytes`, which are not of this buffer, from `offset` on; tiles as by mutable_tile. They are all
  /// made this buffer's own before the first byte is written. Throws as mutable_tile, having changed nothing,
  /// and what the allocator's copy throws: some may have been written then.
  void write(std::size_t offset, std::span<const std::byte> bytes, Wait wait = Wait::allowed,
             CallSite site = CallSite::current()) {
    const auto access = monitor_.writes(site);
    check_range("write", offset, bytes.size());
    overwrite(offset, bytes, wait, site);
  }

  /// Adds `bytes`, which are not of this buffer, at the end. Copies the last tile at most, if it is shared
  /// and has room. Throws OutOfMemory, InvalidArgument for more than max_nbytes in all, and what the
  /// allocator throws, having changed nothing.
  void append(std::span<const std::byte> bytes, Wait wait = Wait::allowed,
              CallSite site = CallSite::current()) {
    const auto access = monitor_.writes(site);
    const std::size_t offset = nbytes_;
    grow_by(bytes.size(), wait, site);
    try {
      overwrite(offset, bytes, wait, site);
    } catch (...) {
      shrink_to(offset, wait, site);  // throws nothing: all nodes are this buffer's own
      throw;
    }
  }

  /// Keeps the first `nbytes` bytes, of at most as many as there are, and drops tiles beyond them. Copies no
  /// tile. Throws InvalidArgument, and OutOfMemory for the table, having changed nothing.
  void truncate(std::size_t nbytes, Wait wait = Wait::allowed,
                CallSite site = CallSite::current()) {
    const auto access = monitor_.writes(site);
    if (nbytes > nbytes_) {
      throw InvalidArgument(format_text(
          "truncate to %zu bytes of a tiled buffer of %zu bytes. Call resize to make it larger.",
          nbytes, nbytes_));
    }
    shrink_to(nbytes, wait, site);
  }

  /// Changes the size. Keeps the bytes up to the smaller one; those beyond are indeterminate. Copies no tile.
  /// Throws as append and truncate, having changed nothing.
  void resize(std::size_t nbytes, Wait wait = Wait::allowed, CallSite site = CallSite::current()) {
    const auto access = monitor_.writes(site);
    if (nbytes < nbytes_) {
      shrink_to(nbytes, wait, site);
    } else {
      grow_by(nbytes - nbytes_, wait, site);
    }
  }

  /// True iff the two have the same table and size: no tile of either was written since they were cloned.
  bool shares_data_with(const basic_tiled_buffer& other,
                        CallSite site = CallSite::current()) const noexcept {
    const auto access = monitor_.reads(site);
    const auto other_access = other.monitor_.reads(site);
    return tree_.shares_node_with(other.tree_) && nbytes_ == other.nbytes_;
  }

  /// True iff both have the same tile of that number: a write to one of them would copy it.
  bool shares_tile_with(const basic_tiled_buffer& other, std::size_t index,
                        CallSite site = CallSite::current()) const noexcept {
    const auto access = monitor_.reads(site);
    const auto other_access = other.monitor_.reads(site);
    return index < count_of(nbytes_) && index < other.count_of(other.nbytes_) &&
           tree_.tile(index).shares_data_with(other.tree_.tile(index), site);
  }

  /// Calls visit(index) for each tile that the two do not share, in ascending order; tiles that only one of
  /// them has included. Takes time in proportion to what differs, and not to what is shared. That two sizes
  /// end in one shared tile is no difference. Throws InvalidArgument for tiles of different sizes, and what
  /// `visit` throws.
  template <class Visit>
  friend void for_each_difference(const basic_tiled_buffer& left, const basic_tiled_buffer& right,
                                  Visit&& visit, CallSite site = CallSite::current()) {
    const auto left_access = left.monitor_.reads(site);
    const auto right_access = right.monitor_.reads(site);
    if (left.tile_nbytes_ != right.tile_nbytes_) {
      throw InvalidArgument(
          format_text("for_each_difference of tiles of %zu bytes and of %zu. Compare clones of one "
                      "tiled buffer.",
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
      throw InvalidArgument(
          format_text("%s(%zu) of a tiled buffer of %zu tiles, of %zu bytes in all. "
                      "Tiles are numbered from 0 on.",
                      call, index, count_of(nbytes_), nbytes_));
    }
  }
  void check_range(const char* call, std::size_t offset, std::size_t nbytes) const {
    if (offset > nbytes_ || nbytes > nbytes_ - offset) {
      throw InvalidArgument(format_text(
          "%s of %zu bytes from byte %zu on, of a tiled buffer of %zu bytes. Ask for a part "
          "of it, or append.",
          call, nbytes, offset, nbytes_));
    }
  }

  /// Calls part(index, begin, nbytes) for the bytes of each tile that are in a range of the buffer.
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
        // The tile first: where there is no memory for it there shall be no node either.
        auto tile = Tree::allocate_tile(tile_nbytes_, *allocator_);
        tree_.mutable_tile(index, wait, site) = std::move(tile);
      }
    } catch (...) {
      if (index != count) {
        tree_.truncate(count, wait, site);  // throws nothing: all it writes is this buffer's own
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
