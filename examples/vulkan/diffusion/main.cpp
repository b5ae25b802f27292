// SPDX-License-Identifier: BSL-1.0
// vulkan_diffusion: a simulation written with views and operations in place, on a device that has neither. See
// ../README.md.
#include "frames.hpp"
#include "options.hpp"
#include "program.hpp"
#include "report.hpp"
#include "run.hpp"

#include <byre/error/error.hpp>
#include <cstdio>
#include <string>

namespace examples::diffusion {
namespace {

DeviceResult on_device(const Options& options, const HostResult& host, Frames& frames) {
  try {
    return run_on_device(options, host, frames);
  } catch (const byre::OutOfMemory& error) {
    throw Failure(std::string(error.what()) + " Give less --size, or a larger --snapshot-every.");
  }
}

ExitCode work(const Options& options) {
  if (options.name_device) {
    print(prepare_device(options.plan) + "\n");
    return exit_success;
  }
  JsonOutput json_output(options.json);
  Frames frames(options.frames, options.frame_every);
  Frames no_frames({}, 1);
  if (options.on_device) {
    prepare_device(options.plan);  // so that what is missing is said before the work
  }
  Report report{.options = options,
                .host = run_on_host(options.plan, options.on_device ? no_frames : frames),
                .device = std::nullopt};
  if (options.on_device) {
    report.device = on_device(options, report.host, frames);
  }
  report.frames = frames.count();
  json_output.deliver([&] { return json(report); }, [&] { return table(report); });
  const std::vector<std::string> faults = faults_of(report);
  for (const std::string& fault : faults) {
    std::fprintf(stderr, "vulkan_diffusion: %s\n", fault.c_str());
  }
  return faults.empty() ? exit_success : exit_failure;
}

}  // namespace
}  // namespace examples::diffusion

int main(int argc, char** argv) {
  using namespace examples::diffusion;
  return examples::run_program("vulkan_diffusion", "Give less --size or fewer snapshots.", argc,
                               argv, parse_options, help_text, work);
}
