// SPDX-License-Identifier: BSL-1.0
// vulkan_diffusion: a simulation that is written with views and operations in place, on a device
// that supports neither. See ../README.md.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "format.hpp"
#include "on_threads.hpp"
#include "run_program.hpp"
#include "same_bits.hpp"
#include "simulation.hpp"
#include "vulkan/device/gpu.hpp"

namespace examples::diffusion {
namespace {

using byre::Tensor;
using vulkan::Gpu;
using vulkan::QueueStats;

/// Returns infinity if an element is NaN.
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

template <class Work>
double ms_of(const Work& work) {
  return static_cast<double>(time_ns(work)) / 1e6;
}

std::int64_t size_of_grid(const Arguments& given) {
  return static_cast<std::int64_t>(given.number("size", 8, 16'384));
}

/// Vulkan permits a device to round f32 sums and products to nearest or towards zero. The
/// simulation magnifies the difference.
constexpr double bound = 1e-3;

/// Runs all steps of one form and takes four snapshots. At the end, compares each snapshot with a
/// copy of its bytes that was made when the snapshot was taken. Returns the last grid, after
/// comparing it with `expected` unless `expected` is null.
Tensor run(const std::string& name, Form (*start)(const Tensor& grid), const Arguments& given,
           const Tensor* expected, Report& report) {
  Gpu& gpu = Gpu::get();
  const std::uint64_t steps = given.number("steps", 4, 1'000'000);
  const std::size_t live_before = gpu.memory().stats().live_nbytes;
  gpu.memory().reset_peak();
  const Form form = start(first_grid(size_of_grid(given)));
  std::vector<double> times;  // milliseconds, like `recording`
  std::vector<double> recording;
  std::vector<std::pair<Tensor, Tensor>> snapshots;
  std::size_t peak_nbytes = 0;
  const QueueStats before = gpu.queue().stats();
  for (std::uint64_t done = 1; done <= steps; ++done) {
    throw_if_interrupted();
    gpu.queue().wait_idle();
    recording.push_back(ms_of([&] {
      form.step();
      gpu.queue().submit();
    }));
    times.push_back(recording.back() + ms_of([&] { gpu.queue().wait_idle(); }));
    if (done == 1) {
      peak_nbytes = gpu.memory().stats().peak_nbytes - live_before;
    }
    if (done % (steps / 4) == 0) {
      const Tensor snapshot = form.snapshot();
      snapshots.emplace_back(snapshot, snapshot.to(byre::Device::cpu()).clone());
    }
  }
  const QueueStats after = gpu.queue().stats();
  const Tensor last = form.snapshot().to(byre::Device::cpu());
  const double difference = expected == nullptr ? 0 : largest_difference(last, *expected);
  if (!(difference <= bound)) {
    report.faults.push_back(name + ": the fields differ from the host's by more than the bound.");
  }
  for (const auto& [clone, bytes] : snapshots) {
    if (!are_same_bits(clone.to(byre::Device::cpu()), bytes)) {
      report.faults.push_back(name + ": a snapshot has changed.");
    }
  }
  const auto a_step = [&](std::uint64_t QueueStats::*figure) {
    return static_cast<double>(after.*figure - before.*figure) / static_cast<double>(steps);
  };
  std::ranges::sort(times);
  std::ranges::sort(recording);
  report.figures["forms"][name] = {{"step, median, ms", times[times.size() / 2]},
                                   {"least, ms", times.front()},
                                   {"most, ms", times.back()},
                                   {"recording, median, ms", recording[recording.size() / 2]},
                                   {"dispatches", a_step(&QueueStats::dispatches)},
                                   {"barriers", a_step(&QueueStats::barriers)},
                                   {"copied, MiB", a_step(&QueueStats::bytes_copied) / (1 << 20)},
                                   {"memory, MiB", static_cast<double>(peak_nbytes) / (1 << 20)},
                                   {"largest difference", format("%.2g", difference)}};
  return last;
}

/// Returns the time of a lazy clone of a tensor and its destruction.
double ns_of_a_clone(const Tensor& tensor) {
  constexpr int clones = 100'000;
  const double ms = ms_of([&] {
    for (int clone = 0; clone < clones; ++clone) {
      tensor.lazy_clone();
    }
  });
  return ms * 1e6 / clones;
}

Report work(const Arguments& given) {
  const vulkan::Driver& driver = Gpu::get().driver();
  const Tensor first = first_grid(size_of_grid(given));
  Report report;
  const Tensor expected = run("host", on_host, given, nullptr, report);
  run("functionalized", functionalized, given, &expected, report);
  run("by hand", by_hand, given, &expected, report);
  if (driver.validation_messages != 0) {
    report.faults.push_back("Vulkan was used incorrectly: see the validation layer's messages.");
  }
  const char* const size = given.text("size").c_str();
  report.text = driver.description + format("\n%s x %s cells, two fields of f32 = ", size, size) +
                mebibytes(first.nbytes()) + ", " + given.text("steps") + " steps\n\n" +
                table_of(report.figures["forms"]) +
                format(
                    "\nMaking and destroying a lazy clone takes %.0f ns on the device, %.0f ns on "
                    "the host.\n",
                    ns_of_a_clone(first.to(Gpu::get().device())), ns_of_a_clone(first)) +
                (report.faults.empty() ? "Fields are within the bound, snapshots are unchanged.\n"
                                       : "Fields, snapshots or calls of Vulkan are WRONG.\n");
  return report;
}

}  // namespace
}  // namespace examples::diffusion

int main(int argc, char** argv) {
  return examples::run_program(
      {.name = "vulkan_diffusion",
       .about =
           R"(Simulates two substances that diffuse and react (the Gray-Scott model) in three forms:
on the host; on a Vulkan device, functionalized in each step and run operator by operator; and on
the device with one shader, written by hand, that computes a new grid. Measures a step of each form.
Verifies that the last fields equal the host's, and that snapshots, which are lazy clones, have not
changed. BYRE_VULKAN_DEVICE=n selects device n.
)",
       .options = {{"size", "256", "number of rows and of columns of the grid"},
                   {"steps", "200", "number of steps of each form"}},
       .work = examples::diffusion::work},
      argc, argv);
}
