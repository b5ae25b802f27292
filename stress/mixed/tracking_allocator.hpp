// SPDX-License-Identifier: BSL-1.0
/// An allocator that keeps books of what another gives out: every block has to come back once, and
/// as it went.
#pragma once

#include <byre/memory/allocator.hpp>

#include <array>
#include <boost/thread/lock_guard.hpp>
#include <boost/thread/mutex.hpp>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "../failures.hpp"

namespace byre::stress {

/// Thread-safe; threads seldom meet, since blocks are booked by address.
class Accounts final : public Allocator {
 public:
  Accounts(Allocator& behind, Failures& failures) noexcept : behind_(behind), failures_(failures) {}

  Block allocate(const Request& request) override;
  Block allocate_copy(const Request& request, const void* source, std::size_t nbytes) override;
  /// A block that is not out is a failure, and is not passed on.
  void deallocate(const Block& block) noexcept override;
  const char* name() const noexcept override { return behind_.name(); }

  /// Exact while nobody allocates.
  std::uint64_t blocks_given() const;
  std::size_t blocks_out() const;

  /// A failure for what is still out.
  void check_that_all_came_back();

 private:
  struct Part {
    mutable boost::mutex mutex;
    std::unordered_map<const void*, Block> out;
    std::uint64_t given = 0;
  };

  Part& part_of(const void* data) noexcept;
  Block note(const Block& block);
  template <class Number>
  auto sum(Number number_of) const;

  Allocator& behind_;
  Failures& failures_;
  std::array<Part, 64> parts_;
};

}  // namespace byre::stress
