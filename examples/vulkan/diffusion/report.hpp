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

/// What a form takes, in terms of another: the median of each repetition beside that of the other's.
struct Ratio {
  const FormResult* form;
  const FormResult* beside;
  double time = 0;  ///< the median over repetitions, and the least and the most
  double least_time = 0;
  double most_time = 0;
  double memory = 0;
};

/// What is functionalized beside what is written by hand with as many shaders, and beside copies; for --compare.
std::vector<Ratio> ratios_of(const Report& report);

/// What is wrong, a sentence each.
std::vector<std::string> faults_of(const Report& report);

std::string table(const Report& report);
std::string json(const Report& report);

}  // namespace examples::diffusion
