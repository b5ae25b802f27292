// SPDX-License-Identifier: BSL-1.0
#include <byre/memory/allocator.hpp>
#include <byre/memory/pages.hpp>
#include <byre/system/detail/memory.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "nbytes.hpp"
#include "pages/children.hpp"
#include "support/protected_pages.hpp"

namespace byre::test {
namespace {

struct Mapping {
  explicit Mapping(std::size_t nbytes_asked, std::size_t alignment)
      : nbytes(nbytes_asked), address(system_pages().map(page_nbytes, nbytes, alignment)) {}
  ~Mapping() {
    if (address != nullptr) {
      system_pages().unmap(address, page_nbytes, nbytes);
    }
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  bool holds(int value) const {
    return std::all_of(address, address + nbytes,
                       [&](std::byte byte) { return std::to_integer<int>(byte) == value; });
  }

  const std::size_t nbytes;
  std::byte* const address;
};

TEST(SystemPages, are_aligned_and_include_the_lead_in_front_of_the_address) {
  for (const std::size_t alignment :
       {page_nbytes, 2 * page_nbytes, 16 * page_nbytes, huge_page_nbytes}) {
    for (const std::size_t nbytes : {page_nbytes, 16 * page_nbytes, 3 * mib}) {
      std::byte* const address = system_pages().map(page_nbytes, nbytes, alignment);
      ASSERT_NE(address, nullptr);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(address) % alignment, 0U);
      std::memset(address - page_nbytes, 1, page_nbytes + nbytes);
      const std::size_t mapped = mapped_nbytes(address - page_nbytes, page_nbytes + nbytes);
      system_pages().unmap(address, page_nbytes, nbytes);
      const std::size_t still_mapped = mapped_nbytes(address - page_nbytes, page_nbytes + nbytes);
      EXPECT_EQ(mapped, page_nbytes + nbytes);
      EXPECT_EQ(still_mapped, 0U) << nbytes << " bytes aligned to " << alignment;
    }
  }
}

#if !defined(_WIN32)  // Windows does not report the size of the address space in use

// The unused pages in front of and behind an aligned mapping must be unmapped at once. unmap() must
// unmap the rest, including the lead.
TEST(SystemPages, release_their_addresses_when_unmapped) {
  constexpr std::size_t mappings = 4096;
  const std::size_t before = address_space_nbytes();
  for (std::size_t number = 0; number < mappings; ++number) {
    const Mapping mapping(page_nbytes, huge_page_nbytes);
    ASSERT_NE(mapping.address, nullptr);
  }
  EXPECT_LT(address_space_nbytes(), before + mappings * page_nbytes / 2);
}

#endif

TEST(SystemPages, return_null_for_a_mapping_too_large_for_the_address_space) {
  // On 32-bit systems, the program itself uses so many addresses that 7 / 8 of them are not free.
  constexpr std::size_t an_eighth = ~std::size_t{0} / 8 + 1;
  const Mapping mapping(7 * an_eighth, huge_page_nbytes);
  EXPECT_EQ(mapping.address, nullptr);
}

TEST(SystemPages, keep_their_bytes_if_advised_as_huge_or_populated) {
  for (const std::size_t advised_nbytes : {std::size_t{0}, 4 * mib}) {
    const Mapping mapping(4 * mib, huge_page_nbytes);
    ASSERT_NE(mapping.address, nullptr);
    system::advise_huge(mapping.address, advised_nbytes);
    EXPECT_TRUE(system::populate(mapping.address, advised_nbytes));
    EXPECT_TRUE(mapping.holds(0)) << "fresh pages must be zero";
    std::memset(mapping.address, 7, mapping.nbytes);
    system::advise_huge(mapping.address, advised_nbytes);
    EXPECT_TRUE(mapping.holds(7));
    EXPECT_TRUE(system::populate(mapping.address, advised_nbytes));
    EXPECT_TRUE(mapping.holds(7));
    system::advise_reclaimable(mapping.address, advised_nbytes);
    EXPECT_TRUE(advised_nbytes != 0 || mapping.holds(7));
    std::memset(mapping.address, 8, mapping.nbytes);
    EXPECT_TRUE(mapping.holds(8)) << "reclaimable pages must stay writable";
  }
}

TEST(UsableMemory, is_positive_and_fits_the_address_space) {
  EXPECT_GE(usable_memory_nbytes(), 16 * mib);
  // A 32-bit system may have as much memory as it can address.
  EXPECT_TRUE(sizeof(void*) == 4 || usable_memory_nbytes() < max_nbytes / 8);
}

}  // namespace
}  // namespace byre::test
