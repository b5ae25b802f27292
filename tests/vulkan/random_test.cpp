// SPDX-License-Identifier: BSL-1.0
/// Several owners use device memory in random ways. The contents of each are compared with words on
/// the host.
#include <gtest/gtest.h>

#include <algorithm>

#include "device.hpp"
#include "support/at_once.hpp"
#include "support/random.hpp"

namespace examples::vulkan::test {
namespace {

struct Owner {
  byre::Buffer buffer;
  Words words;
};

std::vector<Owner> some_owners() {
  std::vector<Owner> owners;
  for (const std::size_t length : {10U, 1000U, 80000U, 500U}) {
    const Words words = counting(length);
    owners.push_back({to_device(words), words});
  }
  return owners;
}

void use(std::uint64_t seed, std::vector<Owner> owners, int steps) {
  byre::test::Random random(seed);
  const Add add;
  for (int step = 0; step != steps; ++step) {
    Owner& owner = random.one_of(owners);
    const Owner& other = random.one_of(owners);
    const auto number = random.number<std::uint32_t>(1, 1000);
    const std::size_t first = random.below(owner.words.size());
    const std::size_t length = random.number<std::size_t>(1, owner.words.size() - first);
    const auto place = owner.words.begin() + static_cast<std::ptrdiff_t>(first);
    switch (random.below(10)) {
      case 0:
        random.flag() ? memory().trim() : queue().poll();
        break;
      case 1:
      case 2:
        add(owner.buffer, number);
        std::ranges::for_each(owner.words, [=](std::uint32_t& word) { word += number; });
        break;
      case 3:
        upload(owner.buffer, counting(length, number), first);
        std::ranges::copy(counting(length, number), place);
        break;
      case 4:
        if (&owner != &other) {
          const std::size_t words = std::min(length, other.words.size());
          queue().copy(owner.buffer.mutable_data() + first * 4, other.buffer.data(), words * 4);
          std::copy_n(other.words.begin(), words, place);
        }
        break;
      case 5:
        owner.words = counting(random.flag() ? 80000 : random.number<std::size_t>(1, 3000), number);
        owner.buffer = to_device(owner.words);
        break;
      case 6:
        ASSERT_EQ(to_host(owner.buffer), owner.words);
        break;
      default:
        owner = Owner(other);
    }
  }
  for (const Owner& owner : owners) {
    ASSERT_EQ(to_host(owner.buffer), owner.words);
  }
}

TEST(VulkanRandom, each_owner_reads_its_own_data_on_one_or_several_threads) {
  const std::uint64_t seed = byre::test::seed();
  use(seed, some_owners(), 3000);
  for (std::uint64_t round = 1; round != 6; ++round) {
    const std::vector<Owner> shared = some_owners();
    byre::test::at_once(4,
                        [&](std::size_t thread) { use(seed + round * 4 + thread, shared, 150); });
  }
}

}  // namespace
}  // namespace examples::vulkan::test
