// SPDX-License-Identifier: BSL-1.0
/// The plain allocator: malloc and free, aligned by hand, since posix_memalign costs several times
/// as much for small blocks.
#pragma once

#include <byre/memory/allocator.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace byre::inline v0 {

class AlignedAllocator final : public Allocator {
 public:
  Block allocate(const Request& request) override;
  void deallocate(const Block& block) noexcept override { give_back(block); }
  const char* name() const noexcept override { return "aligned allocator"; }

  /// allocate, without an object, which would have no state, and with null data where it would
  /// throw.
  static Block try_take(const Request& request) noexcept {
    // malloc aligns to max_align_t, so at most the rest of a line is lost to alignment.
    constexpr std::size_t slack = data_alignment - alignof(std::max_align_t);
    void* base = std::malloc(request.prefix + request.nbytes + slack);
    if (base == nullptr) [[unlikely]] {
      return {nullptr, 0, nullptr};
    }
    std::byte* data = static_cast<std::byte*>(base) + request.prefix;
    data += -reinterpret_cast<std::uintptr_t>(data) % data_alignment;
    return {data, request.nbytes, base};
  }

  static void give_back(const Block& block) noexcept { std::free(block.base); }
};

/// The one of the process. Never destroyed.
AlignedAllocator& aligned_allocator() noexcept;

}  // namespace byre::inline v0
