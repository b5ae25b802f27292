// SPDX-License-Identifier: BSL-1.0
// vulkan_diffusion: a simulation written with views and operations in place, on a device that has neither. See
// ../README.md.
#include <algorithm>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <chrono>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "format.hpp"
#include "run_program.hpp"
#include "simulation.hpp"
#include "vulkan/device/gpu.hpp"

namespace examples::diffusion {
namespace {

using byre::Tensor;
using vulkan::Gpu;
using vulkan::QueueStats;

struct Options {
  std::int64_t size;
  std::uint64_t steps;
};

std::int64_t nanoseconds() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

/// `times` are in nanoseconds.
std::string median_and_range(std::vector<std::int64_t> times) {
  std::sort(times.begin(), times.end());
  return milliseconds(times[times.size() / 2]) + " (" + milliseconds(times.front()) + " to " +
         milliseconds(times.back()) + ")";
}

/// Infinite if an element is not a number.
double largest_difference(const Tensor& a, const Tensor& b) {
  double largest = 0;
  for (const std::int64_t field : {0, 1}) {
    const Tensor first = field_of(a, field).contiguous();
    const Tensor second = field_of(b, field).contiguous();
    for (std::int64_t i = 0; i < first.numel(); ++i) {
      const double apart =
          std::abs(double{first.data<float>()[i]} - double{second.data<float>()[i]});
      largest = std::isnan(apart) ? HUGE_VAL : std::max(largest, apart);
    }
  }
  return largest;
}

/// Vulkan lets a device round f32 sums and products to nearest or towards zero, and the pattern magnifies the
/// difference.
constexpr double bound = 1e-3;

Tensor run_on_host(const Options& options, Report& report) {
  Tensor grid = first_grid(options.size);
  const byre::functional::Tensors inputs = {byre::functional::from_cpu(grid)};
  std::vector<std::int64_t> times;
  for (std::uint64_t done = 0; done < options.steps; ++done) {
    throw_if_interrupted();
    const std::int64_t begin = nanoseconds();
    step(inputs);
    times.push_back(nanoseconds() - begin);
  }
  report.text += format("%-14s %s\n", "host", median_and_range(times).c_str());
  return grid;
}

/// All steps of one form, with four snapshots, each with a copy of its bytes from when it was taken.
void run_on_device(const char* name, Form (*start)(const Tensor& grid), const Options& options,
                   const Tensor& expected, Report& report) {
  Gpu& gpu = Gpu::get();
  const std::size_t live_before = gpu.memory().stats().live_nbytes;
  gpu.memory().reset_peak();
  const Form form = start(first_grid(options.size));
  std::vector<std::int64_t> times;
  std::vector<std::int64_t> recording;
  std::vector<std::pair<Tensor, Tensor>> snapshots;
  std::size_t peak_nbytes = 0;
  const QueueStats before = gpu.queue().stats();
  for (std::uint64_t done = 1; done <= options.steps; ++done) {
    throw_if_interrupted();
    gpu.queue().wait_idle();
    const std::int64_t begin = nanoseconds();
    form.step();
    gpu.queue().submit();
    recording.push_back(nanoseconds() - begin);
    gpu.queue().wait_idle();
    times.push_back(nanoseconds() - begin);
    if (done == 1) {
      peak_nbytes = gpu.memory().stats().peak_nbytes - live_before;
    }
    if (done % (options.steps / 4) == 0) {
      const Tensor snapshot = form.snapshot();
      snapshots.emplace_back(snapshot, snapshot.to(byre::Device::cpu()));
    }
  }
  const QueueStats after = gpu.queue().stats();
  const double difference = largest_difference(form.snapshot().to(byre::Device::cpu()), expected);
  if (!(difference <= bound)) {
    report.faults.push_back(std::string(name) + ": the fields differ too much from the host's.");
  }
  for (const auto& [clone, bytes] : snapshots) {
    const Tensor now = clone.to(byre::Device::cpu());
    if (std::memcmp(now.raw_data(), bytes.raw_data(), now.nbytes()) != 0) {
      report.faults.push_back(std::string(name) + ": a snapshot is not as it was taken.");
    }
  }
  const auto a_step = [&](std::uint64_t QueueStats::*figure) {
    return static_cast<double>(after.*figure - before.*figure) / static_cast<double>(options.steps);
  };
  std::sort(recording.begin(), recording.end());
  report.text += format(
      "%-14s %-42s %12s %11.1f %9.1f %11s %10s %11.2g\n", name, median_and_range(times).c_str(),
      milliseconds(recording[recording.size() / 2]).c_str(), a_step(&QueueStats::dispatches),
      a_step(&QueueStats::barriers), mebibytes(a_step(&QueueStats::bytes_copied)).c_str(),
      mebibytes(peak_nbytes).c_str(), difference);
}

/// A lazy clone of a tensor, and its end, in nanoseconds.
double ns_of_a_clone(const Tensor& tensor) {
  constexpr int clones = 100'000;
  const std::int64_t begin = nanoseconds();
  for (int clone = 0; clone < clones; ++clone) {
    tensor.lazy_clone();
  }
  return static_cast<double>(nanoseconds() - begin) / clones;
}

Report work(const Arguments& given) {
  const Options options{static_cast<std::int64_t>(given.number("size", 8, 16'384)),
                        given.number("steps", 4, 1'000'000)};
  Gpu& gpu = Gpu::get();
  const Tensor first = first_grid(options.size);
  Report report;
  report.text = gpu.driver().description + "\n" + std::to_string(options.size) + " x " +
                std::to_string(options.size) +
                " cells, two fields of f32 = " + mebibytes(first.nbytes()) + ", " +
                std::to_string(options.steps) + " steps\n\n";
  report.text +=
      format("%-14s %-42s %12s %11s %9s %11s %10s %11s\n", "", "a step, median (least to most)",
             "recording", "dispatches", "barriers", "copied", "memory", "difference");
  const Tensor expected = run_on_host(options, report);
  run_on_device("functionalized", functionalized, options, expected, report);
  run_on_device("by hand", by_hand, options, expected, report);
  report.text +=
      format("\nA lazy clone and its end take %.0f ns on the device, %.0f ns on the host.\n",
             ns_of_a_clone(first.to(gpu.device())), ns_of_a_clone(first));
  if (gpu.driver().validation_messages != 0) {
    report.faults.push_back("Calls of Vulkan are wrong: see the validation layer's messages.");
  }
  report.text += report.faults.empty()
                     ? "Fields are within the bound, snapshots are what they were.\n"
                     : "Fields, snapshots or calls of Vulkan are WRONG.\n";
  return report;
}

}  // namespace
}  // namespace examples::diffusion

int main(int argc, char** argv) {
  return examples::run_program(
      {.name = "vulkan_diffusion",
       .about =
           R"(Simulates two substances that diffuse and react (the Gray-Scott model) on the host and on a Vulkan
device, functionalized anew in each step, operator by operator, and by hand, as one shader from one
grid into another. Measures a step, and compares the last fields with the host's, and snapshots, which
are lazy clones, with their bytes when they were taken. BYRE_VULKAN_DEVICE=n chooses the n-th device.
)",
       .options = {{"size", "256", "the grid has so many rows and columns"},
                   {"steps", "200", "steps of each form of the simulation"}},
       .work = examples::diffusion::work},
      argc, argv);
}
