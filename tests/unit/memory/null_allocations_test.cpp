// SPDX-License-Identifier: BSL-1.0
/// An allocator that returns null instead of throwing ends the program at once.
#include <byre/memory/host_allocators.hpp>
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>

#include <memory_resource>
#include <string>

#include "support/emulated.hpp"

namespace byre::test {
namespace {

/// Returns null blocks if `has_memory` is false.
class NullAllocator final : public Allocator {
 public:
  explicit NullAllocator(Device device = Device::cpu()) : Allocator(device) {}
  Block allocate(const Request& request) override {
    return has_memory ? aligned_allocator().allocate(request) : Block{nullptr, 0, nullptr};
  }
  void deallocate(const Block& block) noexcept override { aligned_allocator().deallocate(block); }
  const char* name() const noexcept override { return "null allocator"; }

  bool has_memory = true;
};

class NullResource final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t, std::size_t) override { return nullptr; }
  void do_deallocate(void*, std::size_t, std::size_t) override {}
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

constexpr const char* complaint = "allocator\\.hpp:.*an allocator returned null. Throw ";

class NullAllocationsDeathTest : public testing::Test {
 protected:
  void SetUp() override { testing::FLAGS_gtest_death_test_style = death_test_style(); }
};

TEST_F(NullAllocationsDeathTest, end_the_program_at_an_allocation) {
  for (const Device device : {Device::cpu(), Device(1, 0)}) {
    NullAllocator allocator(device);
    allocator.has_memory = false;
    EXPECT_DEATH(Buffer::allocate(100, allocator), complaint);
  }
  NullAllocator on_host;
  on_host.has_memory = false;
  EXPECT_DEATH(Buffer::allocate(0, on_host), complaint);  // for the header
  NullResource resource;
  PmrAllocator allocator(resource);
  // A sanitizer may report first that memory_resource::allocate() returned null.
  EXPECT_DEATH(Buffer::allocate(100, allocator),
               std::string(complaint) + "|declared to never return null");
}

TEST_F(NullAllocationsDeathTest, end_the_program_at_a_write_that_copies) {
  for (const Device device : {Device::cpu(), Device(1, 0)}) {
    NullAllocator allocator(device);
    Buffer buffer = Buffer::allocate(100, allocator);
    const Buffer clone = buffer;
    allocator.has_memory = false;
    EXPECT_DEATH(buffer.mutable_data(), complaint);
  }
}

TEST(NullAllocations, are_accepted_for_empty_device_buffers) {
  NullAllocator allocator(Device(1, 0));
  allocator.has_memory = false;
  EXPECT_EQ(Buffer::allocate(0, allocator).nbytes(), 0U);
}

}  // namespace
}  // namespace byre::test
