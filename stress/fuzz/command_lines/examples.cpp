// SPDX-License-Identifier: BSL-1.0
#include "../../../examples/live_checkpoint/options.hpp"
#include "../../../examples/reshape_audit/options.hpp"
#include "../../../examples/weights_overlay/options.hpp"
#include "../target.hpp"
#include "failure.hpp"
#include "parsers.hpp"

namespace byre::fuzz {

Refusal parse_for_live_checkpoint(int argc, const char* const* argv) {
  try {
    const auto options = examples::live_checkpoint::parse_options(argc, argv);
    if (options.tokens == 0 || options.queue == 0 || options.modes.empty() ||
        options.snapshot_every == 0U || options.dimensions == 0U || options.tile_rows == 0U ||
        options.full_every == 0U) {
      fail("a number that has to be positive is 0");
    }
    if (options.restore && !options.output) {
      fail("a snapshot is to be restored, and nothing says where to");
    }
    return std::nullopt;
  } catch (const examples::UsageError& error) {
    return error.what();
  }
}

Refusal parse_for_weights_overlay(int argc, const char* const* argv) {
  try {
    const auto options = examples::weights_overlay::parse_options(argc, argv);
    const auto& plan = options.plan;
    if (!options.help && (plan.layers == 0 || plan.width == 0 || plan.requests == 0 ||
                          plan.changed > plan.layers || plan.rows > plan.width)) {
      fail("%zu layers of width %zu, of which %zu requests change %zu rows of %zu, are no plan",
           plan.layers, plan.width, plan.requests, plan.rows, plan.changed);
    }
    return std::nullopt;
  } catch (const examples::UsageError& error) {
    return error.what();
  }
}

Refusal parse_for_reshape_audit(int argc, const char* const* argv) {
  try {
    const auto options = examples::reshape_audit::parse_options(argc, argv);
    if (options.pipelines.empty() || (options.mode && (options.report || options.json.is_given))) {
      fail("%zu pipelines are to be %s", options.pipelines.size(),
           options.mode ? "run and audited at once" : "audited");
    }
    return std::nullopt;
  } catch (const examples::UsageError& error) {
    return error.what();
  }
}

}  // namespace byre::fuzz
