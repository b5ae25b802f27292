// SPDX-License-Identifier: BSL-1.0
/// Scenarios of tiled buffers with few tiles, in a table of several levels.
#pragma once

#include <byre/error/error.hpp>
#include <byre/storage/buffer.hpp>
#include <byre/storage/tiles/tiled_buffer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../run_scenario.hpp"

#if BYRE_FAILS_NEW
#include "support/failing_new.hpp"
#endif

namespace byre::stress::races {

/// A tile with the interface of a buffer, for the fixture. Its materialize() reports a steal as
/// already_unique.
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

  /// The last tile is the only one in its branch of the table.
  static constexpr std::size_t tile_count = 5;

  Tiled filled() {
    Tiled tiled(tile_count * fixture_.nbytes, fixture_.memory, fixture_.nbytes);
    for (std::size_t index = 0; index < tile_count; ++index) {
      fixture_.fill(tiled.mutable_tile(index).data(), fixture_.original());
    }
    return tiled;
  }
  /// The tile that all threads write; it changes with each round.
  std::size_t common_tile() const noexcept { return fixture_.round % tile_count; }

  void write(unsigned thread) {
    TileOf tile(owners_[thread].tiled, common_tile());
    fixture_.write(thread, tile, fixture_.original());
  }
  void append(unsigned thread) {
    std::vector<std::byte> bytes(fixture_.nbytes);
    fixture_.fill(bytes.data(), fixture_.stamp(thread));
    fixture_.record("appends");
    owners_[thread].tiled.append(bytes);
  }

