// SPDX-License-Identifier: BSL-1.0
#include <string>

#include "../../../examples/live_checkpoint/failure.hpp"
#include "../../../examples/live_checkpoint/options.hpp"
#include "../target.hpp"
#include "parsers.hpp"

namespace byre::fuzz {

Refusal parse_for_live_checkpoint(int argc, const char* const* argv) {
  try {
    const live_checkpoint::Options options = live_checkpoint::parse_options(argc, argv);
    if (options.tokens == 0 || options.queue == 0 || options.modes.empty() ||
        options.snapshot_every == 0U || options.dimensions == 0U || options.tile_rows == 0U) {
      fail("a number that has to be positive is 0");
    }
    return std::nullopt;
  } catch (const live_checkpoint::UsageError& error) {
    return error.what();
  }
}

}  // namespace byre::fuzz
