// SPDX-License-Identifier: BSL-1.0
/// Allocators of host memory beside the recycling pool: malloc, and std::pmr::memory_resource.
#pragma once

#include <byre/config.hpp>
#include <byre/memory/allocator.hpp>

#include <memory_resource>

namespace byre::inline v0 {

/// malloc and free, aligned by hand, since posix_memalign costs several times as much for small blocks.
class BYRE_API AlignedAllocator final : public Allocator {
 public:
  Block allocate(const Request& request) override;
  void deallocate(const Block& block) noexcept override;
  const char* name() const noexcept override { return "aligned allocator"; }
};

/// The one of the process. Never destroyed.
BYRE_API AlignedAllocator& aligned_allocator() noexcept;

/// Memory from a std::pmr::memory_resource. The resource must be thread-safe (new_delete_resource, synchronized_pool_resource) unless every
/// buffer from it stays on one thread, and must outlive them all.
class BYRE_API PmrAllocator final : public Allocator {
 public:
  explicit PmrAllocator(std::pmr::memory_resource& resource) noexcept : resource_(&resource) {}

  Block allocate(const Request& request) override;
  void deallocate(const Block& block) noexcept override;
  const char* name() const noexcept override { return "pmr allocator"; }

 private:
  std::pmr::memory_resource* resource_;
};

}  // namespace byre::inline v0
