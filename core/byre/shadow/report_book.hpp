// SPDX-License-Identifier: BSL-1.0
/// The book of reports: each distinct triple of lines, reshape, write and access, is told once, and
/// counted after that; at any time there is a summary of all.
#pragma once

#include <byre/shadow/report.hpp>
#include <byre/shadow/unaudited.hpp>

#include <cstdint>
#include <vector>

namespace byre::inline v0::shadow {

/// Called with a violation at the first of each triple, on the thread whose access it is, with no lock
/// held: it may do what it likes, also access tensors. May be called from several threads at once, and
/// must not throw.
using ViolationHandler = void (*)(const Violation& violation) noexcept;

/// Installs `handler` (null: the default, which warns by byre::warn) and returns the one before.
/// Violations of reshapes in error mode are thrown, and not handed to it. Thread-safe.
ViolationHandler set_violation_handler(ViolationHandler handler) noexcept;

struct Summary {
  std::uint64_t reshapes = 0;    ///< that were watched
  std::uint64_t violations = 0;  ///< that were told or counted, thrown ones too; not the silenced
  std::uint64_t silenced = 0;    ///< violations that nobody was told of
  /// Storages and reshapes that raw pointers left, each once for each line by which they did. Those that
  /// did already before a reset are not counted again.
  std::uint64_t unaudited = 0;
  /// One for each triple, with its count, the most frequent first. The advice is by all that was met,
  /// `unaudited` the most there were; what else is in it is of its first.
  std::vector<Violation> triples;
  /// The lines by which raw pointers left, however many storages they left, in the order of their names.
  std::vector<UnauditedLine> unaudited_lines;
};

/// Thread-safe. Throws std::bad_alloc.
Summary summary();
/// Begins anew: every triple is told again.
/// Thread-safe; violations at the same time fall on either side.
void reset_summary() noexcept;

namespace detail {

/// Tells of a violation that is not silenced, counts it, or throws it: ReshapeViolation, if its reshape
/// was in error mode.
[[gnu::cold]] void report(Violation violation);
/// Wait-free.
[[gnu::cold]] void count_silenced() noexcept;

/// A reshape is watched. Wait-free.
void count_reshape() noexcept;
/// A raw pointer left a storage by a line where none had. Wait-free.
void count_unaudited() noexcept;

}  // namespace detail
}  // namespace byre::inline v0::shadow
