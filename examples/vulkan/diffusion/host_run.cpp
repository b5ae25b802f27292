// SPDX-License-Identifier: BSL-1.0
#include "failure.hpp"
#include "run.hpp"
#include "simulation.hpp"

#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/observe/counters.hpp>

namespace examples::diffusion {

HostResult run_on_host(const Plan& plan, Frames& frames) {
  HostResult result{.step = {}, .last = first_grid(plan)};
  const byre::functional::Program step = step_program(plan);
  const byre::functional::Tensors inputs = {byre::functional::from_cpu(result.last)};
  const byre::stats::Counters before = byre::stats::snapshot();
  for (std::size_t done = 0; done < plan.steps; ++done) {
    throw_if_interrupted();
    if (frames.are_wanted_at(done, plan.steps)) {
      frames.write(done, result.last);
    }
    const Clock::time_point begin = Clock::now();
    step(inputs);
    result.step.ns.push_back(ns_since(begin));
  }
  if (frames.are_wanted()) {
    frames.write(plan.steps, result.last);
  }
  result.bytes_copied = static_cast<std::uint64_t>((byre::stats::snapshot() - before).bytes_copied);
  return result;
}

}  // namespace examples::diffusion
