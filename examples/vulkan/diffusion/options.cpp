// SPDX-License-Identifier: BSL-1.0
#include "options.hpp"

#include "failure.hpp"

#include <byre/memory/pages.hpp>
#include <charconv>
#include <limits>
#include <sstream>

namespace examples::diffusion {
namespace {

namespace po = boost::program_options;

constexpr std::uint64_t most_size = 16'384;
constexpr std::uint64_t most_steps = 1'000'000;
constexpr std::uint64_t most_repetitions = 1000;

po::options_description described_options() {
  po::options_description options("Options", 96, 62);
  const auto given_as = [](const char* name, const char* usual) {
    return po::value<std::string>()->value_name(name)->default_value(usual);
  };
  options.add_options()("help,h", "say this, and exit");
  options.add_options()("size", given_as("N", "256"), "the grid has N rows and N columns");
  options.add_options()("steps", given_as("N", "200"), "steps of the simulation");
  options.add_options()(
      "border", given_as("KIND", "periodic"),
      "periodic: the grid continues on its other side; fixed: what is outside stays");
  options.add_options()("feed", given_as("X", "0.037"), "the rate at which u comes in");
  options.add_options()("kill", given_as("X", "0.06"),
                        "the rate, beside the feed's, at which v goes");
  options.add_options()("seed", given_as("N", "1"), "of where v is in the beginning");
  options.add_options()("device", given_as("KIND", "vulkan"),
                        "vulkan; none: the host alone. BYRE_VULKAN_DEVICE=n chooses the n-th");
  options.add_options()("name-device", "say what the device is called, and exit");
  options.add_options()("eager", "functionalize anew in each step too, and measure that");
  options.add_options()("compare",
                        "measure shaders written by hand, and copies in place of views, too");
  options.add_options()("repetitions", given_as("N", "3"), "of what is measured");
  options.add_options()("snapshot-every", given_as("N", "50"),
                        "keep a lazy clone of the fields each N steps; 0: none");
  options.add_options()("frames", po::value<std::string>()->value_name("DIR"),
                        "write pictures of v there, as frame-000000.png");
  options.add_options()("frame-every", given_as("N", "50"), "a picture each N steps, and the last");
  add_json_option(options);
  return options;
}

/// Of two words, whether it is the first.
bool is_first_of(const char* name, const std::string& given, const char* first,
                 const char* second) {
  if (given != first && given != second) {
    throw UsageError(std::string("--") + name + " takes " + first + " or " + second + ", not '" +
                     given + "'.");
  }
  return given == first;
}

/// A rate from 0 to 1.
double rate(const char* name, const std::string& given) {
  double value = 0;
  const char* const end = given.data() + given.size();
  const auto [read_to, error] = std::from_chars(given.data(), end, value);
  if (error != std::errc() || read_to != end || !(value >= 0 && value <= 1)) {
    throw UsageError(std::string("--") + name + " takes a number from 0 to 1, not '" + given +
                     "'.");
  }
  return value;
}

/// On the host there are the grid, the temporaries of a step and the grids that are compared.
void throw_if_too_large(const Plan& plan) {
  const std::uint64_t needed = plan.grid_nbytes() / (1 << 20) * 8;
  const std::uint64_t usable = byre::usable_memory_nbytes() / (1 << 20);
  if (needed > usable) {
    throw UsageError("A step of --size " + std::to_string(plan.size) + " takes " +
                     std::to_string(needed) + " MiB on the host, and there are " +
                     std::to_string(usable) + ". Give less --size.");
  }
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  const po::variables_map given = parse_command_line(argc, argv, described_options());
  const auto text = [&](const char* name) { return given[name].as<std::string>(); };
  const auto count = [&](const char* name, std::uint64_t least, std::uint64_t most) {
    return static_cast<std::size_t>(number(name, text(name), least, most));
  };
  Options options;
  options.help = given.count("help") != 0;
  options.name_device = given.count("name-device") != 0;
  options.plan.size = count("size", 8, most_size);
  options.plan.steps = count("steps", 1, most_steps);
  options.plan.periodic = is_first_of("border", text("border"), "periodic", "fixed");
  options.plan.feed = rate("feed", text("feed"));
  options.plan.kill = rate("kill", text("kill"));
  options.plan.seed = number("seed", text("seed"), 0, std::numeric_limits<std::uint64_t>::max());
  options.on_device = is_first_of("device", text("device"), "vulkan", "none");
  options.eager = given.count("eager") != 0;
  options.compare = given.count("compare") != 0;
  options.repetitions = count("repetitions", 1, most_repetitions);
  options.snapshot_every = count("snapshot-every", 0, most_steps);
  options.frame_every = count("frame-every", 1, most_steps);
  if (given.count("frames") != 0) {
    options.frames = text("frames");
    if (options.frames.empty()) {
      throw UsageError("--frames takes the name of a directory.");
    }
  }
  options.json = json_option(given);
  if (!options.on_device && (options.eager || options.compare || options.name_device)) {
    throw UsageError(
        "--eager, --compare and --name-device are of a device. Leave out --device none.");
  }
  throw_if_too_large(options.plan);
  return options;
}

std::string help_text() {
  std::ostringstream text;
  text << R"(Usage: vulkan_diffusion [options]

Simulates how two substances diffuse and react (the Gray-Scott model), on the host and on a Vulkan
device. The step is one program with views and operations in place. On the host it runs as it is.
For the device it is functionalized: captured once as a graph of pure operators, and executed by one
command buffer in each step. Snapshots are lazy clones of the device's tensors, taken while it
runs. In the end each is compared, bit by bit, with a run that begins anew and takes none, and
the device's last fields with the host's.
)" << described_options()
       << R"(
Exit codes: 0 all is right, 1 something is not, or something failed, 2 wrong usage.
)";
  return text.str();
}

}  // namespace examples::diffusion
