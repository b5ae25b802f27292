// SPDX-License-Identifier: BSL-1.0
#include "memory.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "faults.hpp"

namespace byre::programs {

void LiveBlocks::add(const void* address, std::size_t nbytes) {
  Shard& shard = shard_of(address);
  const std::lock_guard lock(shard.mutex);
  if (!shard.live.emplace(address, nbytes).second) {
    fail("the block at %p was allocated twice without a release", address);
  }
}

void LiveBlocks::remove(const void* address, std::size_t nbytes, const char* what) {
  Shard& shard = shard_of(address);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.live.find(address);
  if (found == shard.live.end()) {
    fail("%s of %zu bytes was released but is not allocated: released twice, or never allocated",
         what, nbytes);
  }
  if (found->second != nbytes) {
    fail("%s of %zu bytes was released with a size of %zu", what, found->second, nbytes);
  }
  shard.live.erase(found);
}

std::size_t LiveBlocks::count() const {
  std::size_t sum = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    sum += shard.live.size();
  }
  return sum;
}

LiveBlocks::Shard& LiveBlocks::shard_of(const void* address) noexcept {
  const auto line = reinterpret_cast<std::uintptr_t>(address) / data_alignment;
  // Large blocks begin at page boundaries, so the bits of the line within a page do not distinguish
  // them.
  return shards_[(line ^ (line >> 6) ^ (line >> 15)) % shards_.size()];
}

Block TrackedAllocator::allocate(const Request& request) {
  const Faults::Pause pause;
  if (Faults* const faults = Faults::current();
      faults != nullptr && faults->fires(Fault::allocation)) {
    throw std::bad_alloc();
  }
  const Block block = behind_.allocate(request);
  blocks.add(block.data, block.capacity);
  std::memset(block.data, 0xA5, std::min<std::size_t>(request.nbytes, 4096));
  return block;
}

void TrackedAllocator::deallocate(const Block& block) noexcept {
  blocks.remove(block.data, block.capacity, "a block");
  std::memset(block.data, 0x5A, std::min<std::size_t>(block.capacity, 4096));
  behind_.deallocate(block);
}

void TrackedAllocator::copy(void* destination, const void* source, std::size_t nbytes) {
  const Faults::Pause pause;
  Faults* const faults = Faults::current();
  const bool fails = faults != nullptr && faults->fires(Fault::copy);
  if (faults != nullptr) {
    faults->run_nested_steps();
  }
  if (fails) {
    std::memset(destination, std::to_integer<int>(half_copied), nbytes / 2);
    throw CopyFailed();
  }
  behind_.copy(destination, source, nbytes);
  if (faults != nullptr) {
    faults->count_copy();
  }
}

Memory::Memory(Allocator& behind)
    : host(behind, Device::cpu()), device(behind, Device(1, 0)), tiles(behind, Device::cpu()) {
  // Sizes below a word, near a page, above the capacity of a thread cache, and large enough for an
  // overlay.
  for (const std::size_t nbytes : {1U, 63U, 100U, 4096U, 5000U, 70'000U, 300'001U}) {
    MappableFile file{folder_ / std::to_string(nbytes), Bytes(nbytes)};
    fill(file.bytes.data(), nbytes, 0, nbytes);
    test::write_file(file.path, file.bytes.data(), nbytes);
    files_.push_back(std::move(file));
  }
}

std::byte* Memory::adopt(const Bytes& bytes) {
  auto memory = std::make_unique<std::byte[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), memory.get());
  adopted.add(memory.get(), bytes.size());
  return memory.release();
}

void Memory::Release::operator()(void* data) const noexcept {
  memory->adopted.remove(data, nbytes, "adopted memory");
  delete[] static_cast<std::byte*>(data);
}

std::ptrdiff_t Memory::count_mapped_files() const {
  return std::max<std::ptrdiff_t>(test::mappings_of(folder_.path()), 0);
}

void Memory::check() const {
  for (const LiveBlocks* blocks : {&host.blocks, &device.blocks, &tiles.blocks, &adopted}) {
    if (blocks->count() != blocks->expected) {
      fail("%zu live blocks, expected %zu", blocks->count(), blocks->expected.load());
    }
  }
}

namespace {

// Odd, so that it has a multiplicative inverse modulo 2^64: each byte of a word depends on the
// stamp, and all eight bytes determine it.
constexpr std::uint64_t factor = 0xD6E8'FEB8'6659'FD93;
constexpr std::uint64_t inverse = [] {
  std::uint64_t found = factor;
  for (int round = 0; round < 6; ++round) {
    found *= 2 - factor * found;
  }
  return found;
}();
static_assert(factor * inverse == 1);

constexpr std::uint64_t place_of(std::size_t number) noexcept {
  return (number + 1) * 0x9E37'79B9'7F4A'7C15;
}

}  // namespace

void fill(std::byte* data, std::size_t nbytes, std::size_t at, std::uint64_t stamp) noexcept {
  for (const std::size_t end = at + nbytes; at != end;) {
    const std::uint64_t word = stamp * factor ^ place_of(at / 8);
    const std::size_t length = std::min(8 - at % 8, end - at);
    std::memcpy(data, reinterpret_cast<const std::byte*>(&word) + at % 8, length);
    data += length;
    at += length;
  }
}

std::uint64_t stamp_at(const std::byte* data, std::size_t at) noexcept {
  std::uint64_t word;
  std::memcpy(&word, data + at / 8 * 8, sizeof word);
  return (word ^ place_of(at / 8)) * inverse;
}

}  // namespace byre::programs
