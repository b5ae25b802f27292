// SPDX-License-Identifier: BSL-1.0
/// What the audit found, as a table for people and as JSON for programs. Both say the same.
#pragma once

#include "audit.hpp"

#include <byre/tensor.hpp>
#include <string>
#include <vector>

namespace examples::reshape_audit {

struct Report {
  std::vector<Audit> audits;
  byre::shadow::Summary summary;  ///< of all pipelines, run in warn mode once more

  bool is_right() const noexcept;
};

/// With `in_full`, followed by every report as byre words it.
std::string table(const Report& report, bool in_full);
std::string json(const Report& report);

/// What a pipeline saw in a mode, and what was reported or thrown.
std::string transcript(const Pipeline& pipeline, byre::shadow::ReshapeMode mode, const Run& run);

}  // namespace examples::reshape_audit
