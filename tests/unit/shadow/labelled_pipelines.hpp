// SPDX-License-Identifier: BSL-1.0
/// Small programs with reshapes, as people write them, and labels of the accesses that rely on an alias. A label
/// names three steps: the reshape, the write and the access. Steps are numbered; the numbers stand in for lines in
/// call sites and reports.
#pragma once

#include "steps.hpp"

#include <byre/shadow/report.hpp>

#include <vector>

namespace byre::test {

struct Label {
  std::uint32_t reshape;
  std::uint32_t write;
  std::uint32_t access;
  bool access_writes;
  shadow::Advice advice;
  StepNumbers seen{};  ///< where the access shows, if not at its own step
  /// The advice keeps what the code does, which its author never meant. Nothing in the code tells.
  bool is_mistake = false;
};

struct Pipeline {
  const char* name;
  shadow::ReshapeMode meant;  ///< the mode in which it does what its author meant
  void (*run)(Steps&);
  std::vector<Label> labels{};  ///< empty: it relies on nothing
};

std::vector<Pipeline> labelled_pipelines();

}  // namespace byre::test
