// SPDX-License-Identifier: BSL-1.0
/// Memory from a std::pmr::memory_resource.
#pragma once

#include <byre/memory/allocator.hpp>

#include <memory_resource>

namespace byre::inline v0 {

/// The resource must be thread-safe (new_delete_resource, synchronized_pool_resource) unless every
/// buffer from it stays on one thread, and must outlive them all.
class PmrAllocator final : public Allocator {
 public:
  explicit PmrAllocator(std::pmr::memory_resource& resource) noexcept : resource_(&resource) {}

  Block allocate(const Request& request) override;
  void deallocate(const Block& block) noexcept override;
  const char* name() const noexcept override { return "pmr allocator"; }

 private:
  std::pmr::memory_resource* resource_;
};

}  // namespace byre::inline v0
