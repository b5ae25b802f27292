// SPDX-License-Identifier: BSL-1.0
/// The simulation on the host and on the device, and what was measured of both.
#pragma once

#include <byre/tensor/tensor.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "form.hpp"
#include "frames.hpp"
#include "measured.hpp"
#include "options.hpp"

namespace examples::diffusion {

/// How far the device's last fields may be from the host's. Vulkan has a device round f32 sums and products
/// correctly, but to nearest or towards zero as it likes, and the pattern magnifies the difference.
constexpr double bound = 1e-3;

struct HostResult {
  Series step;
  byre::Tensor last;
  std::uint64_t bytes_copied = 0;  ///< by byre, in all steps
};

/// Frames are written if there is a place for them.
HostResult run_on_host(const Plan& plan, Frames& frames);

/// Lazy clones of the fields that were kept while the simulation ran.
struct SnapshotResult {
  std::size_t count = 0;
  std::uint64_t nbytes = 0;  ///< of all of them
  Series take;               ///< to take one
  std::uint64_t bytes_copied =
      0;  ///< on the device, by all steps: a write to what a snapshot shares copies it
  std::uint64_t peak_nbytes = 0;         ///< of the device's memory, with all snapshots
  std::int64_t run_ns = 0;               ///< of all steps, with snapshots and frames
  std::int64_t replay_ns = 0;            ///< of a run without
  std::vector<std::size_t> differing{};  ///< the steps of those that the replay does not have
};

/// What one form of the step takes.
struct FormResult {
  const FormKind* kind = nullptr;
  Series step;     ///< recording, executing and waiting for it
  Series prepare;  ///< of that, until it is submitted
  std::uint64_t peak_nbytes = 0;
  double dispatches = 0;  ///< a step, as all below
  double barriers = 0;
  double copies = 0;
  double bytes_copied = 0;
  double submissions = 0;
  double difference = 0;  ///< the largest, from the host's last fields
};

struct DeviceResult {
  std::string name;
  SnapshotResult snapshots;
  std::uint64_t bytes_uploaded = 0;  ///< by the simulation, with its snapshots and frames
  std::uint64_t bytes_downloaded = 0;
  std::size_t graph_nodes = 0;
  Series
      host_clone{};  ///< a lazy clone of a tensor, and its end: of the host's memory, and of the device's
  Series device_clone{};
  std::vector<FormResult> forms{};
  std::uint64_t validation_messages = 0;
};

/// What the device is called. Throws vulkan::VulkanError if there is none, Failure for fields too large for it.
std::string prepare_device(const Plan& plan);

/// Throws what prepare_device() throws, and byre::OutOfMemory.
DeviceResult run_on_device(const Options& options, const HostResult& host, Frames& frames);

}  // namespace examples::diffusion
