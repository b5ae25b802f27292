// SPDX-License-Identifier: BSL-1.0
// Buffers that grow byte by byte, and give back what they no longer need.
#include <byre/memory/host_allocators.hpp>
#include <byre/memory/pages.hpp>
#include <byre/memory/pool.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/buffer.hpp>
#include <byre/storage/detail/buffer_impl.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "support/counted.hpp"
#include "support/failing_allocator.hpp"

namespace byre::test {
namespace {

/// Bytes 0, 1, 2, ...
Buffer counting(std::size_t nbytes, Allocator& allocator) {
  Buffer buffer = Buffer::allocate(nbytes, allocator);
  std::byte* const bytes = buffer.mutable_data();
  for (std::size_t at = 0; at < nbytes; ++at) {
    bytes[at] = static_cast<std::byte>(at);
  }
  return buffer;
}

void expect_counting(const Buffer& value, std::size_t nbytes) {
  ASSERT_EQ(value.nbytes(), nbytes);
  const std::byte* const bytes = std::as_const(value).data();
  std::size_t right = 0;
  while (right < nbytes && bytes[right] == static_cast<std::byte>(right)) {
    ++right;
  }
  EXPECT_EQ(right, nbytes);
}

class GrowthByBytes : public testing::TestWithParam<Allocator*> {};

TEST_P(GrowthByBytes, copies_each_byte_three_times_at_most) {
  constexpr std::size_t nbytes = std::size_t{280} << 10;
  Buffer buffer = Buffer::allocate(0, *GetParam());
  std::size_t copied = 0;
  while (buffer.nbytes() < nbytes) {
    const std::size_t size = buffer.nbytes();
    const std::byte* const before = std::as_const(buffer).data();
    const std::size_t capacity = buffer.capacity();
    buffer.resize(size + 1);
    if (std::as_const(buffer).data() != before) {
      ASSERT_EQ(size, capacity) << "moved while the capacity sufficed";
      copied += size;
    }
    ASSERT_LE(buffer.capacity(), 2 * (size + 1) + huge_page_nbytes);
    buffer.mutable_data()[size] = static_cast<std::byte>(size);
  }
  EXPECT_LE(copied, 3 * nbytes);
  expect_counting(buffer, nbytes);
}

INSTANTIATE_TEST_SUITE_P(OfEach, GrowthByBytes,
                         testing::Values(&default_allocator(),
                                         static_cast<Allocator*>(&aligned_allocator()),
                                         &paged_allocator()));

TEST(Growth, to_a_larger_size_is_exact) {
  Buffer buffer = Buffer::allocate(1000, aligned_allocator());
  buffer.resize(5000);
  EXPECT_EQ(buffer.capacity(), 5000U);
}

TEST(Growth, without_memory_to_spare_is_to_the_size_alone) {
  FailingAllocator allocator;
  Buffer buffer = counting(1000, allocator);
  allocator.fail_allocation(0);
  buffer.resize(1001);
  EXPECT_EQ(buffer.capacity(), 1001U);
  EXPECT_EQ(buffer.nbytes(), 1001U);
  buffer.resize(1000);
  expect_counting(buffer, 1000);
  EXPECT_EQ(allocator.blocks_out(), 1U);
}

TEST(Growth, near_the_largest_size_does_not_overflow) {
  using byre::detail::grown_capacity;
  EXPECT_EQ(grown_capacity(0, 1), 1U);
  EXPECT_EQ(grown_capacity(1000, 1001), 1500U);
  EXPECT_EQ(grown_capacity(max_nbytes - 1, max_nbytes), max_nbytes);
  EXPECT_EQ(grown_capacity(max_nbytes / 2 + 1, max_nbytes / 2 + 2),
            max_nbytes / 2 + 1 + (max_nbytes / 2 + 1) / 2);
}

TEST(ShrinkToFit, of_what_fits_copies_nothing) {
  const Counted counted;
  for (const std::size_t nbytes : {0U, 1U, 64U, 1000U, 5000U, 70'000U}) {
    Buffer value = Buffer::allocate(nbytes);
    const std::byte* const before = std::as_const(value).data();
    value.shrink_to_fit();
    EXPECT_EQ(std::as_const(value).data(), before) << nbytes;
  }
  Buffer().shrink_to_fit();
  EXPECT_EQ(counted.since().copies, 0);
}

/// Rounds blocks up to whole kilobytes.
class RoundingAllocator final : public Allocator {
 public:
  Block allocate(const Request& request) override {
    return aligned_allocator().allocate({(request.nbytes + 1023) / 1024 * 1024, request.prefix});
  }
  void deallocate(const Block& block) noexcept override { aligned_allocator().deallocate(block); }
  void copy(void* destination, const void* source, std::size_t nbytes) override {
    ++copies;
    Allocator::copy(destination, source, nbytes);
  }
  const char* name() const noexcept override { return "rounding allocator"; }

  int copies = 0;
};

TEST(ShrinkToFit, without_a_smaller_block_copies_nothing) {
  RoundingAllocator allocator;
  Buffer value = counting(1500, allocator);
  const std::byte* const before = std::as_const(value).data();
  value.shrink_to_fit();
  EXPECT_EQ(allocator.copies, 0);
  EXPECT_EQ(std::as_const(value).data(), before);
  value.resize(1000);
  value.shrink_to_fit();
  EXPECT_EQ(allocator.copies, 1);
  expect_counting(value, 1000);
}

TEST(ShrinkToFit, gives_back_as_little_as_a_line) {
  for (const std::size_t spare_nbytes : {data_alignment - 1, data_alignment}) {
    Buffer value = counting(1000 + spare_nbytes, aligned_allocator());
    const std::byte* const before = std::as_const(value).data();
    value.resize(1000);
    value.shrink_to_fit();
    EXPECT_EQ(std::as_const(value).data() == before, spare_nbytes < data_alignment);
    expect_counting(value, 1000);
  }
}

}  // namespace
}  // namespace byre::test
