// SPDX-License-Identifier: BSL-1.0
// vulkan_diffusion: a simulation written with views and operations in place, on a device that has neither. See
// ../README.md.
#include <algorithm>
#include <array>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/storage/output_file.hpp>
#include <chrono>
#include <cmath>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "format.hpp"
#include "forms.hpp"
#include "program.hpp"
#include "simulation.hpp"
#include "vulkan/device/gpu.hpp"

namespace examples::diffusion {
namespace {

namespace po = boost::program_options;
using byre::Tensor;
using vulkan::Gpu;
using vulkan::QueueStats;

using Clock = std::chrono::steady_clock;

struct Options {
  bool help = false;
  std::int64_t size = 0;
  std::size_t steps = 0;
  std::size_t repetitions = 0;
  std::size_t snapshot_every = 0;
  std::string picture;
};

po::options_description described_options() {
  po::options_description options("Options", 96, 62);
  const auto count = [](const char* usual) {
    return po::value<std::string>()->value_name("N")->default_value(usual);
  };
  options.add_options()("help,h", "say this, and exit")(
      "size", count("256"), "the grid has N rows and N columns")("steps", count("200"),
                                                                 "steps of the simulation")(
      "repetitions", count("3"), "measure all steps of each form N times, by turns")(
      "snapshot-every", count("50"), "keep a lazy clone of the fields each N steps")(
      "picture", po::value<std::string>()->value_name("FILE")->default_value(""),
      "write the last v there, in the format PPM");
  return options;
}

Options parse_options(int argc, const char* const* argv) {
  const po::variables_map given = parse_command_line(argc, argv, described_options());
  const auto count = [&](const char* name, std::uint64_t least, std::uint64_t most) {
    return number(name, given[name].as<std::string>(), least, most);
  };
  return {.help = given.count("help") != 0,
          .size = static_cast<std::int64_t>(count("size", 8, 16'384)),
          .steps = count("steps", 1, 1'000'000),
          .repetitions = count("repetitions", 1, 1000),
          .snapshot_every = count("snapshot-every", 1, 1'000'000),
          .picture = given["picture"].as<std::string>()};
}

std::string help_text() {
  std::ostringstream text;
  text << R"(Usage: vulkan_diffusion [options]

Simulates two substances that diffuse and react (the Gray-Scott model) on the host and on a Vulkan
device, and measures a step there: functionalized, and as a shader that is written by hand. Compares
the fields of each form with the host's, and snapshots, which are lazy clones, with their first bytes.
BYRE_VULKAN_DEVICE=n chooses the n-th device.
)" << described_options()
       << R"(
Exit codes: 0 all is right, 1 something is not, or something failed, 2 wrong usage.
)";
  return text.str();
}

/// Nanoseconds, a number for each time that something was done.
struct Series {
  std::vector<std::int64_t> ns;

