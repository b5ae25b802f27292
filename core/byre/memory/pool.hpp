// SPDX-License-Identifier: BSL-1.0
/// The recycling pool, byre's default allocator. Fresh pages cost more than the copy that fills
/// them, so the pool keeps released large blocks, up to a limit, and reuses them.
#pragma once

#include <byre/config.hpp>
#include <byre/memory/allocator.hpp>

#include <cstddef>

namespace byre::inline BYRE_ABI {

class IdleBlocks;
struct IdleBlock;
class PageSource;
BYRE_API PageSource& system_pages() noexcept;

/// An allocator of host memory that recycles large blocks.
///
/// - Blocks of at least `recycled_from` bytes are mapped from a PageSource (pages.hpp). They start
///   at a page, or from 2 MiB on at a huge page, and are recycled.
/// - Smaller blocks come from malloc. Each thread caches some blocks of up to about a page
///   (detail/thread_cache.hpp), which do not count toward the limit.
///
/// A released large block is idle until one of these events:
///
/// - A request for nearly its size reuses it.
/// - The idle bytes exceed the limit: the pool unmaps the least recently released blocks.
/// - trim() is called.
/// - The system refuses memory: the pool unmaps all idle blocks and repeats the request.
/// - It is unneeded: of the bytes that were idle during an entire period of ten seconds, half are
///   unmapped, and half of the rest after each further period. byre starts no thread for this:
///   later requests and releases unmap one block each. Without them, blocks stay idle until trim().
///
/// The system may reclaim the memory of idle huge pages when it runs short of memory.
///
/// Thread-safe. Cost: a request for a large block holds one mutex for a lookup in a tree, and never
/// during a system call. allocate() and allocate_copy() throw OutOfMemory.
class BYRE_API RecyclingPool final : public Allocator {
 public:
  static constexpr std::size_t recycled_from = std::size_t{64} << 10;

  /// An eighth of usable_memory_nbytes(), at most 4 GiB.
  static std::size_t default_limit_nbytes() noexcept;

  explicit RecyclingPool(std::size_t limit_nbytes = default_limit_nbytes(),
                         PageSource& pages = system_pages()) noexcept;

  /// Unmaps all idle blocks. Requires that all buffers from the pool were destroyed: the program
  /// ends if blocks of at least `recycled_from` bytes are still in use.
  ~RecyclingPool() override;

  RecyclingPool(const RecyclingPool&) = delete;
  RecyclingPool& operator=(const RecyclingPool&) = delete;

  Block allocate(const Request& request) override;
  Block allocate_copy(const Request& request, const void* source, std::size_t nbytes) override;
  void deallocate(const Block& block) noexcept override;
  std::size_t nbytes_taken_by(const Block& block) const noexcept override;
  const char* name() const noexcept override { return "recycling pool"; }

  /// The maximum number of idle bytes.
  std::size_t limit_nbytes() const noexcept;
  /// The current number of idle bytes.
  std::size_t idle_nbytes() const noexcept;

  /// Changes the limit, and calls trim(limit_nbytes). If the limit is 0, no block is recycled.
  void set_limit_nbytes(std::size_t limit_nbytes) noexcept;

  /// Unmaps idle blocks, least recently released first, until at most `keep_nbytes` are idle. If
  /// `keep_nbytes` is 0, also empties the calling thread's cache of small blocks.
  void trim(std::size_t keep_nbytes = 0) noexcept;

 private:
  struct Found {
    Block block;
    bool fresh;
  };
  Block take_small(const Request& request);
  Found find(std::size_t nbytes);
  Block map(std::size_t nbytes, std::size_t capacity);
  void give_back(IdleBlock* idle) noexcept;

  IdleBlocks& idle() const noexcept;

  PageSource* pages_;
  // An IdleBlocks, stored in place so that the first use of a pool needs no heap. The type is
  // incomplete here because its header includes long headers.
  alignas(std::max_align_t) mutable std::byte idle_[768];
};

/// The default allocator as a pool, to change its limit or to trim it. Never destroyed.
/// Thread-safe.
BYRE_API RecyclingPool& default_pool() noexcept;

}  // namespace byre::inline BYRE_ABI
