// SPDX-License-Identifier: BSL-1.0
#include "tracking_allocator.hpp"

#include <byre/error/error.hpp>

namespace byre::stress {

Block TrackingAllocator::allocate(const Request& request) {
  return record(behind_.allocate(request));
}

Block TrackingAllocator::allocate_copy(const Request& request, const void* source,
                                       std::size_t nbytes) {
  return record(behind_.allocate_copy(request, source, nbytes));
}

void TrackingAllocator::deallocate(const Block& block) noexcept {
  Shard& shard = shard_of(block.data);
  {
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.live.find(block.data);
    if (found == shard.live.end()) {
      failures_.add(
          format_text("the block at %p, of %zu bytes, was released though it is not live: "
                      "it was released before, or never allocated",
                      block.data, block.capacity)
              .chars.data());
      return;
    }
    const Block given = found->second;
    if (given.capacity != block.capacity || given.base != block.base) {
      failures_.add(format_text("the block at %p, of %zu bytes, came back as one of %zu",
                                block.data, given.capacity, block.capacity)
                        .chars.data());
    }
    shard.live.erase(found);
  }
  // After it is off the record: another thread may be given it at once.
  behind_.deallocate(block);
}

Block TrackingAllocator::record(const Block& block) {
  Shard& shard = shard_of(block.data);
  try {
    const std::lock_guard lock(shard.mutex);
    if (!shard.live.emplace(block.data, block).second) {
      failures_.add(
          format_text("the block at %p was allocated while it was live", block.data).chars.data());
    }
    ++shard.allocations;
  } catch (...) {
    behind_.deallocate(block);  // operator new may have been made to fail
    throw;
  }
  return block;
}

TrackingAllocator::Shard& TrackingAllocator::shard_of(const void* data) noexcept {
  const std::uintptr_t line = reinterpret_cast<std::uintptr_t>(data) / data_alignment;
  // Large blocks begin on pages: the bits of the line within one are no help.
  return shards_[(line ^ (line >> 6) ^ (line >> 15)) % shards_.size()];
}

template <class Number>
auto TrackingAllocator::sum(Number number_of) const {
  decltype(number_of(shards_[0])) total = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    total += number_of(shard);
  }
  return total;
}

std::uint64_t TrackingAllocator::allocation_count() const {
  return sum([](const Shard& shard) { return shard.allocations; });
}

std::size_t TrackingAllocator::live_blocks() const {
  return sum([](const Shard& shard) { return shard.live.size(); });
}

void TrackingAllocator::check_for_leaks() {
  if (const std::size_t live = live_blocks(); live != 0) {
    failures_.add(std::to_string(live) + " blocks were never released");
  }
}

}  // namespace byre::stress
