// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/memory/aligned_allocator.hpp>
#include <byre/memory/allocator.hpp>
#include <byre/memory/pmr_allocator.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace byre::inline v0 {
namespace {

std::byte* align_up(std::byte* address, std::size_t alignment) noexcept {
  const auto misalignment = reinterpret_cast<std::uintptr_t>(address) % alignment;
  return misalignment == 0 ? address : address + (alignment - misalignment);
}

}  // namespace

void Allocator::copy(void* destination, const void* source, std::size_t nbytes) {
  if (nbytes != 0) {
    std::memcpy(destination, source, nbytes);
  }
}

Block Allocator::allocate_copy(const Request& request, const void* source, std::size_t nbytes) {
  const Block block = allocate(request);
  try {
    copy(block.data, source, nbytes);
  } catch (...) {
    deallocate(block);
    throw;
  }
  return block;
}

Block AlignedAllocator::take(const Request& request) {
  // malloc aligns to max_align_t, so at most the rest of a line is lost to alignment.
  constexpr std::size_t slack = data_alignment - alignof(std::max_align_t);
  void* base = std::malloc(request.prefix + request.nbytes + slack);
  if (base == nullptr) {
    throw OutOfMemory(request.nbytes, "aligned allocator");
  }
  std::byte* data = align_up(static_cast<std::byte*>(base) + request.prefix, data_alignment);
  return {data, request.nbytes, base};
}

void AlignedAllocator::give_back(const Block& block) noexcept {
  std::free(block.base);
}

AlignedAllocator& aligned_allocator() noexcept {
  static AlignedAllocator& allocator = *new AlignedAllocator;
  return allocator;
}

Block PmrAllocator::allocate(const Request& request) {
  void* base = resource_->allocate(request.prefix + request.nbytes, data_alignment);
  return {static_cast<std::byte*>(base) + request.prefix, request.nbytes, base};
}

void PmrAllocator::deallocate(const Block& block) noexcept {
  const std::byte* end = static_cast<std::byte*>(block.data) + block.capacity;
  const auto nbytes = static_cast<std::size_t>(end - static_cast<std::byte*>(block.base));
  resource_->deallocate(block.base, nbytes, data_alignment);
}

}  // namespace byre::inline v0
