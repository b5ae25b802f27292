// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/memory/allocator.hpp>
#include <byre/memory/host_allocators.hpp>
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory_resource>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nbytes.hpp"
#include "support/complaint.hpp"
#include "support/failing_allocator.hpp"
#include "support/user_allocators.hpp"

namespace byre::test {
namespace {

constexpr std::size_t usual_sizes[] = {0, 1, 63, 64, 65, 4095, 65535};
constexpr std::size_t prefixes[] = {0, 64, 1024};

/// Expects that blocks are aligned and large enough, and that blocks and prefixes do not overlap.
void expect_blocks_apart(Allocator& allocator) {
  std::vector<std::pair<Block, std::span<std::byte>>> taken;
  for (const std::size_t prefix : prefixes) {
    for (const std::size_t nbytes : usual_sizes) {
      const Block block = allocator.allocate({nbytes, prefix});
      EXPECT_EQ(address_of(block.data) % data_alignment, 0U) << prefix << " + " << nbytes;
      EXPECT_GE(block.capacity, nbytes);
      auto* const data = static_cast<std::byte*>(block.data);
      taken.emplace_back(block, std::span(data - prefix, data + block.capacity));
      std::ranges::fill(taken.back().second, static_cast<std::byte>(taken.size()));
    }
  }
  std::size_t number = 0;
  for (const auto& [block, bytes] : taken) {
    EXPECT_EQ(std::ranges::count(bytes, static_cast<std::byte>(++number)), std::ssize(bytes));
    allocator.deallocate(block);
  }
}

TEST(AlignedAllocator, returns_aligned_blocks_that_do_not_overlap) {
  expect_blocks_apart(aligned_allocator());
}

TEST(AlignedAllocator, throws_out_of_memory_for_an_impossible_size) {
  Block first{};  // a 32-bit system may provide the first block
  const auto take_two = [&] {
    first = aligned_allocator().allocate({max_nbytes, 64});
    (void)aligned_allocator().allocate({max_nbytes, 64});
  };
  EXPECT_TRUE(
      says(complaint_of<OutOfMemory>(take_two), std::to_string(max_nbytes), "aligned allocator"));
  if (first.data != nullptr) {
    aligned_allocator().deallocate(first);
  }
}

/// A memory resource that can fail, and that expects each allocation back with its size and
/// alignment. Not thread-safe.
class WatchedResource final : public std::pmr::memory_resource {
 public:
  ~WatchedResource() override { EXPECT_TRUE(given_.empty()) << "leaked allocations"; }

  bool fails = false;

 private:
  using Given = std::pair<std::size_t, std::size_t>;  // size and alignment

  void* do_allocate(std::size_t nbytes, std::size_t alignment) override {
    EXPECT_GE(alignment, data_alignment);
    if (fails) {
      throw std::bad_alloc();
    }
    void* place = std::pmr::new_delete_resource()->allocate(nbytes, alignment);
    given_[place] = {nbytes, alignment};
    return place;
  }

  void do_deallocate(void* place, std::size_t nbytes, std::size_t alignment) override {
    EXPECT_EQ(given_[place], Given(nbytes, alignment));
    given_.erase(place);
    std::pmr::new_delete_resource()->deallocate(place, nbytes, alignment);
  }

  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  std::map<void*, Given> given_;
};

TEST(PmrAllocator, deallocates_with_the_size_and_alignment_of_the_allocation) {
  WatchedResource resource;
  PmrAllocator allocator(resource);
  expect_blocks_apart(allocator);
}

TEST(PmrAllocator, reports_an_exhausted_resource_as_out_of_memory) {
  WatchedResource resource;
  PmrAllocator allocator(resource);
  resource.fails = true;
  EXPECT_TRUE(says(complaint_of<OutOfMemory>([&] { (void)Buffer::allocate(12345, allocator); }),
                   "12345 bytes", "pmr allocator"));
}

TEST(Device, equals_a_device_of_the_same_kind_and_index) {
  static_assert(Device(2, 3) == Device(2, 3));
  static_assert(Device(2, 3) != Device(2, 4));
  static_assert(Device(2, 3) != Device(3, 3));
  static_assert(Device(2, 3).kind() == 2 && Device(2, 3).index() == 3);
  static_assert(Device::cpu() == Device(0, 0));
  static_assert(Device::cpu().is_cpu() && !Device(1, 0).is_cpu());
  EXPECT_EQ(default_allocator().device(), Device::cpu());
  EXPECT_EQ(DeviceAllocator().device(), Device(1, 0));
}

TEST(DeviceAllocator, performs_all_copies_and_gets_no_requests_for_header_space) {
  DeviceAllocator device;
  {
    // An access of the host to the device's pages would end the program.
    Buffer buffer = Buffer::allocate(5000, device);
    device.fill(buffer.mutable_data(), 1, 5000);
    Buffer clone = buffer;
    EXPECT_TRUE(clone.shares_data_with(buffer));
    EXPECT_EQ(buffer.use_count(), 2U);
    device.fill(clone.mutable_data(), 2, 5000);
    EXPECT_EQ(device.copies(), 1);
    buffer.resize(10000);
    EXPECT_EQ(device.copies(), 2);
    EXPECT_EQ(device.value_at(buffer.data() + 4999), 1);
    EXPECT_EQ(device.value_at(clone.data() + 4999), 2);
    EXPECT_EQ(device.largest_prefix(), 0U);
  }
  EXPECT_EQ(device.blocks_out(), 0U);
}

TEST(Allocator, deallocates_the_block_if_the_copy_into_it_throws) {
  FailingAllocator allocator;
  allocator.fail_copy(0);
  EXPECT_THROW((void)allocator.allocate_copy({64, 64}, "abc", 3), FailingAllocator::CopyFailed);
  EXPECT_EQ(allocator.blocks_out(), 0U);
}

TEST(Allocator, copies_the_requested_number_of_bytes) {
  const std::string source(65, 'x');
  for (const std::size_t nbytes : {std::size_t{1}, std::size_t{64}, source.size()}) {
    const Block block = aligned_allocator().allocate({nbytes, 64});
    std::memset(block.data, 0, nbytes);
    aligned_allocator().copy(block.data, source.data(), nbytes);
    EXPECT_EQ(std::memcmp(block.data, source.data(), nbytes), 0) << nbytes;
    aligned_allocator().deallocate(block);
  }
  const Block none = aligned_allocator().allocate_copy({0, 64}, nullptr, 0);
  EXPECT_NE(none.data, nullptr);
  aligned_allocator().deallocate(none);
}

}  // namespace
}  // namespace byre::test
