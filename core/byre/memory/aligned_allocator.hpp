// SPDX-License-Identifier: BSL-1.0
/// The plain allocator: malloc and free, aligned by hand, since posix_memalign costs several times
/// as much for small blocks.
#pragma once

#include <byre/memory/allocator.hpp>

namespace byre::inline v0 {

class AlignedAllocator final : public Allocator {
 public:
  Block allocate(const Request& request) override;
  void deallocate(const Block& block) noexcept override;
  const char* name() const noexcept override { return "aligned allocator"; }
};

/// The one of the process: it has no state. Never destroyed.
AlignedAllocator& aligned_allocator() noexcept;

}  // namespace byre::inline v0
