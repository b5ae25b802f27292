// SPDX-License-Identifier: BSL-1.0
/// A pipeline run in one of reshape's modes.
#pragma once

#include "pipelines/pipeline.hpp"
#include "switches.hpp"

#include <byre/tensor.hpp>
#include <optional>
#include <string>
#include <vector>

namespace examples::reshape_audit {

struct Run {
  Journal journal;
  std::vector<byre::shadow::Violation> reports{};  ///< in error mode the one that was thrown
  std::string error{};  ///< of error mode: what was thrown; empty if nothing was
  std::optional<byre::shadow::Violation> first{};  ///< that was told, or thrown
  Lines reshapes{};                                ///< the program came by these
};

/// Starts the summary of violations anew. One thread. Nobody else is told.
Run run_in(byre::shadow::ReshapeMode mode, void (*pipeline)(Journal&),
           const Switched& switched = {});

/// While it lives nobody is told of violations; they are in the summary.
class [[nodiscard]] QuietReports {
 public:
  QuietReports() noexcept
      : before_(
            byre::shadow::set_violation_handler([](const byre::shadow::Violation&) noexcept {})) {}
  ~QuietReports() { byre::shadow::set_violation_handler(before_); }
  QuietReports(const QuietReports&) = delete;
  QuietReports& operator=(const QuietReports&) = delete;

 private:
  byre::shadow::ViolationHandler before_;
};

}  // namespace examples::reshape_audit
