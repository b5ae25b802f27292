// SPDX-License-Identifier: BSL-1.0
/// WebAssembly has one growing memory, in which nothing can be mapped, protected or given back.
/// A mapping is therefore a block of the heap. The address of the block is stored behind the bytes
/// of the mapping, because unmap() gets only the address of these bytes.
#include <byre/system/detail/files.hpp>
#include <byre/system/detail/memory.hpp>
#include <byre/system/detail/posix.hpp>
#include <byre/system/page_nbytes.hpp>

#include <emscripten/heap.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace byre::inline BYRE_ABI::system {

std::size_t actual_page_nbytes() noexcept {
  return page_nbytes;
}

/// Ignores the access, because pages cannot be protected.
AlignedMapping map_aligned(std::size_t lead, std::size_t nbytes, std::size_t alignment,
                           Access) noexcept {
  const std::size_t block_alignment = std::max(alignment, page_nbytes);
  const std::size_t front = (lead + block_alignment - 1) / block_alignment * block_alignment;
  void* block = nullptr;
  if (nbytes > std::numeric_limits<std::size_t>::max() - front - sizeof(block) ||
      ::posix_memalign(&block, block_alignment, front + nbytes + sizeof(block)) != 0) {
    return {};
  }
  std::byte* const data = static_cast<std::byte*>(block) + front;
  std::memset(data - lead, 0, lead + nbytes);
  std::memcpy(data + nbytes, &block, sizeof(block));
  return {data - lead, lead + nbytes, data};
}

bool unmap(void* begin, std::size_t nbytes) noexcept {
  void* block = nullptr;
  std::memcpy(&block, static_cast<std::byte*>(begin) + nbytes, sizeof(block));
  std::free(block);
  return true;
}

bool protect(void*, std::size_t, Access) noexcept {
  return false;
}

bool discard(void*, std::size_t) noexcept {
  return false;
}

void unlock(void*, std::size_t) noexcept {}

/// Reads the file. Refuses a mapping for writes: a file that other code has modified since it was
/// read would give the writer other bytes than the mapping that the writer shared until then.
std::byte* map_privately(const Descriptor& file, std::size_t nbytes, Access access) noexcept {
  if (access == Access::read_write) {
    errno = ENOTSUP;
    return nullptr;
  }
  const AlignedMapping mapping = map_aligned(0, nbytes, page_nbytes, access);
  if (mapping.begin == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  std::size_t done = 0;
  std::ptrdiff_t got = 1;
  while (got > 0 && done < nbytes) {
    got = read_at(file, mapping.data + done, nbytes - done, done);
    done += got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  if (got >= 0) {
    return mapping.data;  // if the file became shorter, zeros follow its bytes
  }
  const int error = errno;
  unmap(mapping.data, nbytes);
  errno = error;
  return nullptr;
}

std::uint64_t physical_nbytes() noexcept {
  return ::emscripten_get_heap_max();
}

}  // namespace byre::inline BYRE_ABI::system
