// SPDX-License-Identifier: BSL-1.0
/// Pages from the system: where the recycling pool's large blocks come from.
#pragma once

#include <byre/config.hpp>
#include <byre/system/page_nbytes.hpp>

#include <cstddef>
#include <cstdint>

namespace byre::inline v0 {

/// Whole mappings of fresh pages. Thread-safe.
class BYRE_API PageSource {
 public:
  virtual ~PageSource() = default;

  /// Maps `lead` + `nbytes` bytes, both multiples of page_nbytes, so that the address `lead` bytes
  /// in is a multiple of `alignment`, a power of two. Returns that address, or null if there is no
  /// room.
  virtual std::byte* map(std::size_t lead, std::size_t nbytes, std::size_t alignment) noexcept = 0;

  /// Gives back what map(lead, nbytes, alignment) returned.
  virtual void unmap(std::byte* address, std::size_t lead, std::size_t nbytes) noexcept = 0;

  /// Seconds on a clock that only goes on: of what a pool has not used for long it gives half back.
  virtual std::uint64_t seconds() noexcept;

 protected:
  PageSource() = default;
  PageSource(const PageSource&) = default;
  PageSource& operator=(const PageSource&) = default;
};

/// The operating system's pages, of which every pool is made unless it is told otherwise. Never
/// destroyed.
BYRE_API PageSource& system_pages() noexcept;

/// Bytes of memory this process may use: the machine's, or its control group's if that is less.
BYRE_API std::size_t usable_memory_nbytes() noexcept;

}  // namespace byre::inline v0
