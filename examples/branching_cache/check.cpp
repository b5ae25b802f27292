// SPDX-License-Identifier: BSL-1.0
#include "check.hpp"

#include <byre/config.hpp>

namespace examples::branching_cache {
namespace {

class Faults {
 public:
  void expect(const std::string& what, std::int64_t found, std::int64_t expected) {
    if (found != expected) {
      texts.push_back(what + ": " + std::to_string(found) + ", not " + std::to_string(expected) +
                      ".");
    }
  }
  void expect(const std::string& what, std::size_t found, std::size_t expected) {
    expect(what, static_cast<std::int64_t>(found), static_cast<std::int64_t>(expected));
  }

  std::vector<std::string> texts;
};

void check_tokens(const WayResult& way, std::size_t copied_tokens, const Plan& plan,
                  Faults& faults) {
  const std::string name = way.name;
  for (const Findings& life : way.lives) {
    faults.expect(name + ", wrong tokens", life.wrong_tokens, 0);
    faults.expect(name + ", living branches", life.living, expect(plan, way.branches).living);
    faults.expect(name + ", tokens copied", life.copied_tokens, copied_tokens);
  }
}

void check_tiles(const Results& results, const Plan& plan, Faults& faults) {
  const Expected expected = expect(plan, plan.branches);
  for (const Findings& life : results.tiles.lives) {
    faults.expect("tiles not shared with the prefix", life.own_tiles, expected.own_tiles);
    faults.expect("tiles not shared with the parent", life.unlike_parent, expected.unlike_parent);
  }
  if constexpr (BYRE_STATS != 0) {
    const auto copies = static_cast<std::int64_t>(expected.copied_tiles * results.live.size());
    faults.expect("copies that byre counted", results.counted.copies, copies);
    faults.expect("bytes copied that byre counted", results.counted.bytes_copied,
                  copies * static_cast<std::int64_t>(plan.tile_nbytes()));
    for (const LiveBytes& live : results.live) {
      const std::int64_t tile_nbytes =
          live.prefix / static_cast<std::int64_t>(plan.tiles(plan.prefix_tokens));
      faults.expect("bytes of the tiles of changed branches", live.changed - live.prefix,
                    static_cast<std::int64_t>(expected.live_tiles) * tile_nbytes);
      faults.expect("bytes that are left of dropped branches", live.left - live.prefix, 0);
    }
  }
}

}  // namespace

Expected expect(const Plan& plan, std::size_t branches) {
  Expected expected;
  const std::size_t shared_tokens = plan.prefix_tokens % plan.tile_tokens;
  const std::size_t branched_at = plan.appended_to() + plan.later_tokens();
  const std::size_t shared_by_two = branched_at % plan.tile_tokens;
  expected.copied_tiles = shared_tokens == 0 ? 0 : branches;
  for (std::size_t number = 0; number < branches; ++number) {
    const Fate fate = fate_of(number);
    if (fate == Fate::dropped) {
      continue;
    }
    ++expected.living;
    expected.copied_tokens_eagerly += plan.prefix_tokens;
    expected.copied_tokens += shared_tokens;
    expected.copied_blocks += shared_tokens == 0 ? 0U : 1U;
    if (fate == Fate::branches_again) {
      const std::size_t own_tiles = plan.own_tiles(plan.most_tokens());
      const std::size_t written_by_both =
          plan.tiles(plan.most_tokens()) - plan.full_tiles(branched_at);
      ++expected.living;
      expected.copied_tokens_eagerly += branched_at;
      expected.copied_tokens += shared_by_two;
      expected.copied_tiles += shared_by_two == 0 ? 0U : 1U;
      expected.copied_blocks += (shared_tokens == 0 ? 0U : 1U) + (shared_by_two == 0 ? 0U : 1U);
      expected.own_tiles += 2 * own_tiles;
      expected.live_tiles += own_tiles + written_by_both;
      expected.unlike_parent += written_by_both;
    } else {
      const std::size_t tokens =
          fate == Fate::stays ? plan.appended_to() : plan.truncated_to() + plan.later_tokens();
      expected.own_tiles += plan.own_tiles(tokens);
      expected.live_tiles += plan.own_tiles(tokens);
    }
  }
  return expected;
}

std::vector<std::string> check(const Results& results, const Plan& plan) {
  Faults faults;
  check_tokens(results.eager, expect(plan, plan.eager_branches).copied_tokens_eagerly, plan,
               faults);
  check_tokens(results.blocks, expect(plan, plan.branches).copied_tokens, plan, faults);
  check_tokens(results.tiles, expect(plan, plan.branches).copied_tokens, plan, faults);
  for (const Findings& life : results.blocks.lives) {
    faults.expect("blocks copied", life.copied_blocks, expect(plan, plan.branches).copied_blocks);
  }
  check_tiles(results, plan, faults);
  return std::move(faults.texts);
}

}  // namespace examples::branching_cache
