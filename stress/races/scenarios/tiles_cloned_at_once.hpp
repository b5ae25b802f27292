// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "tiles.hpp"

namespace byre::stress::races {

/// All threads clone one tiled buffer at once that was never cloned before, and clone their clones. Then, by
/// the seed, they write, cut and drop these while others still clone. The source shows nothing of it: when
/// its clones are gone it owns every tile and node alone.
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
        fixture.record(thread, "truncates");
        clone.truncate(random / 8 % (clone.tile_count() + 1) * fixture.nbytes);
      }
      // Who has the tile alone is not known here: other clones of this thread's come and go.
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
      this->expect_tile(source_, index, fixture.original(), "what the source has");
      fixture.expect(
          TileOf(source_, index).materialize(Wait::allowed) == Materialized::already_unique,
          "the source is alone when its clones are gone");
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
