// SPDX-License-Identifier: BSL-1.0
/// Alternatives to the recycling pool for host memory: malloc, and a std::pmr::memory_resource.
/// Pass one to Buffer::allocate().
#pragma once

#include <byre/config.hpp>
#include <byre/memory/allocator.hpp>

#include <memory_resource>

namespace byre::inline BYRE_ABI {

/// Memory from malloc. The allocator aligns the blocks itself, because posix_memalign is several
/// times slower for small blocks. Thread-safe. allocate() throws OutOfMemory.
class BYRE_API AlignedAllocator final : public Allocator {
 public:
  Block allocate(const Request& request) override;
  void deallocate(const Block& block) noexcept override;
  std::size_t nbytes_taken_by(const Block& block) const noexcept override;
  const char* name() const noexcept override { return "aligned allocator"; }
};

/// The aligned allocator of the process. It is never destroyed. Thread-safe.
BYRE_API AlignedAllocator& aligned_allocator() noexcept;

/// Memory from a std::pmr::memory_resource. The resource must outlive all buffers from it. It must
/// be thread-safe (new_delete_resource, synchronized_pool_resource) unless all these buffers stay
/// on one thread. allocate() throws OutOfMemory if the resource throws std::bad_alloc.
class BYRE_API PmrAllocator final : public Allocator {
 public:
  explicit PmrAllocator(std::pmr::memory_resource& resource) noexcept : resource_(&resource) {}

  Block allocate(const Request& request) override;
  void deallocate(const Block& block) noexcept override;
  std::size_t nbytes_taken_by(const Block& block) const noexcept override;
  const char* name() const noexcept override { return "pmr allocator"; }

 private:
  std::pmr::memory_resource* resource_;
};

}  // namespace byre::inline BYRE_ABI
