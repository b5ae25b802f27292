// SPDX-License-Identifier: BSL-1.0
#include "failure.hpp"
#include "run.hpp"
#include "simulation.hpp"

#include <algorithm>
#include <memory>

#include "vulkan/device/gpu.hpp"

namespace examples::diffusion {
namespace {

using byre::Tensor;
using vulkan::Gpu;
using vulkan::QueueStats;

Tensor on_host(const Tensor& tensor) {
  return tensor.to(byre::Device::cpu());
}

/// One step, by one command buffer; waits for it. Returns when it was submitted.
Clock::time_point step_once(Form& form) {
  Gpu& gpu = Gpu::get();
  vulkan::Queue::OneSubmission submission(gpu.queue());
  form.step();
  const std::uint64_t value = submission.submit();
  const Clock::time_point submitted = Clock::now();
  gpu.queue().wait(value);
  return submitted;
}

struct Snapshot {
  std::size_t step;
  Tensor grid;
};

/// The simulation, with snapshots and frames.
std::vector<Snapshot> simulate(const Options& options, const Tensor& first, Frames& frames,
                               SnapshotResult& result) {
  Gpu& gpu = Gpu::get();
  const Plan& plan = options.plan;
  const QueueStats before = gpu.queue().stats();
  gpu.memory().reset_peak();
  std::vector<Snapshot> snapshots;
  const Clock::time_point begin = Clock::now();
  const std::unique_ptr<Form> form = captured_form.start(plan, first);
  for (std::size_t done = 0;; ++done) {
    throw_if_interrupted();
    if (frames.are_wanted_at(done, plan.steps)) {
      frames.write(done, on_host(form->snapshot()));
    }
    const bool is_last = done == plan.steps;
    if (options.snapshot_every != 0 &&
        (is_last || (done != 0 && done % options.snapshot_every == 0))) {
      const Clock::time_point taken = Clock::now();
      snapshots.push_back({done, form->snapshot()});
      result.take.ns.push_back(ns_since(taken));
    }
    if (is_last) {
      break;
    }
    step_once(*form);
  }
  result.run_ns = ns_since(begin);
  result.count = snapshots.size();
  result.nbytes = snapshots.size() * plan.grid_nbytes();
  result.peak_nbytes = gpu.memory().peak_nbytes();
  result.bytes_copied = gpu.queue().stats().bytes_copied - before.bytes_copied;
  return snapshots;
}

/// From the beginning again, without snapshots: at the step of each, the fields have to be the same.
void replay(const Plan& plan, const Tensor& first, const std::vector<Snapshot>& snapshots,
            SnapshotResult& result) {
  const std::unique_ptr<Form> form = captured_form.start(plan, first);
  std::size_t done = 0;
  for (const Snapshot& snapshot : snapshots) {
    for (; done < snapshot.step; ++done) {
      throw_if_interrupted();
      const Clock::time_point begin = Clock::now();
      step_once(*form);
      result.replay_ns += ns_since(begin);
    }
    if (!is_same(on_host(snapshot.grid), on_host(form->snapshot()))) {
      result.differing.push_back(done);
    }
  }
}

/// All steps of one form once, added to what its repetitions before took.
void measure(const Plan& plan, const Tensor& first, const Tensor& expected, FormResult& result) {
  Gpu& gpu = Gpu::get();
  gpu.queue().wait_idle();
  const std::size_t live_before = gpu.memory().live_nbytes();
  gpu.memory().reset_peak();
  const std::unique_ptr<Form> form = result.kind->start(plan, first);
  gpu.queue().wait_idle();
  const QueueStats before = gpu.queue().stats();
  for (std::size_t done = 0; done < plan.steps; ++done) {
    throw_if_interrupted();
    const Clock::time_point begin = Clock::now();
    const Clock::time_point submitted = step_once(*form);
    result.step.ns.push_back(ns_since(begin));
    result.prepare.ns.push_back(
        std::chrono::duration_cast<std::chrono::nanoseconds>(submitted - begin).count());
  }
  const QueueStats after = gpu.queue().stats();
  const auto a_step = [&](std::uint64_t QueueStats::*figure) {
    return static_cast<double>(after.*figure - before.*figure) / static_cast<double>(plan.steps);
  };
  result.dispatches = a_step(&QueueStats::dispatches);
  result.barriers = a_step(&QueueStats::barriers);
  result.copies = a_step(&QueueStats::copies);
  result.bytes_copied = a_step(&QueueStats::bytes_copied);
  result.submissions = a_step(&QueueStats::submissions);
  result.peak_nbytes = gpu.memory().peak_nbytes() - live_before;
  // Without the borders, which not every form keeps up.
  const Tensor last = on_host(form->snapshot());
  for (const std::int64_t field : {0, 1}) {
    result.difference =
        std::max(result.difference, largest_difference(field_of(last, field).contiguous(),
                                                       field_of(expected, field).contiguous()));
  }
}

/// A lazy clone of each tensor in turn, and its end.
void measure_clones(const Tensor& here, const Tensor& there, DeviceResult& result) {
  constexpr std::int64_t clones = 10'000;
  const auto time_of = [](const Tensor& tensor) {
    const Clock::time_point begin = Clock::now();
    for (std::int64_t clone = 0; clone < clones; ++clone) {
      tensor.lazy_clone();
    }
    return ns_since(begin) / clones;
  };
  for (int repetition = 0; repetition < 11; ++repetition) {
    result.host_clone.ns.push_back(time_of(here));
    result.device_clone.ns.push_back(time_of(there));
  }
}

std::vector<FormResult> measure_forms(const Options& options, const Tensor& first,
                                      const Tensor& expected) {
  std::vector<FormResult> results;
  const auto add = [&](const FormKind& kind, bool wanted = true) {
    if (wanted) {
      results.push_back({.kind = &kind, .step = {}, .prepare = {}});
    }
  };
  add(captured_form);
  add(eager_form, options.eager);
  add(naive_form, options.compare);
  add(by_operator_form, options.compare);
  add(fused_form, options.compare);
  for (std::size_t repetition = 0; repetition < options.repetitions; ++repetition) {
    for (FormResult& result : results) {
      measure(options.plan, first, expected, result);
    }
  }
  return results;
}

}  // namespace

std::string prepare_device(const Plan& plan) {
  Gpu& gpu = Gpu::get();
  const std::uint64_t most = gpu.limits().maxStorageBufferRange;
  if (plan.grid_nbytes() > most) {
    throw Failure("The fields of --size " + std::to_string(plan.size) + " are " +
                  std::to_string(plan.grid_nbytes()) + " bytes, and a shader on " +
                  gpu.description() + " sees at most " + std::to_string(most) +
                  " (maxStorageBufferRange). Give less --size.");
  }
  return gpu.description();
}

DeviceResult run_on_device(const Options& options, const HostResult& host, Frames& frames) {
  Gpu& gpu = Gpu::get();
  DeviceResult result;
  result.name = prepare_device(options.plan);
  result.graph_nodes = captured_step(options.plan).graph.nodes.size();
  const Tensor first = first_grid(options.plan);
  const QueueStats before = gpu.queue().stats();
  {
    const std::vector<Snapshot> snapshots = simulate(options, first, frames, result.snapshots);
    const QueueStats after = gpu.queue().stats();
    result.bytes_uploaded = after.bytes_uploaded - before.bytes_uploaded;
    result.bytes_downloaded = after.bytes_downloaded - before.bytes_downloaded;
    replay(options.plan, first, snapshots, result.snapshots);
  }
  measure_clones(first, first.to(gpu.device()), result);
  result.forms = measure_forms(options, first, host.last);
  gpu.queue().wait_idle();
  result.validation_messages = gpu.validation_messages();
  return result;
}

}  // namespace examples::diffusion
