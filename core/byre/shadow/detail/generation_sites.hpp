// SPDX-License-Identifier: BSL-1.0
/// Write stamps, and the table of all synchronizing steps of generation.hpp.
#pragma once

#include <byre/sync/detail/site.hpp>

#include <cstdint>

namespace byre::inline BYRE_ABI::shadow::detail {

/// The number of a record of the storage's writes (write_records.hpp); 0 stands for no record.
using RecordId = std::uint32_t;

/// The generation of a write and its record, in one word: 44 bits and 20 bits. The generation
/// overflows after 2^44 writes to one storage. Only then could a family mistake the last write for
/// an observed write. A write takes nanoseconds.
class WriteStamp {
 public:
  static constexpr unsigned record_bits = 20;
  static constexpr RecordId max_record = (RecordId{1} << record_bits) - 1;

  /// The stamp of a storage that has not been written since its tracking began.
  constexpr WriteStamp() noexcept = default;
  constexpr explicit WriteStamp(std::uint64_t word) noexcept : word_(word) {}

  /// The number of writes so far, including this one.
  constexpr std::uint64_t generation() const noexcept { return word_ >> record_bits; }
  constexpr RecordId record() const noexcept { return static_cast<RecordId>(word_ & max_record); }
  constexpr std::uint64_t word() const noexcept { return word_; }

  friend constexpr bool operator==(WriteStamp, WriteStamp) noexcept = default;

 private:
  std::uint64_t word_ = 0;
};

enum class GenerationSite : std::uint8_t {
  observed,
  observe,
  unread,
  leave_unread,
  forget_unread,
  load_last,
  write,
  load_last_again,
};

inline constexpr sync::SiteTable<GenerationSite, 8> generation_sites{{{
    {"generation.observed", sync::Operation::load, std::memory_order::relaxed},
    {"generation.observe", sync::Operation::store, std::memory_order::relaxed},
    {"generation.unread", sync::Operation::load, std::memory_order::relaxed},
    {"generation.leave_unread", sync::Operation::store, std::memory_order::relaxed},
    {"generation.forget_unread", sync::Operation::store, std::memory_order::relaxed},
    {"generation.load_last", sync::Operation::load, std::memory_order::acquire},
    {"generation.write", sync::Operation::compare_exchange, std::memory_order::release},
    {"generation.load_last_again", sync::Operation::load, std::memory_order::acquire},
}}};

enum class GenerationConstant : std::uint8_t { step };

inline constexpr sync::ConstantTable<GenerationConstant, 1> generation_constants{{{
    {"generation.step", std::uint64_t{1} << WriteStamp::record_bits},
}}};

}  // namespace byre::inline BYRE_ABI::shadow::detail
