// SPDX-License-Identifier: BSL-1.0
#include "tally.hpp"

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

}  // namespace

std::uint64_t Tally::all_operations() const noexcept {
  return std::accumulate(operations.begin(), operations.end(), std::uint64_t{0});
}

Tally& Tally::operator+=(const Tally& other) noexcept {
  for (std::size_t at = 0; at < operation_count; ++at) {
    operations[at] += other.operations[at];
  }
  for (const auto member : {&Tally::lazy_clones, &Tally::already_unique, &Tally::stole,
                            &Tally::copied, &Tally::bytes_copied, &Tally::writes_to_shared,
                            &Tally::writes_to_read_only, &Tally::resized, &Tally::borrowed,
                            &Tally::bytes_checked, &Tally::adopted, &Tally::delays}) {
    this->*member += other.*member;
  }
  faults += other.faults;
  return *this;
}

void Tally::note_write(Materialized answer, bool was_shared, bool was_read_only,
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
      note_copy(copied, nbytes);
      break;
  }
}

void check_counters(const Tally& tally, const stats::Counters& counted, Failures& failures) {
  if (tally.materializations() > tally.writes_to_shared + tally.writes_to_read_only) {
    failures.add(std::to_string(tally.copied) + " copies and " + std::to_string(tally.stole) +
                 " steals are more than the " + std::to_string(tally.writes_to_shared) +
                 " writes to shared data and " + std::to_string(tally.writes_to_read_only) +
                 " to read-only data");
  }
  if (BYRE_STATS == 0) {
    return;
  }
  expect_equal("lazy clones", counted.lazy_clones, tally.lazy_clones, failures);
  expect_equal("copies", counted.copies, tally.copies(), failures);
  expect_equal("steals", counted.steals, tally.stole, failures);
  expect_equal("bytes copied", counted.bytes_copied, tally.bytes_copied, failures);
}

}  // namespace byre::stress
