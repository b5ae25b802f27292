// SPDX-License-Identifier: BSL-1.0
/// Memory: where the values of programs come from, and what the model has of it. One or several programs use it.
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

/// Allocated blocks, by address. Thread-safe, by many locks: one alone would order the threads of a run, and so hide their
/// races.
class LiveBlocks {
 public:
  void add(const void* place, std::size_t nbytes);
  /// Fails unless it is out, with that size.
  void remove(const void* place, std::size_t nbytes, const char* what);
  /// Exact while no thread adds or removes.
  std::size_t count() const;

  std::atomic<std::size_t> expected{0};  ///< by the model

 private:
  struct Shard {
    mutable std::mutex mutex;
    std::map<const void*, std::size_t> out;
  };

  Shard& shard_of(const void* place) noexcept;

  std::array<Shard, 64> shards_;
};

/// Memory of another allocator, perhaps said to be a device's. Each block has to be released once, as it was given.
/// Fails as the Faults of the calling thread say. Thread-safe.
class TrackedAllocator final : public Allocator {
 public:
  /// A copy that fails leaves this in the first half.
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

/// A file that is mapped, and what it holds.
struct MappableFile {
  std::filesystem::path path;
  Bytes bytes;
};

class Memory {
 public:
  /// `behind` the tracked allocators. Throws std::system_error.
  explicit Memory(Allocator& behind = aligned_allocator());

  TrackedAllocator host;
  TrackedAllocator device;
  TrackedAllocator tiles;
  PmrAllocator resource{*std::pmr::new_delete_resource()};
  /// Adopted and aliased memory, from the adoption until the deleter is called.
  LiveBlocks adopted;
  std::atomic<std::int64_t> live_bytes{0};  ///< by the model

  std::byte* adopt(const Bytes& bytes);
  struct Release {
    Memory* memory;
    std::size_t nbytes;
    void operator()(void* data) const noexcept;
  };

  const std::vector<MappableFile>& files() const noexcept { return files_; }
  /// How many of them are mapped now.
  std::ptrdiff_t count_mapped_files() const;

  /// That blocks and adopted memory are as many as the model has. Between steps.
  void check() const;

 private:
  const test::TemporaryFolder folder_;
  std::vector<MappableFile> files_;
};

/// Bytes that tell which write they are of: word `at / 8` of the memory is `stamp` in a form that depends on its place.
void fill(std::byte* data, std::size_t nbytes, std::size_t at, std::uint64_t stamp) noexcept;

/// Which write the word around byte `at` is of, if it is one's.
std::uint64_t stamp_at(const std::byte* data, std::size_t at) noexcept;

}  // namespace byre::programs
