// SPDX-License-Identifier: BSL-1.0
/// The reference model: values without lazy copies. Every value has bytes of its own, which no other value can reach.
/// Beside the bytes it knows what lazy values share, and so every owner, copy and counter.
#pragma once

#include <byre/cow/share_word.hpp>
#include <byre/memory/allocator.hpp>
#include <byre/observe/counters.hpp>
#include <byre/observe/events.hpp>
#include <byre/storage/buffer.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "memory.hpp"

namespace byre::programs {

/// Bytes that never change: a write makes others.
using Content = std::shared_ptr<const Bytes>;

/// A copy as sinks are told of it.
struct Copy {
  std::size_t nbytes;
  stats::CopyCause cause;
  friend bool operator==(const Copy&, const Copy&) = default;
};

/// What lazy values share: the data of a buffer, or a tile. It lives while one of them owns or copies it. Threads share
/// it as they share the real data.
class Data {
 public:
  struct Description {
    Origin origin = Origin::allocated;
    Allocator* allocator = nullptr;
    std::size_t capacity = 0;
    bool read_only = false;
    std::byte* others_data = nullptr;  ///< of borrowed and aliased memory: where others write it
    /// Borrowed memory. It ends with the last owner: no clone may need it then.
    std::unique_ptr<std::byte[]> lender = nullptr;
    std::shared_ptr<Data> base = nullptr;  ///< of an overlay: the data whose pages it shows
    const std::byte* tile = nullptr;       ///< of a tile: where it is
  };

  Data(Memory& memory, Description description);
  ~Data();
  Data(const Data&) = delete;
  Data& operator=(const Data&) = delete;

  const Description& description() const noexcept { return description_; }
  std::atomic<std::size_t> copies{0};  ///< under way, by former owners; overlays are such copies

 private:
  /// Counts it, or no longer.
  void count(int sign) noexcept;

  Memory& memory_;
  Description description_;
};

using DataOwner = std::shared_ptr<Data>;

/// The owners, without those that still copy. Exact while no thread runs.
inline std::size_t owners_of(const DataOwner& data) noexcept {
  return data == nullptr ? 0 : static_cast<std::size_t>(data.use_count()) - data->copies;
}
inline bool is_alone(const DataOwner& data) noexcept {
  return data == nullptr || (owners_of(data) == 1 && data->copies == 0);
}
/// A write that may wait does, for copies that end when the steps in their middle do: never.
inline bool would_wait(const DataOwner& data) noexcept {
  return owners_of(data) == 1 && data->copies != 0;
}

struct Value {
  Content bytes;
  DataOwner data;     ///< none: no bytes and no memory
  bool busy = false;  ///< a call on it is under way
  unsigned pins = 0;  ///< of a storage

  std::size_t nbytes() const noexcept { return bytes == nullptr ? 0 : bytes->size(); }
  Origin origin() const noexcept {
    return data == nullptr ? Origin::allocated : data->description().origin;
  }
  bool is_read_only() const noexcept { return data != nullptr && data->description().read_only; }
  Allocator& allocator() const noexcept {
    return data == nullptr ? default_allocator() : *data->description().allocator;
  }
  /// Whether others write it by pointers of their own, as they may memory that they lent.
  bool has_other_writers() const noexcept {
    return data != nullptr && data->description().others_data != nullptr;
  }
  /// How a lazy clone counts the copy that it makes at once; none if it shares the data.
  std::optional<stats::CopyCause> cause_of_eager_clone() const noexcept;

  void put(std::size_t offset, std::span<const std::byte> written);
  void resize(std::size_t nbytes);
};

inline Content content_of(Bytes bytes) {
  return std::make_shared<const Bytes>(std::move(bytes));
}

/// What one thread's steps did, and what byre has to count for it.
struct Predictions {
  stats::Counters counters;
  std::int64_t unseen_steals = 0;    ///< at most: no answer tells whether a tile was stolen
  std::int64_t unseen_overlays = 0;  ///< at most: or whether a writable clone took a new file
  std::vector<Copy> copies;          ///< since these were last compared with what sinks saw

  void clone(std::size_t nbytes) noexcept {
    ++counters.lazy_clones;
    counters.bytes_not_copied += static_cast<std::int64_t>(nbytes);
  }
  void copy(std::size_t nbytes, stats::CopyCause cause);
  Predictions& operator+=(const Predictions& other);
};

/// A write of a value. It is refused if it fails.
struct Write {
  Materialized answer = Materialized::already_unique;  ///< as predicted
  stats::CopyCause cause = stats::CopyCause::shared;
  DataOwner source = nullptr;  ///< what the writer no longer owns, but copies
};
/// Where no other thread takes part.
Write begin_write(Value& value, Wait wait);
void refuse_write(Value& value, Write&& write);

}  // namespace byre::programs
