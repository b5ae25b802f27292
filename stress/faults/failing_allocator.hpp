// SPDX-License-Identifier: BSL-1.0
/// FailingAllocator: fails when the calling thread's Injector says so, or when a budget is spent.
#pragma once

#include <byre/memory/allocator.hpp>

#include <boost/atomic/atomic.hpp>
#include <cstddef>

namespace byre::stress {

/// Thread-safe.
class FailingAllocator final : public Allocator {
 public:
  /// `budget_nbytes` may be live; 0: no limit.
  FailingAllocator(Allocator& behind, std::size_t budget_nbytes) noexcept
      : behind_(behind), budget_nbytes_(budget_nbytes) {}

  Block allocate(const Request& request) override;
  Block allocate_copy(const Request& request, const void* source, std::size_t nbytes) override;
  void deallocate(const Block& block) noexcept override;
  /// May fail half-way.
  void copy(void* destination, const void* source, std::size_t nbytes) override;
  const char* name() const noexcept override { return behind_.name(); }

 private:
  void fail_if_due(const Request& request);
  const Block& count(const Block& block) noexcept;

  Allocator& behind_;
  const std::size_t budget_nbytes_;
  boost::atomic<std::size_t> live_nbytes_{0};
};

}  // namespace byre::stress
