// SPDX-License-Identifier: BSL-1.0
/// What the scenarios of tiled buffers share: few tiles, in a table of several levels.
#pragma once

#include <byre/storage/buffer.hpp>
#include <byre/storage/tiled_buffer.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "../run_scenario.hpp"

namespace byre::stress::races {

/// A tile as the fixture takes buffers. Who kept it is not told from who was alone.
template <class Tiled>
class TileOf {
 public:
  TileOf(Tiled& tiled, std::size_t index) noexcept : tiled_(tiled), index_(index) {}

  const std::byte* data() const { return tiled_.tile(index_).data(); }
  Materialized materialize(Wait wait) {
    const std::byte* const before = data();
    return tiled_.mutable_tile(index_, wait).data() == before ? Materialized::already_unique
                                                              : Materialized::copied;
  }

 private:
  Tiled& tiled_;
  std::size_t index_;
};

template <class Buffer>
class TilesScenario : public Scenario {
 public:
  explicit TilesScenario(Fixture& fixture) : fixture_(fixture), owners_(fixture.threads) {
    fixture.counts_steals = false;
  }

 protected:
  using Tiled = basic_tiled_buffer<typename SyncOf<Buffer>::Sync, 2>;

  /// The last one alone in its branch of the table.
  static constexpr std::size_t tile_count = 5;

  Tiled filled() {
    Tiled tiled(tile_count * fixture_.nbytes, fixture_.memory, fixture_.nbytes);
    for (std::size_t index = 0; index < tile_count; ++index) {
      fixture_.fill(tiled.mutable_tile(index).data(), fixture_.original());
    }
    return tiled;
  }
  /// Each round another tile is written by all.
  std::size_t common_tile() const noexcept { return fixture_.round % tile_count; }

  void write(unsigned thread) {
    TileOf tile(owners_[thread].tiled, common_tile());
    fixture_.write(thread, tile, fixture_.original());
  }
  void append(unsigned thread) {
    std::vector<std::byte> bytes(fixture_.nbytes);
    fixture_.fill(bytes.data(), fixture_.stamp(thread));
    fixture_.record(thread, "appends");
    owners_[thread].tiled.append(bytes);
  }
  /// A number that depends on the seed alone.
  std::uint64_t plan_of(unsigned thread) const {
    return seed_of_thread(fixture_.seed, fixture_.stamp(thread)) >> 40;
  }

  void expect_tile(Tiled& tiled, std::size_t index, std::uint64_t stamp, const char* what) {
    fixture_.expect_content(TileOf(tiled, index), stamp, what);
  }
  /// Of a tiled buffer that may have been written, and made shorter or longer.
  void expect_owner(unsigned thread, std::uint64_t common) {
    Tiled& tiled = owners_[thread].tiled;
    for (std::size_t index = 0; index < tiled.tile_count(); ++index) {
      if (index >= tile_count) {
        expect_tile(tiled, index, fixture_.stamp(thread), "what was appended");
      } else {
        expect_tile(tiled, index, index == common_tile() ? common : fixture_.original(),
                    index == common_tile() ? "what a writer left" : "what nobody wrote");
      }
    }
  }
  void expect_live_blocks(std::uint64_t count, const char* what) {
    fixture_.expect_equal(fixture_.memory.live_blocks(), count, what);
  }
  void drop_owners() {
    for (Owner& owner : owners_) {
      owner = Owner{};
    }
  }

  struct alignas(64) Owner {
    Tiled tiled;
    bool has_written = false;
  };

  Fixture& fixture_;
  std::vector<Owner> owners_;
};

}  // namespace byre::stress::races
