// SPDX-License-Identifier: BSL-1.0
/// Systems without memory files: data of paged_allocator() is ordinary memory.
#include <byre/memory/detail/mappings.hpp>
#include <byre/pages/detail/page_file.hpp>

namespace byre::inline BYRE_ABI::detail {

std::unique_ptr<PageFile> create_memory_file(std::size_t, Present) {
  return nullptr;
}

/// Only forks of processes with memory files lose pages.
bool is_lost(const void*) noexcept {
  return false;
}

}  // namespace byre::inline BYRE_ABI::detail
