// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/memory/allocator.hpp>
#include <byre/memory/detail/malloc.hpp>
#include <byre/memory/host_allocators.hpp>
#include <byre/sync/detail/no_destructor.hpp>

#include <cstring>
#include <new>

namespace byre::inline BYRE_ABI {
void Allocator::copy(void* destination, const void* source, std::size_t nbytes) {
  if (nbytes != 0) {
    std::memcpy(destination, source, nbytes);
  }
}

Block Allocator::allocate_copy(const Request& request, const void* source, std::size_t nbytes) {
  const Block block = detail::expect_memory(allocate(request), request);
  try {
    copy(block.data, source, nbytes);
  } catch (...) {
    deallocate(block);
    throw;
  }
  return block;
}

Block Allocator::submit_copy(const Request& request, const void* source, std::size_t nbytes,
                             PendingCopy&) {
  return allocate_copy(request, source, nbytes);
}

Block AlignedAllocator::allocate(const Request& request) {
  const Block block = detail::try_malloc(request);
  if (block.data == nullptr) {
    throw OutOfMemory(request.nbytes, name());
  }
  return block;
}

void AlignedAllocator::deallocate(const Block& block) noexcept {
  std::free(block.base);
}

std::size_t AlignedAllocator::nbytes_taken_by(const Block& block) const noexcept {
  return detail::nbytes_from_base(block);
}

AlignedAllocator& aligned_allocator() noexcept {
  return sync::no_destructor<AlignedAllocator>();
}

Block PmrAllocator::allocate(const Request& request) try {
  void* base = resource_->allocate(request.prefix + request.nbytes, data_alignment);
  detail::expect_memory({base, 0, base}, request);
  return {static_cast<std::byte*>(base) + request.prefix, request.nbytes, base};
} catch (const std::bad_alloc&) {
  throw OutOfMemory(request.nbytes, name());
}

void PmrAllocator::deallocate(const Block& block) noexcept {
  resource_->deallocate(block.base, nbytes_taken_by(block), data_alignment);
}

std::size_t PmrAllocator::nbytes_taken_by(const Block& block) const noexcept {
  return detail::nbytes_from_base(block);
}

}  // namespace byre::inline BYRE_ABI
