// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <byre/error/error.hpp>

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "tiles.hpp"

#if BYRE_STRESS_FAILS_HEAP
#include "support/failing_new.hpp"
#endif

namespace byre::stress::races {

/// Lazy clones of one tiled buffer, which nobody else has, write one tile at once: N-1 copies of it, and one
/// keeps it. Each finds the nodes on the way shared, claimed or left by others. Some have no memory for a
/// node, or their copy fails, and try again; then they append a tile, and some cut it off.
template <class Buffer>
class TilesWrittenAtOnce final : public TilesScenario<Buffer> {
 public:
  explicit TilesWrittenAtOnce(Fixture& fixture) : TilesScenario<Buffer>(fixture) {
    fixture.memory.before_copy = [] {
      if (this_copy_fails) {
        this_copy_fails = false;
        throw CopyFailed();
      }
    };
  }

  void prepare() override {
    const auto original = this->filled();
    for (auto& owner : this->owners_) {
      owner.tiled = original;
    }
  }

  void act(unsigned thread) override {
    const std::uint64_t plan = this->plan_of(thread);
    if (!write_with_faults(thread, plan % 8)) {
      this->expect_owner(thread, this->fixture_.original());
      this->write(thread);
    }
    this->append(thread);
    if (cuts(thread)) {
      this->fixture_.record(thread, "truncates");
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
  struct CopyFailed : std::runtime_error {
    CopyFailed() : runtime_error("a copy that was to fail") {}
  };

  bool cuts(unsigned thread) const { return this->plan_of(thread) / 8 % 2 == 0; }

  /// False if it failed.
  bool write_with_faults(unsigned thread, std::uint64_t fault) {
    this_copy_fails = fault == 0;
    bool has_written = true;
#if BYRE_STRESS_FAILS_HEAP
    // The one that fails is that of a node, if the thread copies so many.
    test::news_until_failure = fault >= 1 && fault <= 3 ? int(fault) - 1 : test::never_fails;
#endif
    try {
      this->write(thread);
    } catch (const CopyFailed&) {
      has_written = false;
    } catch (const OutOfMemory&) {
      has_written = false;
    }
#if BYRE_STRESS_FAILS_HEAP
    test::news_until_failure = test::never_fails;
#endif
    this_copy_fails = false;
    return has_written;
  }

  void expect_differences(unsigned thread) {
    const auto& first = this->owners_[0].tiled;
    const auto& other = this->owners_[thread].tiled;
    std::size_t count = 0;
    for_each_difference(first, other, [&](std::size_t index) {
      ++count;
      this->fixture_.expect(index == this->common_tile() || index == this->tile_count,
                            "tiles that nobody wrote are shared");
    });
    const bool longer = std::max(first.tile_count(), other.tile_count()) > this->tile_count;
    this->fixture_.expect_equal(count, thread == 0 ? 0U : longer ? 2U : 1U, "tiles that differ");
  }

  static inline thread_local bool this_copy_fails = false;
};

}  // namespace byre::stress::races
