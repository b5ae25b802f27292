// SPDX-License-Identifier: BSL-1.0
/// Aligned blocks of malloc's, to be released with std::free(block.base).
#pragma once

#include <byre/memory/allocator.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace byre::inline v0::detail {

/// A block for `request`, with null data if there is no memory.
inline Block try_malloc(const Request& request) noexcept {
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

}  // namespace byre::inline v0::detail
