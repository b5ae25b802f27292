// SPDX-License-Identifier: BSL-1.0
#include "quarantine.hpp"
#include "support/sanitized.hpp"

#include <byre/memory/host_allocators.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

namespace byre::stress::races {
namespace {

constexpr std::byte released_byte{Quarantine::released & 0xFF};
constexpr std::size_t header_nbytes = data_alignment;

}  // namespace

/// The header in front of each block.
struct Quarantine::Header {
  Block block;         // as allocated, including this header
  std::byte* first;    // the start of the prefix, in front of the data
  std::size_t nbytes;  // of prefix and data
  Header* next;        // the block released before this one
  std::atomic<bool> is_released;

  bool is_untouched() const noexcept {
    return std::all_of(first, first + nbytes,
                       [](std::byte value) { return value == released_byte; });
  }
};

Quarantine::~Quarantine() {
  end_round();
}

Block Quarantine::allocate(const Request& request) {
  static_assert(sizeof(Header) <= header_nbytes);
  const Block block =
      aligned_allocator().allocate({request.nbytes, request.prefix + header_nbytes});
  std::byte* const data = static_cast<std::byte*>(block.data);
  std::byte* const first = data - request.prefix;
  Header* const header = ::new (first - header_nbytes)
      Header{block, first, request.prefix + request.nbytes, nullptr, {}};
  header->is_released.store(false, std::memory_order_relaxed);
  // Relaxed: the count is read between rounds.
  live_blocks_.fetch_add(1, std::memory_order_relaxed);
  return {data, request.nbytes, header};
}

void Quarantine::deallocate(const Block& block) noexcept {
  Header* const header = static_cast<Header*>(block.base);
  // Relaxed, here and below: released blocks are checked between rounds.
  if (header->is_released.exchange(true, std::memory_order_relaxed)) {
    released_twice_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  live_blocks_.fetch_sub(1, std::memory_order_relaxed);
  if constexpr (test::is_sanitized) {
    aligned_allocator().deallocate(header->block);
    return;
  }
  std::memset(header->first, static_cast<int>(released_byte), header->nbytes);
  header->next = released_.load(std::memory_order_relaxed);
  while (!released_.compare_exchange_weak(header->next, header, std::memory_order_relaxed,
                                          std::memory_order_relaxed)) {
  }
}

void Quarantine::copy(void* destination, const void* source, std::size_t nbytes) {
  if (before_copy) {
    before_copy();
  }
  if (next_copy_fails) {
    throw CopyFailed();
  }
  Allocator::copy(destination, source, nbytes);
}

std::uint64_t Quarantine::live_blocks() const noexcept {
  // Relaxed: exact if all releases happen before the call.
  return live_blocks_.load(std::memory_order_relaxed);
}

Quarantine::Findings Quarantine::end_round() noexcept {
  // Both exchanges are relaxed: the whole round happens before this call.
  Findings findings{0, released_twice_.exchange(0, std::memory_order_relaxed)};
  Header* header = released_.exchange(nullptr, std::memory_order_relaxed);
  while (header != nullptr) {
    if (!header->is_untouched()) {
      ++findings.used_after_release;
    }
    const Block block = header->block;
    header = header->next;
    aligned_allocator().deallocate(block);
  }
  return findings;
}

}  // namespace byre::stress::races
