// SPDX-License-Identifier: BSL-1.0
#include "stage.hpp"

#include <boost/thread/lock_guard.hpp>

#include <algorithm>
#include <cstring>

namespace byre::stress::races {
namespace {

/// One round of a wrong protocol may go wrong in every thread.
constexpr std::size_t most_failures = 8;

/// "round 7, thread 3".
std::string text_of(std::uint64_t stamp) {
  if (stamp == Quarantine::released) {
    return "nobody: released";
  }
  const std::uint64_t thread = stamp % 256;
  return "round " + std::to_string(stamp / 256 - 1) +
         (thread == 255 ? ", the original" : ", thread " + std::to_string(thread));
}

}  // namespace

Tally& Tally::operator+=(const Tally& other) noexcept {
  clones += other.clones;
  copied += other.copied;
  stole += other.stole;
  unique += other.unique;
  drops += other.drops;
  return *this;
}

void Stage::fill(std::byte* data, std::uint64_t stamp) const noexcept {
  for (std::size_t at = 0; at < nbytes; at += sizeof stamp) {
    std::memcpy(data + at, &stamp, std::min(sizeof stamp, nbytes - at));
  }
}

void Stage::expect_bytes(const std::byte* data, std::uint64_t stamp, const char* what) {
  for (std::size_t at = 0; at < nbytes; at += sizeof stamp) {
    std::uint64_t found = 0;
    const std::size_t length = std::min(sizeof stamp, nbytes - at);
    std::memcpy(&found, data + at, length);
    if (std::memcmp(&found, &stamp, length) != 0) [[unlikely]] {
      fail(std::string("wrong content: ") + what + ", at byte " + std::to_string(at) + " of " +
           std::to_string(nbytes) + ", is of " + text_of(found) + " instead of " + text_of(stamp));
      return;
    }
  }
}

void Stage::count(unsigned thread, Materialized how) noexcept {
  Tally& tally = tallies_[thread].tally;
  switch (how) {
    case Materialized::copied:
      ++tally.copied;
      return;
    case Materialized::stole:
      ++tally.stole;
      return;
    case Materialized::already_unique:
      ++tally.unique;
      return;
  }
}

void Stage::fail(const std::string& what) {
  const boost::lock_guard<boost::mutex> lock(mutex_);
  if (failures_.size() < most_failures) {
    failures_.push_back("round " + std::to_string(round) + ": " + what);
  }
}

void Stage::fail_unequal(std::uint64_t is, std::uint64_t expected, const char* what) {
  fail(std::string(what) + ": " + std::to_string(is) + " instead of " + std::to_string(expected));
}

Tally Stage::tally() const noexcept {
  Tally sum;
  for (const OfThread& thread : tallies_) {
    sum += thread.tally;
  }
  return sum;
}

void Stage::next_round() noexcept {
  ++round;
  std::fill(tallies_.begin(), tallies_.end(), OfThread{});
}

}  // namespace byre::stress::races
