// SPDX-License-Identifier: BSL-1.0
/// The reference model: values without lazy copies. Every value has its own bytes, which no write
/// to another value changes. The model also records which data lazy values share, and derives from
/// this the number of owners, the copies and the counters.
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

/// Immutable bytes: a write creates new ones.
using Content = std::shared_ptr<const Bytes>;

/// A copy, as reported to sinks.
struct Copy {
  std::size_t nbytes;
  stats::CopyCause cause;
  friend bool operator==(const Copy&, const Copy&) = default;
};

/// Data that lazy values share: the data of a buffer, or a tile. It exists while a value owns or
/// copies the data. Threads share a Data as they share the real data.
class Data {
 public:
  struct Description {
    Origin origin = Origin::allocated;
    Allocator* allocator = nullptr;
    std::size_t capacity = 0;
    bool read_only = false;
    std::byte* others_data = nullptr;  ///< the address of borrowed or aliased memory
    /// Borrowed memory. It is freed with its last owner, to test that no clone uses it afterwards.
    std::unique_ptr<std::byte[]> lender = nullptr;
    std::shared_ptr<Data> base = nullptr;  ///< the data in pages beneath an overlay
    const std::byte* tile = nullptr;       ///< the address of a tile
  };

  Data(Memory& memory, Description description);
  ~Data();
  Data(const Data&) = delete;
  Data& operator=(const Data&) = delete;

  const Description& description() const noexcept { return description_; }
  std::atomic<std::size_t> copies{0};  ///< copies under way by former owners, and overlays
  /// The version of a storage of the data was asked, so that an owner may count as two.
  std::atomic<bool> has_versions{false};

 private:
  /// Adds this data to the expected counts if `sign` is 1; removes it if `sign` is -1.
  void count(int sign) noexcept;

  Memory& memory_;
  Description description_;
};

using DataOwner = std::shared_ptr<Data>;

/// The number of owners, not counting former owners that still copy. Exact while no thread runs.
inline std::size_t owners_of(const DataOwner& data) noexcept {
  return data == nullptr ? 0 : static_cast<std::size_t>(data.use_count()) - data->copies;
}
inline bool is_alone(const DataOwner& data) noexcept {
  return data == nullptr || (owners_of(data) == 1 && data->copies == 0);
}
/// Whether a write with Wait::allowed would wait forever, because copies are pending that end only
/// after the steps that are nested in them.
inline bool would_wait(const DataOwner& data) noexcept {
  return owners_of(data) == 1 && data->copies != 0;
}

struct Value {
  Content bytes;
  DataOwner data;              ///< null if the value is empty
  bool busy = false;           ///< a call on this value is under way
  unsigned pins = 0;           ///< the number of pins of a storage
  std::uint64_t version = 0;   ///< the last version that a storage returned
  Content bytes_of_version{};  ///< the bytes at that time

  std::size_t nbytes() const noexcept { return bytes == nullptr ? 0 : bytes->size(); }
  Origin origin() const noexcept {
    return data == nullptr ? Origin::allocated : data->description().origin;
  }
  bool is_read_only() const noexcept { return data != nullptr && data->description().read_only; }
  Allocator& allocator() const noexcept {
    return data == nullptr ? default_allocator() : *data->description().allocator;
  }
  /// Whether other code writes the memory through pointers: borrowed or aliased memory.
  bool has_other_writers() const noexcept {
    return data != nullptr && data->description().others_data != nullptr;
  }
  /// The cause of the copy that a lazy clone makes at once; std::nullopt if the clone shares the
  /// data.
  std::optional<stats::CopyCause> cause_of_eager_clone() const noexcept;

  void put(std::size_t offset, std::span<const std::byte> written);
  void resize(std::size_t nbytes);
};

inline Content content_of(Bytes bytes) {
  return std::make_shared<const Bytes>(std::move(bytes));
}

/// Predictions for the steps of one thread: the counts and copies that byre has to report.
struct Predictions {
  stats::Counters counters;
  std::int64_t unreported_steals = 0;    ///< upper bound: a write does not report a stolen tile
  std::int64_t unreported_overlays = 0;  ///< upper bound: a writable clone may create a file
  std::vector<Copy> copies;              ///< predicted since the last check of sinks

  void clone(std::size_t nbytes) noexcept {
    ++counters.lazy_clones;
    counters.bytes_not_copied += static_cast<std::int64_t>(nbytes);
  }
  void copy(std::size_t nbytes, stats::CopyCause cause);
  Predictions& operator+=(const Predictions& other);
};

/// A write of a value that begin_write() has begun. If the write fails, refuse_write() undoes it in
/// the model.
struct Write {
  Materialized answer = Materialized::already_unique;  ///< the predicted result
  stats::CopyCause cause = stats::CopyCause::shared;
  DataOwner source = nullptr;  ///< the data that the writer copies and no longer owns
};
/// Requires that no other thread runs a program.
Write begin_write(Value& value, Wait wait);
void refuse_write(Value& value, Write&& write);

}  // namespace byre::programs
