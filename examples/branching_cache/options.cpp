// SPDX-License-Identifier: BSL-1.0
#include "options.hpp"

#include "failure.hpp"
#include "process_memory.hpp"

#include <byre/memory/pages.hpp>
#include <limits>
#include <sstream>

namespace examples::branching_cache {
namespace {

namespace po = boost::program_options;

// Bounded so that no product of them overflows 64 bits.
constexpr std::uint64_t most_layers = 256;
constexpr std::uint64_t most_kv_heads = 256;
constexpr std::uint64_t most_head_size = 1024;
constexpr std::uint64_t most_tile_tokens = 4096;
constexpr std::uint64_t most_prefix_tokens = 1 << 20;
constexpr std::uint64_t most_append_tokens = 1 << 16;
constexpr std::uint64_t most_branches = 1 << 16;
constexpr std::uint64_t most_eager_branches = 1024;

po::options_description described_options() {
  po::options_description options("Options", 96, 60);
  const auto number_of = [](const char* usual) {
    return po::value<std::string>()->value_name("N")->default_value(usual);
  };
  options.add_options()("help,h", "say this, and exit");
  options.add_options()("layers", number_of("32"), "layers of the model");
  options.add_options()("kv-heads", number_of("8"), "heads of a layer that have keys and values");
  options.add_options()("head-size", number_of("128"), "numbers of a key or a value, in bf16");
  options.add_options()("tile-tokens", number_of("16"), "tokens in a tile, or in a shared block");
  options.add_options()("prefix-tokens", number_of("8192"), "tokens that all branches begin with");
  options.add_options()("branches", number_of("1000"), "branches of that prefix");
  options.add_options()("eager-branches", number_of("4"), "branches that are made by eager copies");
  options.add_options()("append-tokens", number_of("64"), "tokens that each branch appends");
  options.add_options()("threads", number_of("2"), "threads that serve the branches");
  options.add_options()("repeat", number_of("3"), "times that all is done, for the medians");
  options.add_options()("seed", number_of("1"), "of the made-up keys and values");
  add_json_option(options);
  return options;
}

/// One way is at work at a time, with its prefix and all its branches.
std::uint64_t needed_nbytes(const Plan& plan) {
  const std::uint64_t shared = (plan.tiles(plan.prefix_tokens) +
                                std::uint64_t{plan.branches} * plan.own_tiles(plan.appended_to())) *
                               plan.tile_nbytes();
  const std::uint64_t eager =
      (std::uint64_t{plan.eager_branches} + 1) * plan.most_tokens() * plan.token_nbytes();
  const std::uint64_t most = std::max(shared, eager);
  return most + most / 10;
}

void throw_if_too_large(const Plan& plan) {
  const std::uint64_t needed = needed_nbytes(plan);
  const std::uint64_t usable = byre::usable_memory_nbytes();
  const std::uint64_t available = std::min(usable, available_memory_nbytes().value_or(usable));
  if (needed > available) {
    throw UsageError("These branches take " + std::to_string(needed >> 20) +
                     " MiB of memory, and " + std::to_string(available >> 20) +
                     " are available. Give fewer --branches, --eager-branches or --layers.");
  }
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  const po::variables_map given = parse_command_line(argc, argv, described_options());
  const auto count = [&](const char* name, std::size_t least, std::uint64_t most) {
    return static_cast<std::size_t>(number(name, given[name].as<std::string>(), least, most));
  };
  Options options;
  options.help = given.count("help") != 0;
  Plan& plan = options.plan;
  plan.layers = count("layers", 1, most_layers);
  plan.kv_heads = count("kv-heads", 1, most_kv_heads);
  plan.head_size = count("head-size", 4, most_head_size);
  plan.tile_tokens = count("tile-tokens", 1, most_tile_tokens);
  plan.prefix_tokens = count("prefix-tokens", 1, most_prefix_tokens);
  plan.branches = count("branches", 1, most_branches);
  plan.eager_branches = count("eager-branches", 1, most_eager_branches);
  plan.append_tokens = count("append-tokens", 1, most_append_tokens);
  plan.threads = count("threads", 1, 64);
  plan.repeat = count("repeat", 1, 99);
  plan.seed =
      number("seed", given["seed"].as<std::string>(), 0, std::numeric_limits<std::uint64_t>::max());
  options.json = json_option(given);
  if (plan.head_size % 4 != 0) {
    throw UsageError("--head-size takes a multiple of 4, not " + std::to_string(plan.head_size) +
                     ".");
  }
  if (!options.help) {
    throw_if_too_large(plan);
  }
  return options;
}

std::string help_text() {
  std::ostringstream text;
  text << R"(Usage: branching_cache [options]

Serves many continuations of one prompt, as beam search, sampling and agents do. What a language
model keeps of the prompt, its keys and values, is a prefix that all branches share. Each branch
appends tokens of its own; some branches are then dropped, some truncated, and some branch again.
That is done with eager copies, with one shared pointer for each block of tokens, and with
byre::TiledBuffer, and the appends also into plain memory of the same allocator. Shapes are those of
Llama 3 8B, and the numbers are made up. Every token of every branch is then read back.
)" << described_options()
       << R"(
Memory is what became resident beside the prefix and the appended tokens; "n/a" where the system
does not say.

Exit codes: 0 all is right, 1 something is not, or something failed, 2 wrong usage.
)";
  return text.str();
}

}  // namespace examples::branching_cache
