// SPDX-License-Identifier: BSL-1.0
/// A sink of snapshots in memory.
#pragma once

#include <byre/storage/tiles/snapshot_writer.hpp>

#include <cstddef>
#include <cstring>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace byre::test {

inline constexpr std::size_t one_tile = 64;

/// A sink in memory. `before_write` may throw.
class MemorySink final : public SnapshotSink {
 public:
  explicit MemorySink(std::size_t nbytes) : bytes(nbytes, '?') {}

  void write(std::size_t offset, std::span<const std::byte> from) override {
    if (before_write) {
      before_write(offset);
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    order.push_back(offset / one_tile);
    std::memcpy(&bytes[offset], from.data(), from.size());
  }
  void commit() override {
    if (before_commit) {
      before_commit();
    }
    ++commits;
  }

  std::string bytes;
  std::vector<std::size_t> order;
  std::function<void(std::size_t offset)> before_write;
  std::function<void()> before_commit;
  int commits = 0;

 private:
  std::mutex mutex_;
};

}  // namespace byre::test
