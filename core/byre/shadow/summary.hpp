// SPDX-License-Identifier: BSL-1.0
/// The summary of all violations so far (report.hpp), for programs and for people. It also counts
/// tracked reshapes, suppressed violations and escapes.
#pragma once

#include <byre/config.hpp>
#include <byre/shadow/report.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace byre::inline BYRE_ABI::shadow {

/// The counts and violations so far. An *escape* is the handing out of a raw pointer for writing to
/// a tracked storage: accesses through such a pointer are not tracked.
struct Summary {
  std::uint64_t reshapes = 0;    ///< tracked reshapes
  std::uint64_t violations = 0;  ///< reported, counted or thrown
  std::uint64_t suppressed = 0;  ///< suppressed violations, not part of `violations`
  /// Number of escapes. Those before the first tracked reshape of a storage count as one.
  std::uint64_t untracked_escapes = 0;
  CallSite
      first_escape{};  ///< of the first escape; line 0 if there was none or the site is unknown
  /// One violation for each triple of call sites, with its count; the most frequent first. Its
  /// advice is based on all violations so far, and its `untracked_escapes` is the largest number
  /// among those of the triple. The other members are those of the first violation.
  std::vector<Violation> triples;
};

/// The summary of the process since its start or the last reset_summary(). Thread-safe; takes a
/// lock. Throws OutOfMemory.
BYRE_API Summary summary();
/// Resets all counts; every triple is reported again. Thread-safe; takes a lock. A concurrent
/// violation counts before or after the reset.
BYRE_API void reset_summary() noexcept;

/// The summary for people, with a newline at its end. Throws OutOfMemory.
BYRE_API std::string to_string(const Summary& summary);
/// One JSON object: reshapes, violations, suppressed, untracked_escapes, first_escape, triples.
/// Throws OutOfMemory.
BYRE_API std::string to_json(const Summary& summary);

/// Writes summary() to `where`: "stderr" or a file, as JSON if its name ends in .json, as text if
/// it ends in .txt. The first %p in the name is replaced by the process number. A file appears
/// complete or not at all. Thread-safe. Throws InvalidArgument for other names, FileError if the
/// file cannot be written, or OutOfMemory.
BYRE_API void print_summary(const std::string& where);

}  // namespace byre::inline BYRE_ABI::shadow
