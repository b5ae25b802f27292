// SPDX-License-Identifier: BSL-1.0
// Single guarantees of Buffer. random_programs_test.cpp compares all other behavior with the model
// of stress/programs.
#include <byre/memory/host_allocators.hpp>
#include <byre/memory/pages.hpp>
#include <byre/memory/pool.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/buffer.hpp>
#include <byre/storage/detail/buffer_impl.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "support/complaint.hpp"
#include "support/counted.hpp"
#include "support/failing_allocator.hpp"
#include "text.hpp"

namespace byre::test {
namespace {

static_assert(std::is_nothrow_copy_constructible_v<Buffer>);
static_assert(std::is_nothrow_copy_assignable_v<Buffer>);
static_assert(std::is_nothrow_move_constructible_v<Buffer>);
static_assert(std::is_nothrow_move_assignable_v<Buffer>);
static_assert(std::is_nothrow_default_constructible_v<Buffer>);
static_assert(BYRE_CHECKS || sizeof(Buffer) <= 2 * sizeof(void*));

TEST(Buffer, a_copy_shares_data_until_the_copy_or_source_is_written) {
  Buffer original = of_text<Buffer>("cow");
  Buffer clone = original;
  EXPECT_TRUE(clone.shares_data_with(original));
  EXPECT_EQ(clone.data(), original.data());
  EXPECT_EQ(original.use_count(), 2U);
  EXPECT_FALSE(original.is_unique());

  clone.mutable_data()[0] = std::byte{'n'};
  EXPECT_EQ(text_of(original), "cow");
  EXPECT_EQ(text_of(clone), "now");
  EXPECT_FALSE(clone.shares_data_with(original));
  EXPECT_TRUE(original.is_unique());
}

TEST(Buffer, reading_never_copies) {
  FailingAllocator allocator;
  const Buffer original = of_text<Buffer>("cow", allocator);
  const Buffer clone = original;
  EXPECT_EQ(text_of(clone), text_of(original));
  EXPECT_EQ(allocator.copies(), 0);
  EXPECT_EQ(allocator.allocations(), 1);
}

TEST(Buffer, an_owner_writes_in_place_after_its_clone_is_dropped) {
  Buffer original = of_text<Buffer>("cow");
  const std::byte* data = original.data();
  { const Buffer clone = original; }
  EXPECT_EQ(original.materialize(), Materialized::already_unique);
  EXPECT_EQ(original.data(), data);
}

TEST(Buffer, a_written_clone_has_the_size_and_allocator_of_its_source) {
  FailingAllocator allocator;
  const Buffer original = of_text<Buffer>("cow", allocator);
  Buffer clone = original;
  clone.mutable_data();
  EXPECT_EQ(clone.nbytes(), original.nbytes());
  EXPECT_EQ(&clone.allocator(), &allocator);
  EXPECT_EQ(clone.origin(), Origin::allocated);
}

TEST(Buffer, a_move_leaves_the_source_empty) {
  Buffer source = of_text<Buffer>("cow");
  const std::byte* data = source.data();
  Buffer target = std::move(source);
  EXPECT_EQ(target.data(), data);
  EXPECT_EQ(source.nbytes(), 0U);  // NOLINT(bugprone-use-after-move): tests the moved-from state
  EXPECT_EQ(source.data(), nullptr);

  source = target;
  EXPECT_TRUE(source.shares_data_with(target));
  source = std::move(target);
  EXPECT_EQ(source.use_count(), 1U);
}

TEST(Buffer, resizing_shared_data_throws_and_changes_nothing) {
  Buffer buffer = of_text<Buffer>("cow" + std::string(1000, ' '));
  buffer.resize(3);
  const Buffer clone = buffer;
  EXPECT_TRUE(says(complaint_of<NotUnique>([&] { buffer.resize(10); }), "resize to 10 bytes",
                   "materialize()"));
  EXPECT_TRUE(says(complaint_of<NotUnique>([&] { buffer.shrink_to_fit(); }),
                   "shrink_to_fit to 3 bytes", "materialize()"));
  EXPECT_EQ(text_of(buffer), "cow");
  EXPECT_TRUE(buffer.shares_data_with(clone));
}

TEST(Buffer, a_size_above_max_nbytes_throws_invalid_argument) {
  for (const std::size_t nbytes : {std::numeric_limits<std::size_t>::max(),
                                   std::numeric_limits<std::size_t>::max() - 127, max_nbytes + 1}) {
    EXPECT_THROW(Buffer::allocate(nbytes), InvalidArgument) << nbytes;
    Buffer buffer = of_text<Buffer>("cow");
    EXPECT_THROW(buffer.resize(nbytes), InvalidArgument) << nbytes;
    EXPECT_EQ(text_of(buffer), "cow");
  }
}

TEST(Buffer, allocating_max_nbytes_throws_out_of_memory) {
  const auto take_two = [](Allocator& allocator) {  // with 32-bit addresses, `one` may succeed
    const Buffer one = Buffer::allocate(max_nbytes, allocator);
    const Buffer another = Buffer::allocate(max_nbytes, allocator);
  };
  EXPECT_THROW(take_two(default_allocator()), OutOfMemory);
  EXPECT_THROW(take_two(aligned_allocator()), OutOfMemory);
}

/// A buffer of the bytes 0, 1, 2, ...
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

TEST_P(GrowthByBytes, copies_at_most_three_bytes_per_appended_byte) {
  constexpr std::size_t nbytes = std::size_t{280} << 10;
  Buffer buffer = Buffer::allocate(0, *GetParam());
  const Counted counted;
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
  EXPECT_EQ(counted.since().bytes_copied, BYRE_STATS ? static_cast<std::int64_t>(copied) : 0);
  expect_counting(buffer, nbytes);
}

INSTANTIATE_TEST_SUITE_P(OfEach, GrowthByBytes,
                         testing::Values(&default_allocator(),
                                         static_cast<Allocator*>(&aligned_allocator()),
                                         &paged_allocator()));

TEST(Growth, falls_back_to_the_exact_size_if_memory_is_short) {
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

TEST(Growth, near_max_nbytes_does_not_overflow) {
  using byre::detail::grown_capacity;
  EXPECT_EQ(grown_capacity(0, 1), 1U);
  EXPECT_EQ(grown_capacity(1000, 1001), 1500U);
  EXPECT_EQ(grown_capacity(max_nbytes - 1, max_nbytes), max_nbytes);
  EXPECT_EQ(grown_capacity(max_nbytes / 2 + 1, max_nbytes / 2 + 2),
            max_nbytes / 2 + 1 + (max_nbytes / 2 + 1) / 2);
}

TEST(ShrinkToFit, does_not_move_borrowed_or_aliased_memory) {
  std::byte foreign[1000]{};
  for (const bool is_borrowed : {true, false}) {
    Buffer value = is_borrowed ? Buffer::borrow(foreign, sizeof foreign)
                               : Buffer::adopt_aliased(foreign, sizeof foreign, [](void*) {});
    value.resize(10);
    value.shrink_to_fit();
    EXPECT_EQ(std::as_const(value).data(), foreign) << is_borrowed;
  }
}

TEST(ShrinkToFit, copies_nothing_if_nothing_can_be_released) {
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

TEST(ShrinkToFit, releases_surplus_memory_of_the_pool_and_of_pages) {
  for (Allocator* const allocator :
       {static_cast<Allocator*>(&default_pool()), static_cast<Allocator*>(&paged_allocator())}) {
    const Counted counted;
    Buffer value = counting(std::size_t{8} << 20, *allocator);
    value.resize(100);
    value.shrink_to_fit();
    expect_counting(value, 100);
    EXPECT_EQ(value.origin(), Origin::allocated);
    EXPECT_LE(counted.since().live_bytes, 128);
  }
}

/// An allocator that rounds blocks up to whole kilobytes.
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

TEST(ShrinkToFit, copies_nothing_if_the_allocator_has_no_smaller_block) {
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

TEST(ShrinkToFit, releases_even_a_single_surplus_cache_line) {
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
