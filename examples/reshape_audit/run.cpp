// SPDX-License-Identifier: BSL-1.0
#include "run.hpp"

namespace examples::reshape_audit {

Run run_in(byre::shadow::ReshapeMode mode, void (*pipeline)(Journal&)) {
  Run run;
  byre::shadow::reset_summary();
  const byre::shadow::ReshapeModeScope scope(mode);
  try {
    pipeline(run.journal);
  } catch (const byre::shadow::ReshapeViolation& violation) {
    run.error = violation.what();
  }
  run.reports = byre::shadow::summary().triples;
  return run;
}

}  // namespace examples::reshape_audit
