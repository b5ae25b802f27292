// SPDX-License-Identifier: BSL-1.0
/// Random use of the device's memory by several owners, each beside words on the host that it has to equal.
#include <gtest/gtest.h>

#include <algorithm>

#include "device.hpp"
#include "support/at_once.hpp"
#include "support/random.hpp"

namespace examples::vulkan::test {
namespace {

using byre::test::Random;

struct Owner {
  byre::Buffer buffer;
  Words words;
};

/// Of one thread.
class RandomOwners {
 public:
  RandomOwners(std::uint64_t seed, std::vector<Owner> owners)
      : random_(seed), owners_(std::move(owners)) {}

  void run(int steps) {
    for (int i = 0; i != steps; ++i) {
      step(random_.one_of(owners_), random_.one_of(owners_));
    }
    for (const Owner& owner : owners_) {
      ASSERT_EQ(to_host(owner.buffer), owner.words);
    }
  }

 private:
  void step(Owner& owner, Owner& other) {
    switch (random_.below(10)) {
      case 0:
      case 1:
      case 2:
        owner = Owner(other);
        return;
      case 3:
      case 4:
        return add(owner);
      case 5:
        return write(owner);
      case 6:
        return copy(owner, other);
      case 7:
        return renew(owner);
      case 8:
        return random_.flag() ? memory().trim() : queue().poll();
      default:
        ASSERT_EQ(to_host(owner.buffer), owner.words);
    }
  }

  struct Part {
    std::size_t first;
    std::size_t length;
  };
  Part part_of(const Owner& owner) {
    const std::size_t first = random_.below(owner.words.size());
    return {first, random_.number<std::size_t>(1, owner.words.size() - first)};
  }
  void add(Owner& owner) {
    const auto addend = random_.number<std::uint32_t>(1, 1000);
    add_(owner.buffer, addend);
    for (std::uint32_t& word : owner.words) {
      word += addend;
    }
  }

  void write(Owner& owner) {
    const auto [first, length] = part_of(owner);
    const Words words = counting(length, random_.number<std::uint32_t>(0, 1000));
    upload(owner.buffer, words, first);
    std::ranges::copy(words, owner.words.begin() + static_cast<std::ptrdiff_t>(first));
  }

  void copy(Owner& owner, const Owner& other) {
    if (&owner == &other) {
      return;
    }
    auto [first, length] = part_of(owner);
    length = std::min(length, other.words.size());
    queue().copy(owner.buffer.mutable_data() + first * 4, other.buffer.data(), length * 4);
    std::copy_n(other.words.begin(), length,
                owner.words.begin() + static_cast<std::ptrdiff_t>(first));
  }

  void renew(Owner& owner) {
    const std::size_t length =
        random_.flag() ? random_.number<std::size_t>(1, 3000) : std::size_t{80000};
    owner.words = counting(length, random_.number<std::uint32_t>(0, 1000));
    owner.buffer = to_device(owner.words);
  }

  Random random_;
  std::vector<Owner> owners_;
  Add add_;
};

std::vector<Owner> some_owners() {
  std::vector<Owner> owners;
  for (const std::size_t length : {10U, 1000U, 80000U, 500U}) {
    const Words words = counting(length);
    owners.push_back({to_device(words), words});
  }
  return owners;
}

TEST(VulkanRandom, owners_see_their_own_words_on_one_thread_and_on_several) {
  const std::uint64_t seed = byre::test::seed();
  RandomOwners(seed, some_owners()).run(3000);
  for (std::uint64_t round = 1; round != 6; ++round) {
    const std::vector<Owner> shared = some_owners();
    byre::test::at_once(
        4, [&](std::size_t thread) { RandomOwners(seed + round * 4 + thread, shared).run(150); });
  }
}

}  // namespace
}  // namespace examples::vulkan::test
