// SPDX-License-Identifier: BSL-1.0
/// Sources of fresh pages. The recycling pool takes its large blocks from a PageSource; a test or
/// an embedding program may supply its own.
#pragma once

#include <byre/config.hpp>
#include <byre/system/page_nbytes.hpp>

#include <cstddef>
#include <cstdint>

namespace byre::inline BYRE_ABI {

/// Maps and unmaps fresh pages. Implementations must be thread-safe.
class BYRE_API PageSource {
 public:
  virtual ~PageSource() = default;

  /// Maps `lead` + `nbytes` bytes. Returns the address after the first `lead` bytes, aligned to
  /// `alignment`, or null if the system refuses. Requires `lead` and `nbytes` to be multiples of
  /// page_nbytes, and `alignment` to be a power of two.
  virtual std::byte* map(std::size_t lead, std::size_t nbytes, std::size_t alignment) noexcept = 0;

  /// Unmaps the pages at `address`, which map(lead, nbytes, alignment) returned.
  virtual void unmap(std::byte* address, std::size_t lead, std::size_t nbytes) noexcept = 0;

  /// The seconds of a monotonic clock. A pool uses them to measure how long blocks are
  /// idle.
  virtual std::uint64_t seconds() noexcept;

 protected:
  PageSource() = default;
  PageSource(const PageSource&) = default;
  PageSource& operator=(const PageSource&) = default;
};

/// The operating system's pages, the default source of a RecyclingPool. Never destroyed.
/// Thread-safe.
BYRE_API PageSource& system_pages() noexcept;

/// The bytes of memory that this process may use: the minimum of the machine's memory and the
/// limits of the process's control groups. Cost: reads several system files. Thread-safe.
BYRE_API std::size_t usable_memory_nbytes() noexcept;

}  // namespace byre::inline BYRE_ABI
