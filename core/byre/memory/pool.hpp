// SPDX-License-Identifier: BSL-1.0
/// The recycling pool: the default allocator. Fresh pages cost more than the copy that fills them,
/// so large blocks are kept when released and handed out again, up to a limit.
#pragma once

#include <byre/config.hpp>
#include <byre/memory/allocator.hpp>

#include <cstddef>

namespace byre::inline v0 {

class IdleBlocks;
struct IdleBlock;
class PageSource;
BYRE_API PageSource& system_pages() noexcept;

/// Blocks of `recycled_from` bytes and more are mapped from a PageSource (pages.hpp), start on a page of their
/// own (on a huge page from 2 MiB), and are recycled; smaller ones are malloc's, of which
/// every thread caches some of up to a page (detail/thread_cache.hpp), outside the limit.
///
/// A released block waits in the pool until a request of nearly its size takes it, the limit pushes
/// it out (least recently released first), trim() is called, or the system refuses memory:
/// then everything idle is given back and the request is tried again. Idle huge pages are marked as
/// the system's to take when it runs short.
///
/// Of the bytes that were idle for all of ten seconds, half are given back, and of what is left half
/// again after the next ten: by later requests and releases, a block each, as byre has no thread of its
/// own. A program that makes none keeps them until trim().
///
/// Thread-safe. A request holds one mutex for the time of a look-up, never while the system works.
class BYRE_API RecyclingPool final : public Allocator {
 public:
  static constexpr std::size_t recycled_from = std::size_t{64} << 10;

  /// An eighth of the memory this process may use, at most 4 GiB.
  static std::size_t default_limit_nbytes() noexcept;

  explicit RecyclingPool(std::size_t limit_nbytes = default_limit_nbytes(),
                         PageSource& pages = system_pages()) noexcept;

  /// Gives every idle block back. A pool outlives the buffers that came from it: the program ends
  /// if blocks of `recycled_from` bytes or more are still out.
  ~RecyclingPool() override;

  RecyclingPool(const RecyclingPool&) = delete;
  RecyclingPool& operator=(const RecyclingPool&) = delete;

  Block allocate(const Request& request) override;
  Block allocate_copy(const Request& request, const void* source, std::size_t nbytes) override;
  void deallocate(const Block& block) noexcept override;
  const char* name() const noexcept override { return "recycling pool"; }

  /// Bytes that idle blocks may hold, and hold now.
  std::size_t limit_nbytes() const noexcept;
  std::size_t idle_nbytes() const noexcept;

  /// Changes the limit; what exceeds it is given back at once. 0: recycle nothing.
  void set_limit_nbytes(std::size_t limit_nbytes) noexcept;

  /// Gives idle blocks back, least recently released first, until at most `keep_nbytes` are idle.
  /// To keep nothing empties the calling thread's cache of small blocks too.
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
  // The idle blocks and their lock, in place, so that the first use of a pool needs no heap; their type
  // is Boost's, and its headers are long.
  alignas(std::max_align_t) mutable std::byte idle_[256];
};

/// The default allocator, as the pool it is: to change its limit or to trim it. Never destroyed.
BYRE_API RecyclingPool& default_pool() noexcept;

}  // namespace byre::inline v0
