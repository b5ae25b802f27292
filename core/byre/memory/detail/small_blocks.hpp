// SPDX-License-Identifier: BSL-1.0
/// Small blocks that a thread keeps for itself. A write to a small shared buffer takes a block and
/// releases one, and what malloc costs for the two is more than the copy.
#pragma once

#include <byre/memory/allocator.hpp>
#include <byre/memory/detail/poison.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace byre::inline v0::detail {

/// The idle small blocks of one thread, in lists by size, a whole number of lines. Used by its
/// thread only: a block is kept by whichever thread releases it.
class SmallBlocks {
 public:
  static constexpr std::size_t line_nbytes = data_alignment;
  /// A page of data, with the longest header that is likely.
  static constexpr std::size_t most_lines = 68;
  /// The most bytes a kept block has, prefix included.
  static constexpr std::size_t most_nbytes = most_lines * line_nbytes;
  /// Idle blocks of one size that a thread keeps at most, and at most this many bytes of them.
  static constexpr std::size_t most_of_a_size = 64;
  static constexpr std::size_t most_nbytes_of_a_size = std::size_t{32} << 10;

  SmallBlocks() noexcept = default;
  SmallBlocks(const SmallBlocks&) = delete;
  SmallBlocks& operator=(const SmallBlocks&) = delete;
  ~SmallBlocks() { clear(); }

  /// Bytes of a block for `request`, at most most_nbytes: whole lines, at least one, which an idle
  /// block notes itself in.
  static constexpr std::size_t nbytes_for(const Request& request) noexcept {
    const std::size_t nbytes = request.prefix + request.nbytes;
    return nbytes == 0 ? line_nbytes : (nbytes + line_nbytes - 1) / line_nbytes * line_nbytes;
  }

  /// A block for `request`, at most most_nbytes, or one without data if none is idle.
  Block take(const Request& request) noexcept {
    const std::size_t nbytes = nbytes_for(request);
    Idle*& list = idle_[nbytes / line_nbytes - 1];
    Idle* const idle = list;
    if (idle == nullptr) [[unlikely]] {
      return {nullptr, 0, nullptr};
    }
    list = idle->next;
    return {reinterpret_cast<std::byte*>(idle) + request.prefix, nbytes - request.prefix,
            idle->base};
  }

  /// False if the block that ends at `end` is too large to be kept, or enough are.
  bool keep(void* base, const void* end) noexcept {
    std::byte* const first = first_line(base);
    return keep(base, first, static_cast<std::size_t>(static_cast<const std::byte*>(end) - first));
  }
  /// The same of a block whose first line is known, and maybe its size when this is compiled.
  bool keep(void* base, std::byte* first, std::size_t nbytes) noexcept {
    if (nbytes > most_nbytes) {
      return false;
    }
    Idle*& list = idle_[nbytes / line_nbytes - 1];
    const std::size_t count = list == nullptr ? 0 : list->count;
    if (count == most_of_a_size || (count + 1) * nbytes > most_nbytes_of_a_size) [[unlikely]] {
      return false;
    }
    list = ::new (first) Idle{list, base, count + 1};
    return true;
  }

  /// Gives all back.
  void clear() noexcept;

 private:
  struct Idle {
    Idle* next;
    void* base;
    std::size_t count;  // of the list from here on
  };

  static std::byte* first_line(void* base) noexcept {
    return static_cast<std::byte*>(base) + -reinterpret_cast<std::uintptr_t>(base) % line_nbytes;
  }

  std::array<Idle*, most_lines> idle_{};
};

/// Those of the calling thread: null before it first releases a small block, and once it is ending.
#if defined(__GNUC__)
[[gnu::tls_model("initial-exec")]]
#endif
extern constinit thread_local SmallBlocks* this_threads_blocks;

/// A block for `request` of those the calling thread keeps, or one without data.
inline Block take_small_block(const Request& request) noexcept {
  if (request.nbytes <= SmallBlocks::most_nbytes - request.prefix && this_threads_blocks != nullptr)
      [[likely]] {
    return this_threads_blocks->take(request);
  }
  return {nullptr, 0, nullptr};
}

/// Makes them, if this thread may have any and there is memory.
[[gnu::cold]] SmallBlocks* make_this_threads_blocks() noexcept;

/// The same, of a thread that may not have released one yet: null if it may not have any, or there is
/// no memory.
inline SmallBlocks* blocks_to_keep_in() noexcept {
  SmallBlocks* const blocks = this_threads_blocks;
  return blocks != nullptr ? blocks : make_this_threads_blocks();
}

/// True iff the calling thread keeps the block that ends at `end` now.
inline bool keep_small_block(void* base, const void* end) noexcept {
  SmallBlocks* const blocks = blocks_to_keep_in();
  return blocks != nullptr && blocks->keep(base, end);
}

}  // namespace byre::inline v0::detail
