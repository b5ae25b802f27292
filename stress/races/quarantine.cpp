// SPDX-License-Identifier: BSL-1.0
#include "quarantine.hpp"

#include <byre/memory/host_allocators.hpp>

#include <algorithm>
#include <cstring>
#include <new>

#include "sanitized.hpp"

namespace byre::stress::races {
namespace {

constexpr std::byte released_byte{Quarantine::released & 0xFF};
constexpr std::size_t note_nbytes = data_alignment;

}  // namespace

/// In front of each block.
struct Quarantine::Note {
  Block block;         // as the heap gave it, with room for this note
  std::byte* first;    // of the prefix, which the data follows
  std::size_t nbytes;  // of both
  Note* next;          // released before it
  boost::atomic<bool> is_released;

  bool is_untouched() const noexcept {
    return std::all_of(first, first + nbytes,
                       [](std::byte value) { return value == released_byte; });
  }
};

Quarantine::~Quarantine() {
  end_round();
}

Block Quarantine::allocate(const Request& request) {
  static_assert(sizeof(Note) <= note_nbytes);
  const Block block = aligned_allocator().allocate({request.nbytes, request.prefix + note_nbytes});
  std::byte* const data = static_cast<std::byte*>(block.data);
  std::byte* const first = data - request.prefix;
  Note* const note =
      ::new (first - note_nbytes) Note{block, first, request.prefix + request.nbytes, nullptr, {}};
  note->is_released.store(false, boost::memory_order_relaxed);
  // Relaxed: a count, read when nothing runs.
  blocks_out_.fetch_add(1, boost::memory_order_relaxed);
  return {data, request.nbytes, note};
}

void Quarantine::deallocate(const Block& block) noexcept {
  Note* const note = static_cast<Note*>(block.base);
  // Relaxed, here and below: what is released is looked at when nothing runs.
  if (note->is_released.exchange(true, boost::memory_order_relaxed)) {
    released_twice_.fetch_add(1, boost::memory_order_relaxed);
    return;
  }
  blocks_out_.fetch_sub(1, boost::memory_order_relaxed);
  if constexpr (is_sanitized) {
    aligned_allocator().deallocate(note->block);
    return;
  }
  std::memset(note->first, static_cast<int>(released_byte), note->nbytes);
  note->next = released_.load(boost::memory_order_relaxed);
  while (!released_.compare_exchange_weak(note->next, note, boost::memory_order_relaxed,
                                          boost::memory_order_relaxed)) {
  }
}

void Quarantine::copy(void* destination, const void* source, std::size_t nbytes) {
  if (before_copy) {
    before_copy();
  }
  Allocator::copy(destination, source, nbytes);
}

std::uint64_t Quarantine::blocks_out() const noexcept {
  // Relaxed: exact where the caller happens after all releases.
  return blocks_out_.load(boost::memory_order_relaxed);
}

Quarantine::Findings Quarantine::end_round() noexcept {
  // Relaxed, both: the caller happens after the round.
  Findings findings{0, released_twice_.exchange(0, boost::memory_order_relaxed)};
  Note* note = released_.exchange(nullptr, boost::memory_order_relaxed);
  while (note != nullptr) {
    if (!note->is_untouched()) {
      ++findings.used_after_release;
    }
    const Block block = note->block;
    note = note->next;
    aligned_allocator().deallocate(block);
  }
  return findings;
}

}  // namespace byre::stress::races
