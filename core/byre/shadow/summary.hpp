// SPDX-License-Identifier: BSL-1.0
/// The summary of all violations so far, for programs and for people.
#pragma once

#include <byre/config.hpp>
#include <byre/shadow/report.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace byre::inline v0::shadow {

struct Summary {
  std::uint64_t reshapes = 0;    ///< that were tracked
  std::uint64_t violations = 0;  ///< that were reported or counted, thrown ones too
  std::uint64_t suppressed = 0;  ///< violations that were neither
  /// How often raw pointers to write to tracked storages left; those before the first tracked reshape
  /// of a storage count once.
  std::uint64_t untracked_escapes = 0;
  CallSite
      first_escape{};  ///< where the first of these did; line 0 if none did, or it is not known
  /// One for each triple of call sites, with its count, the most frequent first. The advice is by all
  /// that was met, `untracked_escapes` the most there were; what else is in it is of its first.
  std::vector<Violation> triples;
};

/// Thread-safe. Throws OutOfMemory.
BYRE_API Summary summary();
/// Begins anew: every triple is reported again. Thread-safe; violations at the same time fall on either
/// side.
BYRE_API void reset_summary() noexcept;

/// For people, with a newline at its end. Throws OutOfMemory.
BYRE_API std::string to_string(const Summary& summary);
/// One JSON object: reshapes, violations, suppressed, untracked_escapes, first_escape, triples. Throws
/// OutOfMemory.
BYRE_API std::string to_json(const Summary& summary);

/// Writes summary() to `where`: "stderr", or a file, which appears complete or not at all, as JSON if
/// its name ends in .json and as text if in .txt; the first %p in it is replaced by the number of the
/// process. Thread-safe. Throws InvalidArgument for other names, FileError, OutOfMemory.
BYRE_API void print_summary(const std::string& where);

}  // namespace byre::inline v0::shadow
