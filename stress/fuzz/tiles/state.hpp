// SPDX-License-Identifier: BSL-1.0
/// TileState: what the steps of a program act on. A few tiled buffers, each beside the model's value; what was
/// counted; and the memory they come from.
#pragma once

#include <byre/observe/counters.hpp>
#include <byre/storage/tiled_buffer.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "../faults.hpp"
#include "../input.hpp"
#include "model.hpp"

namespace byre::fuzz {

template <std::size_t FanOut>
struct TileState {
  TileState(Input bytes, std::size_t tile_nbytes) : input_(bytes), tile_nbytes_(tile_nbytes) {}

  using Tiled = basic_tiled_buffer<sync::Boost, basic_share_word, FanOut>;
  using Bytes = std::vector<std::byte>;

  struct Slot {
    Tiled real;
    ModelValue expected;
    bool busy = false;  ///< a call on it is under way
  };

  static void expect_equal(const char* what, std::size_t found, std::size_t expected) {
    if (found != expected) {
      fail("%s: %zu, and the model has %zu", what, found, expected);
    }
  }

  // Which tiles are made, and copied.

  TileOwner tile_at(const Slot& slot, std::size_t index) {
    return std::make_shared<ModelTile>(live_tiles_, slot.real.tile(index).data());
  }
  void add_new_tiles(Slot& slot) {
    while (slot.expected.tiles.size() < slot.real.tile_count()) {
      slot.expected.tiles.push_back(tile_at(slot, slot.expected.tiles.size()));
    }
  }
  /// The tiles of these numbers are others now, and were copied.
  void end_copies(Slot& slot, std::span<const std::size_t> copied) {
    for (const std::size_t index : copied) {
      slot.expected.tiles[index] = tile_at(slot, index);
      ++copies_;
    }
  }
  /// The numbers of those that hold bytes of the range, and that others have too.
  std::vector<std::size_t> shared_tiles(const Slot& slot, std::size_t offset,
                                        std::size_t nbytes) const {
    std::vector<std::size_t> shared;
    for (std::size_t index = offset / tile_nbytes_;
         nbytes != 0 && index <= (offset + nbytes - 1) / tile_nbytes_; ++index) {
      if (index < slot.expected.tiles.size() && !is_alone(slot.expected.tiles[index])) {
        shared.push_back(index);
      }
    }
    return shared;
  }
  Wait choose_wait(const Slot& slot, std::size_t offset, std::size_t nbytes) {
    // In the middle of a copy nobody would end it: not of a tile, and not of a node, unknown to the model.
    bool must_not = depth_ != 0;
    for (const std::size_t index : shared_tiles(slot, offset, nbytes)) {
      must_not = must_not || would_wait(slot.expected.tiles[index]);
    }
    return input_.below(2) != 0 || must_not ? Wait::never : Wait::allowed;
  }

  // Sizes and bytes.

  /// Some tiles, or tens; sometimes as many as need another level of wide nodes.
  std::size_t choose_nbytes(std::size_t least) {
    const std::size_t choice = input_.byte();
    std::size_t tiles = choice < 200 ? choice % 10 : choice % 80;
    if (choice == 255 && tile_nbytes_ == 1 && large_ > 0) {
      --large_;
      tiles = 1030;
    }
    return std::max(least, tiles * tile_nbytes_ + input_.number(2) % tile_nbytes_);
  }
  std::size_t choose_up_to(std::size_t most) { return input_.number(2) * most / 0xffff; }

  Bytes new_bytes(std::size_t nbytes) {
    Bytes bytes(nbytes);
    ++patterns_;
    for (std::size_t at = 0; at < nbytes; ++at) {
      bytes[at] = static_cast<std::byte>((at * 167 + at / 256 + patterns_ * 59) & 0xff);
    }
    return bytes;
  }
  static void put(Slot& slot, std::size_t offset, std::span<const std::byte> bytes) {
    std::copy(bytes.begin(), bytes.end(), slot.expected.bytes.begin() + std::ptrdiff_t(offset));
  }
  /// Bytes that nothing is promised of.
  void learn_from(Slot& slot, std::size_t offset) {
    slot.real.for_each_part(offset, slot.expected.bytes.size() - offset,
                            [&](std::span<const std::byte> part) {
                              put(slot, offset, part);
                              offset += part.size();
                            });
  }

  // Checks.

  void check(const Slot& slot) const {
    if (slot.busy) {
      return;
    }
    const ModelValue& expected = slot.expected;
    expect_equal("nbytes", slot.real.nbytes(), expected.bytes.size());
    expect_equal("tile_count", slot.real.tile_count(), expected.tiles.size());
    for (std::size_t index = 0; index < expected.tiles.size(); ++index) {
      const std::span<const std::byte> tile = slot.real.tile(index);
      const std::size_t begin = index * tile_nbytes_;
      if (tile.data() != expected.tiles[index]->data) {
        fail("tile %zu is not the one that the model has", index);
      }
      expect_equal("bytes of a tile", tile.size(),
                   std::min(tile_nbytes_, expected.bytes.size() - begin));
      if (std::memcmp(tile.data(), &expected.bytes[begin], tile.size()) != 0) {
        fail("other bytes than the model's are in tile %zu", index);
      }
    }
    for (const Slot& other : slots_) {
      if (!other.busy && slot.real.shares_data_with(other.real) &&
          (expected.tiles != other.expected.tiles || expected.bytes != other.expected.bytes)) {
        fail("shares_data_with is true of what differs");
      }
    }
  }
  /// Between steps, not within one.
  void check_counts() const {
    expect_equal("tiles out", memory_.live_blocks(), live_tiles_);
    const stats::Counters counted = stats::snapshot() - before_;
    expect_equal("lazy clones", static_cast<std::size_t>(counted.lazy_clones), lazy_clones_);
    expect_equal("copies", static_cast<std::size_t>(counted.copies), copies_);
    expect_equal("bytes copied", static_cast<std::size_t>(counted.bytes_copied),
                 copies_ * tile_nbytes_);
    expect_equal("steals", static_cast<std::size_t>(counted.steals), 0);
    expect_equal("waits", static_cast<std::size_t>(counted.waits), 0);
  }

  const stats::Counters before_ = stats::snapshot();
  Input input_;
  const std::size_t tile_nbytes_;
  Faults faults_;
  FaultyAllocator memory_{faults_, Device::cpu()};
  std::size_t live_tiles_ = 0;
  std::size_t lazy_clones_ = 0;
  std::size_t copies_ = 0;
  std::size_t patterns_ = 0;
  int large_ = 2;
  int depth_ = 0;  ///< of steps in the middle of others
  std::array<Slot, 5> slots_{
      Slot{Tiled(0, memory_, tile_nbytes_), {}}, Slot{Tiled(0, memory_, tile_nbytes_), {}},
      Slot{Tiled(0, memory_, tile_nbytes_), {}}, Slot{Tiled(0, memory_, tile_nbytes_), {}},
      Slot{Tiled(0, memory_, tile_nbytes_), {}}};
};

}  // namespace byre::fuzz
