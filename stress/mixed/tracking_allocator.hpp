// SPDX-License-Identifier: BSL-1.0
/// TrackingAllocator: checks that every block of another allocator is released once, and unchanged.
#pragma once

#include <byre/memory/allocator.hpp>

#include <array>
#include <boost/thread/lock_guard.hpp>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "../failures.hpp"

namespace byre::stress {

/// Thread-safe. Threads seldom contend: there are many locks, chosen by address.
class TrackingAllocator final : public Allocator {
 public:
  TrackingAllocator(Allocator& behind, Failures& failures) noexcept
      : behind_(behind), failures_(failures) {}

  Block allocate(const Request& request) override;
  Block allocate_copy(const Request& request, const void* source, std::size_t nbytes) override;
  /// A block that is not live is a failure, and is not released.
  void deallocate(const Block& block) noexcept override;
  const char* name() const noexcept override { return behind_.name(); }

  /// Exact while no thread allocates.
  std::uint64_t allocation_count() const;
  std::size_t live_blocks() const;

  /// A failure if blocks are live.
  void check_for_leaks();

 private:
  struct Shard {
    mutable std::mutex mutex;
    std::unordered_map<const void*, Block> live;
    std::uint64_t allocations = 0;
  };

  Shard& shard_of(const void* data) noexcept;
  Block record(const Block& block);
  template <class Number>
  auto sum(Number number_of) const;

  Allocator& behind_;
  Failures& failures_;
  std::array<Shard, 64> shards_;
};

}  // namespace byre::stress