  void add(Clock::duration duration) {
    ns.push_back(std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count());
  }
  std::int64_t median() const {
    std::vector<std::int64_t> sorted = ns;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
  std::string text() const {
    const auto [least, most] = std::minmax_element(ns.begin(), ns.end());
    return milliseconds(median()) + " (" + milliseconds(*least) + " to " + milliseconds(*most) +
           ")";
  }
};

/// What a step of one form takes.
struct Measured {
  Series step;       ///< recording, executing and waiting for it
  Series recording;  ///< of that, until it is submitted
  QueueStats before, after;
  std::size_t peak_nbytes = 0;
  double difference = 0;  ///< from the host's last fields
};

/// Vulkan lets a device round f32 sums and products to nearest or towards zero, and the pattern magnifies the
/// difference.
constexpr double bound = 1e-3;

Tensor run_on_host(const Options& options, Series& series) {
  Tensor grid = first_grid(options.size);
  const byre::functional::Tensors inputs = {byre::functional::from_cpu(grid)};
  for (std::size_t done = 0; done < options.steps; ++done) {
    throw_if_interrupted();
    const Clock::time_point begin = Clock::now();
    step(inputs);
    series.add(Clock::now() - begin);
  }
  return grid;
}

/// All steps of one form, added to what its repetitions before took.
void measure(const FormKind& kind, const Options& options, const Tensor& expected,
             Measured& result) {
  Gpu& gpu = Gpu::get();
  const std::size_t live_before = gpu.memory().stats().live_nbytes;
  gpu.memory().reset_peak();
  const std::unique_ptr<Form> form = kind.start(first_grid(options.size));
  gpu.queue().wait_idle();
  result.before = gpu.queue().stats();
  for (std::size_t done = 0; done < options.steps; ++done) {
    throw_if_interrupted();
    const Clock::time_point begin = Clock::now();
    form->step();
    gpu.queue().submit();
    result.recording.add(Clock::now() - begin);
    gpu.queue().wait_idle();
    result.step.add(Clock::now() - begin);
  }
  result.after = gpu.queue().stats();
  result.peak_nbytes = gpu.memory().stats().peak_nbytes - live_before;
  const Tensor last = form->snapshot().to(byre::Device::cpu());
  result.difference = std::max(result.difference, largest_difference(last, expected));
}

/// A simulation with snapshots, each beside its bytes at that time. Returns what there is to say.
std::string take_snapshots(const Options& options, bool& all_right) {
  Gpu& gpu = Gpu::get();
  struct Snapshot {
    Tensor clone, bytes;
  };
  std::vector<Snapshot> snapshots;
  Series taking;
  const std::unique_ptr<Form> form = forms[0].start(first_grid(options.size));
  for (std::size_t done = 1; done <= options.steps; ++done) {
    throw_if_interrupted();
    form->step();
    if (done % options.snapshot_every == 0) {
      const std::uint64_t copies = gpu.queue().stats().copies;
      const Clock::time_point begin = Clock::now();
      snapshots.push_back({form->snapshot(), Tensor()});
      taking.add(Clock::now() - begin);
      all_right = all_right && gpu.queue().stats().copies == copies;
      snapshots.back().bytes = snapshots.back().clone.to(byre::Device::cpu());
    }
  }
  std::size_t right = 0;
  for (const auto& [clone, bytes] : snapshots) {
    const Tensor now = clone.to(byre::Device::cpu());
    right += std::memcmp(now.raw_data(), bytes.raw_data(), bytes.nbytes()) == 0 ? 1U : 0U;
  }
  all_right = all_right && right == snapshots.size();
  return format(
      "%zu of %zu snapshots are what they were when they were taken%s.\n", right, snapshots.size(),
      snapshots.empty() ? "" : (", in " + milliseconds(taking.median()) + " each").c_str());
}

/// A lazy clone of a tensor, and its end, in nanoseconds.
double ns_of_a_clone(const Tensor& tensor) {
  constexpr int clones = 100'000;
  const Clock::time_point begin = Clock::now();
  for (int clone = 0; clone < clones; ++clone) {
    tensor.lazy_clone();
  }
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / clones;
}

std::string row(const FormKind& kind, const Measured& measured, std::size_t steps) {
  const auto a_step = [&](std::uint64_t QueueStats::*figure) {
    return static_cast<double>(measured.after.*figure - measured.before.*figure) /
           static_cast<double>(steps);
  };
  return format("%-9s %-38s %12s %11.1f %9.1f %11s %10s %10.2g\n", kind.name,
                measured.step.text().c_str(), milliseconds(measured.recording.median()).c_str(),
                a_step(&QueueStats::dispatches), a_step(&QueueStats::barriers),
                mebibytes(a_step(&QueueStats::bytes_copied)).c_str(),
                mebibytes(measured.peak_nbytes).c_str(), measured.difference);
}

/// v from 0 to 0.4 as colours from dark blue by blue, green and yellow to white.
void write_picture(const std::string& file_name, const Tensor& grid) {
  static constexpr std::array<std::array<float, 3>, 5> stops = {
      {{12, 12, 48}, {24, 80, 160}, {40, 168, 128}, {240, 208, 64}, {255, 255, 240}}};
  const Tensor v = field_of(grid, 1).contiguous();
  std::string text =
      "P6 " + std::to_string(v.sizes()[1]) + " " + std::to_string(v.sizes()[0]) + " 255\n";
  for (std::int64_t cell = 0; cell < v.numel(); ++cell) {
    const float place = std::fmin(std::fmax(v.data<float>()[cell] / 0.4F, 0.0F), 1.0F) * 4;
    const std::size_t stop = std::min<std::size_t>(3, static_cast<std::size_t>(place));
    for (std::size_t channel = 0; channel < 3; ++channel) {
      const float colour = std::lerp(stops[stop][channel], stops[stop + 1][channel],
                                     place - static_cast<float>(stop));
      text += static_cast<char>(std::lround(colour));
    }
  }
  byre::OutputFile file(file_name);
  file.write(text.data(), text.size());
  file.commit();
}

ExitCode work(const Options& options) {
  Gpu& gpu = Gpu::get();
  const Tensor first = first_grid(options.size);
  const Tensor there = first.to(gpu.device());
  Series on_host;
  const Tensor expected = run_on_host(options, on_host);
  std::array<Measured, form_count> measured;
  for (std::size_t repetition = 0; repetition < options.repetitions; ++repetition) {
    for (std::size_t form = 0; form < form_count; ++form) {
      measured[form].step.ns.reserve(options.repetitions * options.steps);
      measure(forms[form], options, expected, measured[form]);
    }
  }
  std::string text =
      gpu.description() + "\n" +
      format("%lld x %lld cells, two fields of f32 = ", static_cast<long long>(options.size),
             static_cast<long long>(options.size)) +
      mebibytes(first.nbytes()) + format(", %zu steps\n\n", options.steps);
  for (const FormKind& kind : forms) {
    text += format("%-9s %s\n", kind.name, kind.about);
  }
  text +=
      format("\n%-9s %-38s %12s %11s %9s %11s %10s %10s\n", "", "a step, median (least to most)",
             "recording", "dispatches", "barriers", "copied", "memory", "difference");
  text += format("%-9s %s\n", "host", on_host.text().c_str());
  bool all_right = true;
  for (std::size_t form = 0; form < form_count; ++form) {
    text += row(forms[form], measured[form], options.steps);
    all_right = all_right && measured[form].difference <= bound;
  }
  text += format("\nA lazy clone and its end take %.0f ns on the device, %.0f ns on the host.\n",
                 ns_of_a_clone(there), ns_of_a_clone(first));
  text += take_snapshots(options, all_right);
  if (!options.picture.empty()) {
    write_picture(options.picture, expected);
  }
  all_right = all_right && gpu.validation_messages() == 0;
  print(text + (all_right ? "All is right.\n" : "Something is WRONG.\n"));
  return all_right ? exit_success : exit_failure;
}

}  // namespace
}  // namespace examples::diffusion

int main(int argc, char** argv) {
  using namespace examples::diffusion;
  return examples::run_program("vulkan_diffusion", "Give less --size or fewer snapshots.", argc,
                               argv, parse_options, help_text, work);
}
