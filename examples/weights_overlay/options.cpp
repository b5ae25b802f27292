// SPDX-License-Identifier: BSL-1.0
#include "options.hpp"

#include "failure.hpp"

#include <byre/memory/pages.hpp>
#include <limits>
#include <sstream>

namespace examples::weights_overlay {
namespace {

namespace po = boost::program_options;

// Bounded so that no product of them overflows 64 bits.
constexpr std::uint64_t most_layers = 4096;
constexpr std::uint64_t most_width = 16'384;
constexpr std::uint64_t most_requests = 1024;

po::options_description described_options() {
  po::options_description options("Options", 96, 62);
  const auto number_of = [](const char* usual) {
    return po::value<std::string>()->value_name("N")->default_value(usual);
  };
  options.add_options()("help,h", "say this, and exit");
  options.add_options()("layers", number_of("4"), "layers of the model, a .npy file each");
  options.add_options()("width", number_of("2048"),
                        "a layer has that many rows and columns of f32");
  options.add_options()("requests", number_of("4"), "requests, a thread each");
  options.add_options()("change", number_of("2"), "layers that each request changes for itself");
  options.add_options()("rows", number_of("16"), "rows of each of these layers that it changes");
  options.add_options()("seed", number_of("1"), "of the weights and the changes");
  add_json_option(options);
  return options;
}

/// Deep copies are one for each request and one for its branch, beside the files' pages.
void throw_if_too_large(const Plan& plan) {
  const std::uint64_t needed = plan.model_nbytes() / 1024 * (2 * plan.requests + 1) / 1024;
  const std::uint64_t usable = byre::usable_memory_nbytes() / (1 << 20);
  if (needed > usable) {
    throw UsageError("Deep copies of this model for " + std::to_string(plan.requests) +
                     " requests and their branches take " + std::to_string(needed) +
                     " MiB, and there are " + std::to_string(usable) +
                     ". Give fewer --requests or --layers, or less "
                     "--width.");
  }
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  const po::variables_map given = parse_command_line(argc, argv, described_options());
  const auto counted = [&](const char* name, std::uint64_t least, std::uint64_t most) {
    return number(name, given[name].as<std::string>(), least, most);
  };
  const auto count = [&](const char* name, std::size_t least, std::size_t most) {
    return static_cast<std::size_t>(counted(name, least, most));
  };
  Options options;
  options.help = given.count("help") != 0;
  options.plan.layers = count("layers", 1, most_layers);
  options.plan.width = count("width", 1, most_width);
  options.plan.requests = count("requests", 1, most_requests);
  options.plan.changed = count("change", 0, most_layers);
  options.plan.rows = count("rows", 0, most_width);
  options.plan.seed = counted("seed", 0, std::numeric_limits<std::uint64_t>::max());
  options.json = json_option(given);
  if (options.plan.changed > options.plan.layers) {
    throw UsageError("--change " + std::to_string(options.plan.changed) +
                     " is more than --layers " + std::to_string(options.plan.layers) + ".");
  }
  if (options.plan.rows > options.plan.width) {
    throw UsageError("--rows " + std::to_string(options.plan.rows) + " is more than --width " +
                     std::to_string(options.plan.width) + ".");
  }
  throw_if_too_large(options.plan);
  return options;
}

std::string help_text() {
  std::ostringstream text;
  text << R"(Usage: weights_overlay [options]

Serves requests that each change a few rows of one model, as patches and fine-tuning do. The model
is written to .npy files in a temporary directory. Each request, on a thread of its own, clones all
layers and changes some rows in place; then it is branched: a second model begins as the request's,
and changes more rows. All compute an output. That is done with deep copies, with lazy clones of a
model that was loaded, which copy each layer that is changed, and with lazy clones of one that is
mapped, which copy pages. All outputs must be the same, bit for bit, what was copied must be what was
changed and nothing else, and the files must hold what was written.
)" << described_options()
       << R"(
Resident memory is what the process gained until the model was open and all requests and branches
set up and changed; "n/a" where the system does not say.

Exit codes: 0 all is right, 1 something is not, or something failed, 2 wrong usage.
)";
  return text.str();
}

}  // namespace examples::weights_overlay
