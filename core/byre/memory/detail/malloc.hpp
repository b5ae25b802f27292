// SPDX-License-Identifier: BSL-1.0
/// Aligned blocks from malloc. Release them with std::free(block.base).
#pragma once

#include <byre/memory/allocator.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace byre::inline BYRE_ABI::detail {

/// Returns a block for `request`, or a block with null data if malloc fails.
inline Block try_malloc(const Request& request) noexcept {
  // malloc aligns to max_align_t, so the alignment costs at most the rest of a cache line.
  constexpr std::size_t slack = data_alignment - alignof(std::max_align_t);
  void* base = std::malloc(request.prefix + request.nbytes + slack);
  if (base == nullptr) [[unlikely]] {
    return {nullptr, 0, nullptr};
  }
  std::byte* data = static_cast<std::byte*>(base) + request.prefix;
  data += -reinterpret_cast<std::uintptr_t>(data) % data_alignment;
  return {data, request.nbytes, base};
}

/// The bytes from `base` to the end of a block.
inline std::size_t nbytes_from_base(const Block& block) noexcept {
  const std::byte* const end = static_cast<std::byte*>(block.data) + block.capacity;
  return static_cast<std::size_t>(end - static_cast<std::byte*>(block.base));
}

}  // namespace byre::inline BYRE_ABI::detail
