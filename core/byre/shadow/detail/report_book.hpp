// SPDX-License-Identifier: BSL-1.0
/// The book of reports: each distinct triple of call sites, reshape, write and access, is reported once
/// and counted after that. Advice is made here, for each reshape by all that was met of it.
#pragma once

#include <byre/observe/detail/call_sites.hpp>
#include <byre/shadow/report.hpp>
#include <byre/sync/detail/relaxed_counter.hpp>

namespace byre::inline v0::shadow::detail {

/// What advice is made of, beside the violation itself.
struct Circumstances {
  bool writer_is_reshaped = false;  ///< the writing family came out of the accessing one
  /// The accessing family came out of the writing one, and observed earlier writes.
  bool observed_earlier_writes = false;
  bool replaces = false;      ///< the access writes all there is
  CallSite writer_reshape{};  ///< which made the writing family; line 0 for none
};

/// Reports a violation that is not suppressed, counts it, or throws it: ReshapeViolation, if its reshape
/// was in error mode.
[[gnu::cold]] void report(Violation violation, const Circumstances& circumstances);

/// What the summary counts beside violations: tracked reshapes, suppressed violations, and escapes.
struct ReportCounts {
  sync::detail::RelaxedCounter reshapes;
  sync::detail::RelaxedCounter suppressed;
  sync::detail::RelaxedCounter escapes;
  sync::detail::RelaxedCounter first_escape;  ///< the SiteId where the first did
};
extern constinit ReportCounts report_counts;

/// Whether this thread is in a ScopedSuppression. Wait-free.
bool thread_is_suppressed() noexcept;
/// Whether the call site is in a file of suppressions. Locks if there is one.
bool is_suppressed(const CallSite& site) noexcept;

/// Called when a reshape is tracked. Does what the environment says, until that succeeds once:
///   BYRE_RESHAPE_SUMMARY=stderr, FILE.json or FILE.txt   print_summary there, at exit
///   BYRE_RESHAPE_SUPPRESSIONS=FILE                       suppress_sites(FILE)
/// An empty value is as none. Each process writes its summary, also if it tracked nothing.
///
/// Thread-safe. Throws InvalidArgument for other values, and what suppress_sites throws.
void apply_environment();

}  // namespace byre::inline v0::shadow::detail