  void expect_tile(Tiled& tiled, std::size_t index, std::uint64_t stamp, const char* what) {
    fixture_.expect_content(TileOf(tiled, index), stamp, what);
  }
  /// Checks a tiled buffer that may have been written, truncated or extended.
  void expect_owner(unsigned thread, std::uint64_t common) {
    Tiled& tiled = owners_[thread].tiled;
    for (std::size_t index = 0; index < tiled.tile_count(); ++index) {
      if (index >= tile_count) {
        expect_tile(tiled, index, fixture_.stamp(thread), "an appended tile");
      } else {
        expect_tile(tiled, index, index == common_tile() ? common : fixture_.original(),
                    index == common_tile() ? "a written tile" : "an unwritten tile");
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

/// N tiled buffers are lazy clones of each other. Their owners write the same tile at once: N-1
/// owners copy the tile, and one keeps it. Each thread finds the nodes on the path to the tile
/// shared, or claimed or released by other threads. Some threads get no memory for a node, or their
/// copy fails, and they try again. Then they append a tile, and some truncate it again.
template <class Buffer>
class TilesWrittenAtOnce final : public TilesScenario<Buffer> {
 public:
  using TilesScenario<Buffer>::TilesScenario;

  void prepare() override {
    const auto original = this->filled();
    for (auto& owner : this->owners_) {
      owner.tiled = original;
    }
  }

  void act(unsigned thread) override {
    const std::uint64_t plan = this->fixture_.number_of(thread);
    if (!write_with_faults(thread, plan % 8)) {
      this->expect_owner(thread, this->fixture_.original());
      this->write(thread);
    }
    this->append(thread);
    if (cuts(thread)) {
      this->fixture_.record("truncates");
      this->owners_[thread].tiled.truncate(this->tile_count * this->fixture_.nbytes);
    }
  }

  void check() override {
    Fixture& fixture = this->fixture_;
    const std::uint64_t threads = fixture.threads;
    fixture.expect_equal(fixture.counts().copied, threads - 1, "copies");
    fixture.expect_equal(fixture.counts().kept(), 1, "writers that kept the original");
    std::uint64_t appended = 0;
    for (unsigned thread = 0; thread < fixture.threads; ++thread) {
      appended += cuts(thread) ? 0U : 1U;
      this->expect_owner(thread, fixture.stamp(thread));
      expect_differences(thread);
    }
    this->expect_live_blocks(this->tile_count - 1 + threads + appended, "tiles of the owners");
    this->drop_owners();
    this->expect_live_blocks(0, "tiles without an owner");
  }

 private:
  bool cuts(unsigned thread) const { return this->fixture_.number_of(thread) / 8 % 2 == 0; }

  /// Writes. Returns false if the write failed.
  bool write_with_faults(unsigned thread, std::uint64_t fault) {
    bool has_written = false;
#if BYRE_FAILS_NEW
    // The failing allocation is that of a node, unless the thread copies fewer nodes.
    test::news_before_failure = fault >= 1 && fault <= 3 ? int(fault) - 1 : test::never_fails;
#endif
    try {
      TileOf tile(this->owners_[thread].tiled, this->common_tile());
      has_written = this->fixture_.try_write(thread, tile, this->fixture_.original(), fault == 0);
    } catch (const OutOfMemory&) {
      this->fixture_.record("no memory for a node");
    }
#if BYRE_FAILS_NEW
    test::news_before_failure = test::never_fails;
#endif
    return has_written;
  }

  void expect_differences(unsigned thread) {
    const auto& first = this->owners_[0].tiled;
    const auto& other = this->owners_[thread].tiled;
    std::size_t count = 0;
    for_each_difference(first, other, [&](std::size_t index) {
      ++count;
      this->fixture_.expect(index == this->common_tile() || index == this->tile_count,
                            "unwritten tiles are shared");
    });
    const bool longer = std::max(first.tile_count(), other.tile_count()) > this->tile_count;
    this->fixture_.expect_equal(count, thread == 0 ? 0U : longer ? 2U : 1U, "tiles that differ");
  }
};

/// A tiled buffer was never cloned before. All threads clone it at once, and clone their clones.
/// Then, by random choices, they write, truncate and drop these clones while other threads still
/// clone. The source is unaffected: after all clones are dropped, the source is the only owner of
/// every tile and node.
template <class Buffer>
class TilesClonedAtOnce final : public TilesScenario<Buffer> {
 public:
  using TilesScenario<Buffer>::TilesScenario;

  void prepare() override { source_ = this->filled(); }

  void act(unsigned thread) override {
    Fixture& fixture = this->fixture_;
    auto& owner = this->owners_[thread];
    owner.tiled = fixture.clone(thread, const_source());
    fixture.take_turns(thread, turns, [&](std::uint64_t random) {
      Tiled clone = fixture.clone(thread, random % 2 == 0 ? const_source() : owner.tiled);
      const bool keeps = random / 2 % 2 == 0;
      if (random / 4 % 2 == 0) {
        fixture.record("truncates");
        clone.truncate(random / 8 % (clone.tile_count() + 1) * fixture.nbytes);
      }
      // The result is not predicted: it depends on which other clones of this thread exist.
      if (keeps && clone.tile_count() == this->tile_count && !owner.has_written) {
        fixture.drop(thread, owner.tiled);
        owner.tiled = std::move(clone);
        this->write(thread);
        owner.has_written = true;
      } else {
        fixture.drop(thread, clone);
      }
    });
  }

  void check() override {
    Fixture& fixture = this->fixture_;
    std::uint64_t written = 0;
    for (unsigned thread = 0; thread < fixture.threads; ++thread) {
      const bool has_written = this->owners_[thread].has_written;
      written += has_written ? 1U : 0U;
      this->expect_owner(thread, has_written ? fixture.stamp(thread) : fixture.original());
    }
    fixture.expect_equal(fixture.counts().copied, written, "copies");
    this->expect_live_blocks(this->tile_count + written, "tiles of the source and its clones");
    this->drop_owners();
    this->expect_live_blocks(this->tile_count, "tiles of the source");
    for (std::size_t index = 0; index < this->tile_count; ++index) {
      this->expect_tile(source_, index, fixture.original(), "a tile of the source");
      fixture.expect(
          TileOf(source_, index).materialize(Wait::allowed) == Materialized::already_unique,
          "the source is unique after its clones are dropped");
    }
    source_ = Tiled();
    this->expect_live_blocks(0, "tiles without an owner");
  }

 private:
  using Tiled = typename TilesScenario<Buffer>::Tiled;

  static constexpr int turns = 4;

  const Tiled& const_source() const noexcept { return source_; }

  Tiled source_;
};

}  // namespace byre::stress::races
