// SPDX-License-Identifier: BSL-1.0
/// Counts: what the threads of a run did, by the results of their calls. byre's own counters have to agree.
#pragma once

#include <byre/observe/counters.hpp>
#include <byre/storage/buffer.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "../faults/fault.hpp"
#include "operation.hpp"

namespace byre::stress {

/// Written by one thread. Read while it is held, or has ended.
struct Counts {
  std::array<std::uint64_t, operation_count> operations{};
  std::uint64_t lazy_clones = 0;
  std::uint64_t already_unique = 0;  ///< writes, by their results
  std::uint64_t stole = 0;
  std::uint64_t copied = 0;
  std::uint64_t overlaid = 0;
  std::uint64_t bytes_overlaid = 0;    ///< of the data, of which some pages may have been copied
  std::uint64_t bytes_copied = 0;      ///< by all kinds of copy
  std::uint64_t writes_to_shared = 0;  ///< that found other owners or pending copies, just before
  std::uint64_t writes_to_read_only = 0;  ///< of those that nobody shared
  std::uint64_t resized = 0;              ///< copies that a resize made
  std::uint64_t borrowed = 0;             ///< copies that a clone of borrowed memory made
  std::uint64_t pinned = 0;               ///< the same of pinned memory
  std::uint64_t bytes_checked = 0;
  std::uint64_t adopted = 0;
  std::uint64_t delays = 0;
  FaultCounts faults;

  std::uint64_t materializations() const noexcept { return stole + copied + overlaid; }
  std::uint64_t copies() const noexcept { return copied + resized + borrowed + pinned; }
  std::uint64_t all_operations() const noexcept;

  Counts& operator+=(const Counts& other) noexcept;

  void record_write(Materialized answer, bool was_shared, bool was_read_only,
                    std::size_t nbytes) noexcept;
  void record_copy(std::uint64_t& cause, std::size_t nbytes) noexcept {
    ++cause;
    bytes_copied += nbytes;
  }
};

class Failures;

/// The counters are exactly what the threads did, and no write copied without need.
void check_counters(const Counts& counts, const stats::Counters& counters, Failures& failures);

}  // namespace byre::stress
