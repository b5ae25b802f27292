// SPDX-License-Identifier: BSL-1.0
/// Memory: the allocators, foreign memory and files that programs use, and the model's count of
/// each. Several programs may share one Memory.
#pragma once

#include <byre/memory/allocator.hpp>
#include <byre/memory/host_allocators.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "support/temporary_folder.hpp"

namespace byre::programs {

using Bytes = std::vector<std::byte>;

/// Live blocks, by address. Thread-safe. Uses many locks, because a single lock would order the
/// threads of a run and thereby hide their races.
class LiveBlocks {
 public:
  void add(const void* address, std::size_t nbytes);
  /// Fails unless the block is live and has this size.
  void remove(const void* address, std::size_t nbytes, const char* what);
  /// Exact while no thread adds or removes blocks.
  std::size_t count() const;

  std::atomic<std::size_t> expected{0};  ///< set by the model

 private:
  struct Shard {
    mutable std::mutex mutex;
    std::map<const void*, std::size_t> live;
  };

  Shard& shard_of(const void* address) noexcept;

  std::array<Shard, 64> shards_;
};

/// An allocator that forwards to another allocator and may report a device as its own. Checks that
/// each block is released once, with its size. An allocation or copy fails if the Faults of the
/// calling thread require a failure. Thread-safe.
class TrackedAllocator final : public Allocator {
 public:
  /// A failed copy fills the first half of its destination with this byte.
  static constexpr std::byte half_copied{0xEE};

  TrackedAllocator(Allocator& behind, Device device) : Allocator(device), behind_(behind) {}

  Block allocate(const Request& request) override;
  void deallocate(const Block& block) noexcept override;
  void copy(void* destination, const void* source, std::size_t nbytes) override;
  const char* name() const noexcept override { return "tracked allocator"; }

  LiveBlocks blocks;

 private:
  Allocator& behind_;
};

/// A file to map, and its contents.
struct MappableFile {
  std::filesystem::path path;
  Bytes bytes;
};

class Memory {
 public:
  /// The tracked allocators allocate from `behind`. Throws std::system_error.
  explicit Memory(Allocator& behind = aligned_allocator());

  TrackedAllocator host;
  TrackedAllocator device;
  TrackedAllocator tiles;
  PmrAllocator resource{*std::pmr::new_delete_resource()};
  /// Adopted and aliased memory, from its adoption until its deleter is called.
  LiveBlocks adopted;
  std::atomic<std::int64_t> live_bytes{0};  ///< set by the model

  std::byte* adopt(const Bytes& bytes);
  struct Release {
    Memory* memory;
    std::size_t nbytes;
    void operator()(void* data) const noexcept;
  };

  const std::vector<MappableFile>& files() const noexcept { return files_; }
  /// The number of files that are mapped now.
  std::ptrdiff_t count_mapped_files() const;

  /// Checks that the numbers of live blocks and of adopted blocks equal those of the model. Called
  /// between steps.
  void check() const;

 private:
  const test::TemporaryFolder folder_;
  std::vector<MappableFile> files_;
};

/// Fills the `nbytes` bytes at `data`, which begin at offset `at` of a block. Each word of 8 bytes
/// encodes `stamp` and the index of the word in the block.
void fill(std::byte* data, std::size_t nbytes, std::size_t at, std::uint64_t stamp) noexcept;

/// The stamp of the word around byte `at`, if a write wrote the whole word.
std::uint64_t stamp_at(const std::byte* data, std::size_t at) noexcept;

}  // namespace byre::programs
