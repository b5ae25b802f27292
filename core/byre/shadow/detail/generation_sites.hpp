// SPDX-License-Identifier: BSL-1.0
/// Write stamps, and every synchronizing step of the generations: see generation.hpp.
#pragma once

#include <byre/sync/detail/site.hpp>

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
    {"generation.observed", sync::Operation::load, std::memory_order::relaxed,
     "nothing: accesses of one family are ordered by who makes them, but for reads",
     "relaxed is the weakest order"},
    {"generation.observe", sync::Operation::store, std::memory_order::relaxed,
     "nothing: two reads of one family that observe at once may leave what the earlier saw",
     "relaxed is the weakest order; left out, families_read_and_write: a family is stale of its "
     "own "
     "write"},
    {"generation.unread", sync::Operation::load, std::memory_order::relaxed,
     "nothing: what it finds was left by a write of the family, which its reads come after",
     "relaxed is the weakest order"},
    {"generation.leave_unread", sync::Operation::store, std::memory_order::relaxed,
     "nothing: a write of the family excludes what else the family does",
     "relaxed is the weakest order; left out, families_leave_unread: what the family did not "
     "write over is not reported to a read"},
    {"generation.forget_unread", sync::Operation::store, std::memory_order::relaxed,
     "nothing: of two reads of one family at once both may be reported",
     "relaxed is the weakest order; left out, families_leave_unread: what was reported to the "
     "family before is reported to a read again"},
    {"generation.load_last", sync::Operation::load, std::memory_order::acquire,
     "write (release): who sees a write finds its record",
     "families_read_and_write: the record of a write is read before it was made"},
    {"generation.write", sync::Operation::compare_exchange, std::memory_order::release,
     "load_last and load_last_again (acquire): the record is made before the write",
     "families_race: the record of a write is read before it was made; not atomic, two families "
     "that write at once both find that nobody else did"},
    {"generation.load_last_again", sync::Operation::load, std::memory_order::acquire,
     "write (release): who is too late with a write finds the other's record",
     "families_race: the record of the other write is read before it was made"},
}}};

enum class GenerationConstant : std::uint8_t { step };

inline constexpr sync::ConstantTable<GenerationConstant, 1> generation_constants{{{
    {"generation.step", std::uint64_t{1} << WriteStamp::record_bits,
     "that a write has another stamp than the one before, and its own record in it"},
}}};

}  // namespace byre::inline v0::shadow::detail
