// SPDX-License-Identifier: BSL-1.0
/// Pages from the system: where the recycling pool's large blocks come from, and what Linux can be
/// told about them. Elsewhere the advice does nothing.
#pragma once

#include <cstddef>

namespace byre::inline v0 {

/// A multiple of every page size the platform may have been given.
#if defined(__x86_64__) || defined(__i386__)
inline constexpr std::size_t page_nbytes = std::size_t{4} << 10;
#else
inline constexpr std::size_t page_nbytes = std::size_t{64} << 10;
#endif
inline constexpr std::size_t huge_page_nbytes = std::size_t{2} << 20;

/// Whole mappings of fresh pages. Thread-safe.
class PageSource {
 public:
  virtual ~PageSource() = default;

  /// Maps `lead` + `nbytes` bytes, both multiples of page_nbytes, so that the address `lead` bytes
  /// in is a multiple of `alignment`, a power of two. Returns that address, or null if there is no
  /// room.
  virtual std::byte* map(std::size_t lead, std::size_t nbytes, std::size_t alignment) noexcept = 0;

  /// Gives back what map(lead, nbytes, alignment) returned.
  virtual void unmap(std::byte* address, std::size_t lead, std::size_t nbytes) noexcept = 0;

 protected:
  PageSource() = default;
  PageSource(const PageSource&) = default;
  PageSource& operator=(const PageSource&) = default;
};

/// The operating system's pages, of which every pool is made unless it is told otherwise. Never
/// destroyed.
PageSource& system_pages() noexcept;

/// Whether the system gives huge pages to those who ask. Looked up once.
bool grants_huge_pages() noexcept;

/// Asks for huge pages; 0 bytes ask for nothing.
void advise_huge(std::byte* address, std::size_t nbytes) noexcept;

/// Makes the pages present at once, which is cheaper than one by one at first touch.
void populate(std::byte* address, std::size_t nbytes) noexcept;

/// Lets the system take the pages when it runs short of memory; contents become indeterminate.
void advise_reclaimable(std::byte* address, std::size_t nbytes) noexcept;

/// Bytes of memory this process may use: the machine's, or its control group's if that is less.
std::size_t usable_memory_nbytes() noexcept;

}  // namespace byre::inline v0
