// SPDX-License-Identifier: BSL-1.0
/// WriteStamp: one write to a storage in one word, which is the number of the write and the number of
/// the record of where it was made.
#pragma once

#include <cstdint>

namespace byre::inline v0::shadow::detail {

/// Of a record of the storage (write_records.hpp); 0 is no record.
using RecordId = std::uint32_t;

/// Records have 20 bits and generations 44: a family would have to miss 2^44 writes, each of which takes
/// nanoseconds, to take the last for one it has observed.
class WriteStamp {
 public:
  static constexpr unsigned record_bits = 20;
  static constexpr RecordId max_record = (RecordId{1} << record_bits) - 1;

  /// Of a storage that has not been written since it is tracked.
  constexpr WriteStamp() noexcept = default;
  constexpr explicit WriteStamp(std::uint64_t word) noexcept : word_(word) {}

  /// How many writes there were, this one included.
  constexpr std::uint64_t generation() const noexcept { return word_ >> record_bits; }
  constexpr RecordId record() const noexcept { return static_cast<RecordId>(word_ & max_record); }
  constexpr std::uint64_t word() const noexcept { return word_; }

  friend constexpr bool operator==(WriteStamp, WriteStamp) noexcept = default;

 private:
  std::uint64_t word_ = 0;
};

}  // namespace byre::inline v0::shadow::detail
