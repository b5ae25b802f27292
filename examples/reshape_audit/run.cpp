// SPDX-License-Identifier: BSL-1.0
#include "run.hpp"

namespace examples::reshape_audit {

namespace {

std::optional<byre::shadow::Violation>* first_told = nullptr;

void keep_the_first(const byre::shadow::Violation& violation) noexcept {
  if (!*first_told) {
    *first_told = violation;
  }
}

}  // namespace

Run run_in(byre::shadow::ReshapeMode mode, void (*pipeline)(Journal&), const Switched& switched) {
  Run run;
  byre::shadow::reset_summary();
  first_told = &run.first;
  const auto before = byre::shadow::set_violation_handler(&keep_the_first);
  const byre::shadow::ReshapeModeScope scope(mode);
  const SwitchScope switches(switched);
  try {
    pipeline(run.journal);
  } catch (const byre::shadow::ReshapeViolation& violation) {
    run.error = violation.what();
    run.first = violation.violation();
  }
  byre::shadow::set_violation_handler(before);
  run.reports = byre::shadow::summary().triples;
  run.reshapes = SwitchScope::reshapes();
  return run;
}

}  // namespace examples::reshape_audit
