// SPDX-License-Identifier: BSL-1.0
/// The plain allocator: malloc and free, aligned by hand, since posix_memalign costs several times
/// as much for small blocks.
#pragma once

#include <byre/memory/allocator.hpp>

namespace byre::inline v0 {

class AlignedAllocator final : public Allocator {
 public:
  Block allocate(const Request& request) override { return take(request); }
  void deallocate(const Block& block) noexcept override { give_back(block); }
  const char* name() const noexcept override { return "aligned allocator"; }

  /// The same without an object: it has no state.
  static Block take(const Request& request);
  static void give_back(const Block& block) noexcept;
};

/// The one of the process. Never destroyed.
AlignedAllocator& aligned_allocator() noexcept;

}  // namespace byre::inline v0
