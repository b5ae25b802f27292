// SPDX-License-Identifier: BSL-1.0
#include "history.hpp"

#include <algorithm>
#include <cstring>

namespace byre::inline v0::python {
namespace {

constexpr std::uint64_t multiplier = 0x9E37'79B9'7F4A'7C15;

/// A hash: a page that is overwritten with equal bytes counts as unchanged.
std::uint64_t sum_of(const std::byte* begin, std::size_t nbytes) noexcept {
  std::uint64_t sums[4] = {1, 2, 3, 4};  // independent, so that a core works on several at once
  std::size_t at = 0;
  for (; at + sizeof sums <= nbytes; at += sizeof sums) {
    std::uint64_t words[4];
    std::memcpy(words, begin + at, sizeof words);
    for (int index = 0; index < 4; ++index) {
      sums[index] = (sums[index] ^ words[index]) * multiplier;
      sums[index] ^= sums[index] >> 29;
    }
  }
  std::uint64_t sum = nbytes;
  for (; at < nbytes; ++at) {
    sum = (sum ^ std::to_integer<std::uint64_t>(begin[at])) * multiplier;
  }
  for (const std::uint64_t part : sums) {
    sum = (sum ^ part) * multiplier;
    sum ^= sum >> 29;
  }
  return sum;
}

constexpr std::size_t sample_nbytes = 4096;

std::size_t samples_of(std::size_t nbytes) noexcept {
  return std::min(History::most_samples, (nbytes + sample_nbytes - 1) / sample_nbytes);
}

/// Calls `visit(index, sum)` for one page of each of equal parts. Which one differs from part to part, as rows of
/// equal length would otherwise be met at equal places.
template <class Visit>
void for_each_sample(const std::byte* data, std::size_t nbytes, Visit visit) noexcept {
  const std::size_t pages = (nbytes + sample_nbytes - 1) / sample_nbytes;
  const std::size_t samples = samples_of(nbytes);
  for (std::size_t index = 0; index < samples; ++index) {
    const std::size_t first = pages * index / samples;
    const std::size_t count = pages * (index + 1) / samples - first;
    const std::size_t page =
        first + static_cast<std::size_t>((index + 1) * multiplier >> 33U) % count;
    const std::size_t offset = page * sample_nbytes;
    visit(index, sum_of(data + offset, std::min(sample_nbytes, nbytes - offset)));
  }
}

}  // namespace

Changes History::changes(const std::byte* data, std::size_t nbytes) const noexcept {
  History compared = *this;
  return samples_ == 0 ? Changes{} : compared.update(data, nbytes);
}

Changes History::update(const std::byte* data, std::size_t nbytes) noexcept {
  Changes changes{0, samples_};
  for_each_sample(data, nbytes, [&](std::size_t index, std::uint64_t sum) noexcept {
    changes.pages += changes.samples != 0 && sums_[index] != sum ? 1U : 0U;
    sums_[index] = sum;
  });
  samples_ = samples_of(nbytes);
  return changes;
}

}  // namespace byre::inline v0::python
