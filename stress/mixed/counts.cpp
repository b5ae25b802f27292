// SPDX-License-Identifier: BSL-1.0
#include "counts.hpp"

#include <byre/config.hpp>

#include <numeric>

#include "../failures.hpp"

namespace byre::stress {
namespace {

void expect_equal(const char* what, std::int64_t counted, std::uint64_t done, Failures& failures) {
  if (counted != static_cast<std::int64_t>(done)) {
    failures.add(std::string(what) + ": the counters say " + std::to_string(counted) +
                 ", the threads did " + std::to_string(done));
  }
}

/// Of what may have been done once more where pages were copied.
void expect_between(const char* what, std::int64_t counted, std::uint64_t least, std::uint64_t more,
                    Failures& failures) {
  const auto done = static_cast<std::int64_t>(least);
  if (counted < done || counted > done + static_cast<std::int64_t>(more)) {
    failures.add(std::string(what) + ": the counters say " + std::to_string(counted) +
                 ", the threads did " + std::to_string(least) +
                 (more == 0 ? "" : ", and at most " + std::to_string(more) + " for overlays"));
  }
}

}  // namespace

std::uint64_t Counts::all_operations() const noexcept {
  return std::accumulate(operations.begin(), operations.end(), std::uint64_t{0});
}

Counts& Counts::operator+=(const Counts& other) noexcept {
  for (std::size_t at = 0; at < operation_count; ++at) {
    operations[at] += other.operations[at];
  }
  for (const auto member :
       {&Counts::lazy_clones, &Counts::already_unique, &Counts::stole, &Counts::copied,
        &Counts::overlaid, &Counts::bytes_overlaid, &Counts::bytes_copied,
        &Counts::writes_to_shared, &Counts::writes_to_read_only, &Counts::resized,
        &Counts::borrowed, &Counts::pinned, &Counts::bytes_checked, &Counts::adopted,
        &Counts::delays}) {
    this->*member += other.*member;
  }
  faults += other.faults;
  return *this;
}

void Counts::record_write(Materialized answer, bool was_shared, bool was_read_only,
                          std::size_t nbytes) noexcept {
  writes_to_shared += was_shared ? 1 : 0;
  writes_to_read_only += was_read_only && !was_shared ? 1 : 0;
  switch (answer) {
    case Materialized::already_unique:
      ++already_unique;
      break;
    case Materialized::stole:
      ++stole;
      break;
    case Materialized::copied:
      record_copy(copied, nbytes);
      break;
    case Materialized::overlaid:
      ++overlaid;
      bytes_overlaid += nbytes;
      break;
  }
}

void check_counters(const Counts& counts, const stats::Counters& counters, Failures& failures) {
  if (counts.materializations() > counts.writes_to_shared + counts.writes_to_read_only) {
    failures.add(std::to_string(counts.copied) + " copies, " + std::to_string(counts.overlaid) +
                 " overlays and " + std::to_string(counts.stole) + " steals are more than the " +
                 std::to_string(counts.writes_to_shared) + " writes to shared data and " +
                 std::to_string(counts.writes_to_read_only) + " to read-only data");
  }
  if (BYRE_STATS == 0) {
    return;
  }
  expect_equal("lazy clones", counters.lazy_clones, counts.lazy_clones, failures);
  expect_equal("overlays", counters.overlays, counts.overlaid, failures);
  expect_between("copies", counters.copies, counts.copies(), counts.overlaid, failures);
  expect_equal("steals", counters.steals, counts.stole, failures);
  expect_between("bytes copied", counters.bytes_copied, counts.bytes_copied, counts.bytes_overlaid,
                 failures);
}

}  // namespace byre::stress
