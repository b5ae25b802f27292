// SPDX-License-Identifier: BSL-1.0
/// The book of reports reports each distinct triple of call sites (reshape, write, access) once,
/// and counts repetitions. The book also chooses the advice, based on all violations of a reshape
/// so far.
#pragma once

#include <byre/observe/detail/call_sites.hpp>
#include <byre/shadow/report.hpp>
#include <byre/sync/detail/relaxed.hpp>

namespace byre::inline BYRE_ABI::shadow::detail {

/// The facts that determine the advice, in addition to the violation itself.
struct AdviceFacts {
  bool writer_is_reshaped = false;  ///< the writing family was made from the accessing family
  /// The accessing family was made from the writing family, and has observed earlier writes.
  bool observed_earlier_writes = false;
  bool replaces = false;      ///< the access writes all elements
  CallSite writer_reshape{};  ///< the reshape that made the writing family; line 0 if none
};

/// Counts an unsuppressed violation. Then reports it, or throws ReshapeViolation if its reshape was
/// made in error mode.
[[gnu::cold]] void report(Violation violation, const AdviceFacts& facts);

/// The counters of the summary, except the count of violations: tracked reshapes, suppressed
/// violations, and escapes.
struct ReportCounts {
  sync::detail::RelaxedCounter reshapes;
  sync::detail::RelaxedCounter suppressed;
  sync::detail::RelaxedCounter escapes;
  sync::detail::RelaxedCounter first_escape;  ///< the SiteId of the first escape
};
extern constinit ReportCounts report_counts;

/// Whether this thread is in a ScopedSuppression. Wait-free.
bool thread_is_suppressed() noexcept;
/// Whether a file of suppressions names the call site. Locks if such a file was read.
bool is_suppressed(const CallSite& site) noexcept;

/// Called at each tracked reshape, until one call succeeds. Applies these environment variables:
///   BYRE_RESHAPE_SUMMARY=stderr, FILE.json or FILE.txt   print_summary there, at exit
///   BYRE_RESHAPE_SUPPRESSIONS=FILE                       suppress_sites(FILE)
/// An empty value counts as unset. Each process writes its summary, even if it tracked nothing.
///
/// Thread-safe. Throws InvalidArgument for another value of BYRE_RESHAPE_SUMMARY, or the errors of
/// suppress_sites().
void apply_environment();

}  // namespace byre::inline BYRE_ABI::shadow::detail
