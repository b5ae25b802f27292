// SPDX-License-Identifier: BSL-1.0
/// The changes of a table of 4-byte elements, as blocks. A block describes some changed tiles, in
/// ascending order, in five streams (see streams.hpp):
///
///     stream  of numbers, for each tile:
///                 number of tiles between the previous changed tile and this one
///                 number of elements that follow for this tile
///                 unless these are all elements of the tile, for each of them: the number of
///                 elements between the previous changed element of the tile and this one
///     stream  byte 0 of each element: the bits that differ (XOR of the old and the new byte)
///     ...     bytes 1, 2 and 3 of each element
///
/// So a tile has one of two forms, and the encoder chooses the smaller, before compression: changed
/// elements with their positions, or the whole tile. The streams contain differing bits instead of
/// new values, and the bytes of an element separately, because small changes leave the high bytes
/// zero: if 1 to 3 elements in 100 change, the compressed delta is 20 to 30 percent smaller.
#pragma once

#include "streams.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace examples::live_checkpoint {

inline constexpr std::size_t element_nbytes = 4;

/// Sizes of the changes in bytes, before compression.
struct ChangeSizes {
  std::uint64_t whole_tiles = 0;  ///< if every changed tile were written as a whole
  std::uint64_t elements = 0;     ///< if only changed elements of every tile were written
  std::uint64_t chosen = 0;       ///< with the smaller form of each tile
  std::uint64_t changed_elements = 0;

  ChangeSizes& operator+=(const ChangeSizes& other) noexcept {
    whole_tiles += other.whole_tiles;
    elements += other.elements;
    chosen += other.chosen;
    changed_elements += other.changed_elements;
    return *this;
  }
};

/// Encodes the blocks of one delta. Not thread-safe.
class BlockEncoder {
 public:
  /// Adds tile `tile` to the block, unless its bytes are equal. The calls must have ascending
  /// `tile`; both spans have the size of the tile, a multiple of element_nbytes.
  void add(std::uint64_t tile, std::span<const std::byte> before, std::span<const std::byte> now) {
    const std::size_t begin = bits_[0].size();
    positions_.clear();
    std::uint64_t unchanged = 0;
    for (std::size_t at = 0; at < now.size(); at += element_nbytes) {
      if (std::memcmp(&before[at], &now[at], element_nbytes) == 0) {
        ++unchanged;
      } else {
        put_number(unchanged, positions_);
        unchanged = 0;
        put_bits(before, now, at);
      }
    }
    std::uint64_t count = bits_[0].size() - begin;
    if (count == 0) {
      return;
    }
    const std::size_t with_positions = positions_.size() + count * element_nbytes;
    sizes_.changed_elements += count;
    if (with_positions >= now.size()) {
      positions_.clear();
      for (Bytes& bits : bits_) {
        bits.resize(begin);
      }
      for (std::size_t at = 0; at < now.size(); at += element_nbytes) {
        put_bits(before, now, at);
      }
      count = now.size() / element_nbytes;
    }
    const std::size_t places_before = places_.size();
    put_number(tile - next_tile_, places_);
    put_number(count, places_);
    next_tile_ = tile + 1;
    const std::size_t place_nbytes = places_.size() - places_before;
    sizes_.whole_tiles += place_nbytes + now.size();
    sizes_.elements += place_nbytes + with_positions;
    sizes_.chosen += place_nbytes + std::min(with_positions, now.size());
    places_.insert(places_.end(), positions_.begin(), positions_.end());
  }

  /// The size of the block before compression.
  std::size_t nbytes() const noexcept { return places_.size() + bits_.size() * bits_[0].size(); }

  /// Returns the block and begins another one. `level` is the level of put_stream().
  Bytes take_block(int level) {
    Bytes block;
    put_stream(places_, level, block);
    places_.clear();
    for (Bytes& bits : bits_) {
      put_stream(bits, level, block);
      bits.clear();
    }
    return block;
  }

  /// The sizes of all blocks together.
  const ChangeSizes& sizes() const noexcept { return sizes_; }

 private:
  void put_bits(std::span<const std::byte> before, std::span<const std::byte> now, std::size_t at) {
    for (std::size_t byte = 0; byte < element_nbytes; ++byte) {
      bits_[byte].push_back(before[at + byte] ^ now[at + byte]);
    }
  }

  Bytes places_;
  std::array<Bytes, element_nbytes> bits_;
  Bytes positions_;  // of the tile that is added; a member to keep its memory
  std::uint64_t next_tile_ = 0;
  ChangeSizes sizes_;
};

/// Applies the blocks of one delta to a table. Not thread-safe.
class BlockDecoder {
 public:
  /// `table` has the bytes before the changes. Its size and `tile_nbytes` are positive multiples of
  /// element_nbytes; the last tile may be smaller.
  BlockDecoder(std::span<std::byte> table, std::uint64_t tile_nbytes)
      : table_(table), tile_nbytes_(tile_nbytes), tiles_((table.size() - 1) / tile_nbytes + 1) {}

  /// Applies the block at the cursor, and moves the cursor to its end. Throws Malformed if the
  /// bytes are not a block for this table, and Failure as take_stream() does. Some changes may be
  /// made by then, none outside of the table. Allocates memory in proportion to the table.
  void apply(Cursor& from) {
    // The positions of a tile are smaller than the tile, or the encoder writes the whole tile.
    const Bytes places = take_stream(from, table_.size() + tiles_ * most_place_nbytes);
    std::array<Bytes, element_nbytes> bits;
    for (Bytes& each : bits) {
      each = take_stream(from, table_.size() / element_nbytes);
      expect(each.size() == bits[0].size(), "its streams differ in their numbers of elements");
    }
    std::size_t used = 0;
    for (Cursor place(places); !place.is_at_end();) {
      const std::span<std::byte> tile = next_tile(place.number());
      const std::uint64_t elements = tile.size() / element_nbytes;
      const std::uint64_t count = place.number();
      const std::uint64_t most = std::min<std::uint64_t>(elements, bits[0].size() - used);
      if (count == 0 || count > most) {
        throw Malformed("tile " + std::to_string(next_tile_ - 1) + " has " + std::to_string(count) +
                        " changed elements, allowed are 1 to " + std::to_string(most));
      }
      std::uint64_t next = 0;
      for (std::uint64_t index = 0; index < count; ++index, ++next, ++used) {
        const std::uint64_t skipped = count == elements ? 0 : place.number();
        expect(skipped < elements - next, "a changed element is outside of its tile");
        next += skipped;
        for (std::size_t byte = 0; byte < element_nbytes; ++byte) {
          tile[next * element_nbytes + byte] ^= bits[byte][used];
        }
      }
    }
    expect(used == bits[0].size(), "some of its elements belong to no tile");
  }

 private:
  static constexpr std::uint64_t most_place_nbytes = 18;  // two numbers of at most 63 bits

  static void expect(bool is_as_described, const char* otherwise) {
    if (!is_as_described) {
      throw Malformed(otherwise);
    }
  }

  std::span<std::byte> next_tile(std::uint64_t skipped) {
    expect(skipped < tiles_ - next_tile_, "a changed tile is outside of the table");
    next_tile_ += skipped;
    const auto rest = table_.subspan(static_cast<std::size_t>(next_tile_++ * tile_nbytes_));
    return rest.first(static_cast<std::size_t>(std::min<std::uint64_t>(rest.size(), tile_nbytes_)));
  }

  std::span<std::byte> table_;
  std::uint64_t tile_nbytes_;
  std::uint64_t tiles_;
  std::uint64_t next_tile_ = 0;
};

}  // namespace examples::live_checkpoint
