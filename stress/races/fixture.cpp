// SPDX-License-Identifier: BSL-1.0
#include "fixture.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace byre::stress::races {
namespace {

/// The largest number of failures that a round records. A wrong protocol may cause a failure in
/// every thread.
constexpr std::size_t most_failures = 8;

/// For example, "round 7, thread 3".
std::string text_of(std::uint64_t stamp) {
  if (stamp == Quarantine::released) {
    return "released memory";
  }
  const std::uint64_t thread = stamp % 256;
  return "round " + std::to_string(stamp / 256 - 1) +
         (thread == 255 ? ", the original" : ", thread " + std::to_string(thread));
}

using Bytes = std::array<std::byte, sizeof(std::uint64_t)>;

Bytes bytes_of(std::uint64_t stamp) noexcept {
  return std::bit_cast<Bytes>(stamp);
}

/// Calls act(offset, length) for each part that is as long as a stamp, and for the rest. The length
/// of these parts is a constant, because g++ expands a memcpy of variable length to instructions
/// that its sanitizers do not check.
template <class Act>
void for_each_part(std::size_t nbytes, Act act) {
  std::size_t at = 0;
  for (; nbytes - at >= sizeof(Bytes); at += sizeof(Bytes)) {
    act(at, sizeof(Bytes));
  }
  if (at != nbytes) {
    act(at, nbytes - at);
  }
}

}  // namespace

RaceCounts& RaceCounts::operator+=(const RaceCounts& other) noexcept {
  clones += other.clones;
  copied += other.copied;
  stole += other.stole;
  unique += other.unique;
  drops += other.drops;
  logged += other.logged;
  return *this;
}

void Fixture::fill(std::byte* data, std::uint64_t stamp) const noexcept {
  for_each_part(nbytes, [&](std::size_t at, std::size_t length) {
    if (length == sizeof stamp) {
      std::memcpy(data + at, &stamp, sizeof stamp);
    } else {
      std::copy_n(bytes_of(stamp).begin(), length, data + at);
    }
  });
}

void Fixture::expect_bytes(const std::byte* data, std::uint64_t stamp, const char* what) {
  bool is_right = true;
  for_each_part(nbytes, [&](std::size_t at, std::size_t length) {
    Bytes found{};
    if (length == sizeof stamp) {
      std::memcpy(found.data(), data + at, sizeof stamp);
    } else {
      std::copy_n(data + at, length, found.begin());
    }
    if (is_right && !std::equal(found.begin(), found.begin() + length, bytes_of(stamp).begin())) {
      is_right = false;
      fail(std::string("wrong content: ") + what + ", at byte " + std::to_string(at) + " of " +
           std::to_string(nbytes) + ", found " + text_of(std::bit_cast<std::uint64_t>(found)) +
           ", expected " + text_of(stamp));
    }
  });
}

void Fixture::finish_write(unsigned thread, const std::byte* shared, std::byte* data,
                           Materialized how, std::uint64_t expected) {
  expect((data != shared) == (how == Materialized::copied), "only a copy moves the data");
  expect_bytes(data, expected, "the data before a write");
  fill(data, stamp(thread));
  expect_bytes(data, stamp(thread), "the data after a write");
}

void Fixture::count(unsigned thread, Materialized how) noexcept {
  RaceCounts& counts = counts_[thread].counts;
  switch (how) {
    case Materialized::copied:
      ++counts.copied;
      record("copied");
      return;
    case Materialized::stole:
      ++counts.stole;
      record("stole");
      return;
    case Materialized::already_unique:
      ++counts.unique;
      record("was unique");
      return;
    case Materialized::overlaid:
      record("was overlaid");
      return;
  }
}

void Fixture::fail(const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (failures_.size() < most_failures) {
    failures_.push_back("round " + std::to_string(round) + ": " + what);
  }
}

void Fixture::fail_unequal(std::uint64_t is, std::uint64_t expected, const char* what) {
  fail(std::string(what) + ": " + std::to_string(is) + ", expected " + std::to_string(expected));
}

RaceCounts Fixture::counts() const noexcept {
  RaceCounts sum;
  for (const OfThread& thread : counts_) {
    sum += thread.counts;
  }
  return sum;
}

void Fixture::next_round() noexcept {
  ++round;
  std::fill(counts_.begin(), counts_.end(), OfThread{});
}

}  // namespace byre::stress::races
