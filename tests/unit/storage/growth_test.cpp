// SPDX-License-Identifier: BSL-1.0
// Buffers that grow byte by byte, and give back what they no longer need.
#include <byre/memory/host_allocators.hpp>
#include <byre/memory/pages.hpp>
#include <byre/memory/pool.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/detail/buffer_impl.hpp>
#include <byre/storage/storage.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "support/complaint.hpp"
#include "support/counted.hpp"
#include "support/failing_allocator.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace {

constexpr std::size_t huge = std::size_t{64} << 20;

/// Bytes 0, 1, 2, ...
template <class Value>
Value counting(std::size_t nbytes, Allocator& allocator = default_allocator()) {
  Value value = Value::allocate(nbytes, allocator);
  std::byte* const bytes = value.mutable_data();
  for (std::size_t at = 0; at < nbytes; ++at) {
    bytes[at] = static_cast<std::byte>(at);
  }
  return value;
}

template <class Value>
void expect_counting(const Value& value, std::size_t nbytes) {
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

TEST(Growth, is_counted_as_a_copy_of_the_bytes_there_were) {
  Buffer buffer = counting<Buffer>(1000);
  const Counted counted;
  buffer.resize(5000);
  EXPECT_EQ(counted.since().bytes_copied, BYRE_STATS ? 1000 : 0);
}

TEST(Growth, without_memory_to_spare_is_to_the_size_alone) {
  FailingAllocator allocator;
  Buffer buffer = counting<Buffer>(1000, allocator);
  allocator.fail_allocation(0);
  buffer.resize(1001);
  EXPECT_EQ(buffer.capacity(), 1001U);
  EXPECT_EQ(buffer.nbytes(), 1001U);
  buffer.resize(1000);
  expect_counting(buffer, 1000);
  EXPECT_EQ(allocator.blocks_out(), 1U);
}

TEST(Growth, whose_copy_fails_changes_nothing) {
  FailingAllocator allocator;
  Buffer buffer = counting<Buffer>(1000, allocator);
  allocator.fail_copy(0);
  EXPECT_THROW(buffer.resize(1001), FailingAllocator::CopyFailed);
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

TEST(Growth, of_foreign_memory_moves_it_into_memory_that_grows) {
  std::array<std::byte, 100> lent{};
  Buffer buffer = Buffer::borrow(lent.data(), lent.size(), aligned_allocator());
  buffer.resize(101);
  EXPECT_EQ(buffer.capacity(), 150U);
  EXPECT_EQ(buffer.origin(), Origin::allocated);
}

template <class Value>
class ShrinkToFit : public testing::Test {};
using BothValues = testing::Types<Buffer, Storage>;
TYPED_TEST_SUITE(ShrinkToFit, BothValues);

TYPED_TEST(ShrinkToFit, gives_back_what_a_smaller_size_kept) {
  const Counted counted;
  TypeParam value = TypeParam::allocate(huge);
  std::memset(value.mutable_data(), 7, 16);
  const std::byte* const before = std::as_const(value).data();
  value.resize(16);
  EXPECT_EQ(std::as_const(value).data(), before);
  if (BYRE_STATS) {
    EXPECT_GE(counted.since().live_bytes, static_cast<std::int64_t>(huge));
  }
  value.shrink_to_fit();
  EXPECT_EQ(value.nbytes(), 16U);
  EXPECT_EQ(std::as_const(value).data()[15], std::byte{7});
  EXPECT_LE(counted.since().live_bytes, 64);
  if (BYRE_STATS) {
    EXPECT_EQ(counted.since().bytes_copied, 16);
  }
}

TYPED_TEST(ShrinkToFit, of_what_fits_copies_nothing) {
  const Counted counted;
  for (const std::size_t nbytes : {0U, 1U, 64U, 1000U, 5000U, 70'000U}) {
    TypeParam value = TypeParam::allocate(nbytes);
    const std::byte* const before = std::as_const(value).data();
    value.shrink_to_fit();
    EXPECT_EQ(std::as_const(value).data(), before) << nbytes;
  }
  TypeParam().shrink_to_fit();
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

TYPED_TEST(ShrinkToFit, without_a_smaller_block_copies_nothing) {
  RoundingAllocator allocator;
  TypeParam value = counting<TypeParam>(1500, allocator);
  const std::byte* const before = std::as_const(value).data();
  value.shrink_to_fit();
  EXPECT_EQ(allocator.copies, 0);
  EXPECT_EQ(std::as_const(value).data(), before);
  value.resize(1000);
  value.shrink_to_fit();
  EXPECT_EQ(allocator.copies, 1);
  expect_counting(value, 1000);
}

TYPED_TEST(ShrinkToFit, gives_back_as_little_as_a_line) {
  for (const std::size_t spare_nbytes : {data_alignment - 1, data_alignment}) {
    TypeParam value = counting<TypeParam>(1000 + spare_nbytes, aligned_allocator());
    const std::byte* const before = std::as_const(value).data();
    value.resize(1000);
    value.shrink_to_fit();
    EXPECT_EQ(std::as_const(value).data() == before, spare_nbytes < data_alignment);
    expect_counting(value, 1000);
  }
}

TYPED_TEST(ShrinkToFit, of_shared_data_is_refused_and_changes_nothing) {
  TypeParam value = counting<TypeParam>(1000);
  value.resize(100);
  const TypeParam clone = value.lazy_clone();
  EXPECT_TRUE(says(complaint_of<NotUnique>([&] { value.shrink_to_fit(); }),
                   "shrink_to_fit to 100 bytes", "materialize()"));
  EXPECT_TRUE(value.shares_data_with(clone));
  expect_counting(value, 100);
}

TYPED_TEST(ShrinkToFit, that_finds_no_memory_changes_nothing) {
  FailingAllocator allocator;
  TypeParam value = counting<TypeParam>(1000, allocator);
  value.resize(100);
  const std::byte* const before = std::as_const(value).data();
  allocator.fail_allocation(0);
  EXPECT_THROW(value.shrink_to_fit(), OutOfMemory);
  allocator.fail_copy(0);
  EXPECT_THROW(value.shrink_to_fit(), FailingAllocator::CopyFailed);
  EXPECT_EQ(std::as_const(value).data(), before);
  expect_counting(value, 100);
  EXPECT_EQ(allocator.blocks_out(), 1U);
}

TYPED_TEST(ShrinkToFit, releases_adopted_memory) {
  std::array<std::byte, 1000> theirs{};
  int released = 0;
  TypeParam value =
      TypeParam(Buffer::adopt(theirs.data(), theirs.size(), [&released](void*) { ++released; }));
  value.resize(10);
  value.shrink_to_fit();
  EXPECT_EQ(released, 1);
  EXPECT_EQ(value.origin(), Origin::allocated);
  EXPECT_EQ(value.nbytes(), 10U);
}

TYPED_TEST(ShrinkToFit, leaves_memory_that_others_use_where_it_is) {
  std::array<std::byte, 1000> theirs{};
  TypeParam borrowed = TypeParam(Buffer::borrow(theirs.data(), theirs.size()));
  TypeParam aliased = TypeParam(Buffer::adopt_aliased(theirs.data(), theirs.size(), [](void*) {}));
  for (TypeParam* const value : {&borrowed, &aliased}) {
    value->resize(10);
    value->shrink_to_fit();
    EXPECT_EQ(std::as_const(*value).data(), theirs.data());
  }
  const TemporaryFolder folder;
  write_file(folder / "file", std::string(1000, 'f'));
  TypeParam mapped = TypeParam::map_file(folder / "file");
  mapped.resize(10);
  mapped.shrink_to_fit();
  EXPECT_EQ(mapped.origin(), Origin::mapped);
}

TYPED_TEST(ShrinkToFit, of_pages_gives_back_whole_ones) {
  TypeParam value = counting<TypeParam>(4 * huge_page_nbytes, paged_allocator());
  value.resize(100);
  value.shrink_to_fit();
  expect_counting(value, 100);
  EXPECT_EQ(value.origin(), Origin::allocated);
}

TEST(ShrinkStorageToFit, while_pinned_is_refused) {
  Storage storage = counting<Storage>(1000);
  storage.resize(100);
  const Pin pin = storage.pin();
  EXPECT_TRUE(says(complaint_of<NotUnique>([&] { storage.shrink_to_fit(); }), "pinned", "Release"));
  EXPECT_EQ(std::as_const(storage).data(), pin.data());
}

TEST(ShrinkStorageToFit, is_seen_by_every_handle) {
  Storage storage = counting<Storage>(1000, aligned_allocator());
  storage.resize(100);
  const Storage alias = storage;
  storage.shrink_to_fit();
  expect_counting(alias, 100);
  EXPECT_EQ(alias.data(), std::as_const(storage).data());
}

}  // namespace
}  // namespace byre::test
