// SPDX-License-Identifier: BSL-1.0
/// What the program found out, as a table for people and as JSON for programs. Both say the same.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "options.hpp"
#include "run.hpp"

namespace examples::diffusion {

struct Report {
  Options options;
  HostResult host;
  std::optional<DeviceResult> device;
  std::size_t frames = 0;
};

/// What is wrong, a sentence each.
std::vector<std::string> faults_of(const Report& report);

std::string table(const Report& report);
std::string json(const Report& report);

}  // namespace examples::diffusion
