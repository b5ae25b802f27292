// SPDX-License-Identifier: BSL-1.0
/// The ledger: a table of the data that has a tag, that was cloned where a tag was in scope, or
/// that a writer of such data has left or made. Data without an entry is untagged.
///
/// The ledger is in use from the first ScopedTag or recording until none exists and the table is
/// empty. While it is in use, all threads take the slow paths of count_or_else() and
/// if_listening(), which report each event to it. Invariants:
///
/// L1  Entries exist only while the ledger is in use. A thread that adds an entry has seen, under
///     the lock, that the flags of all threads are set; so each thread that receives the data
///     reports its release.
/// L2  An entry is removed before the header of its data is destroyed. So under the lock, the
///     header of each entry exists.
#pragma once

#include <byre/config.hpp>
#include <byre/observe/detail/call_sites.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace byre::inline BYRE_ABI::stats::detail {

/// The number of a tag. byre stores the name of each tag once, permanently.
using TagId = std::uint32_t;
inline constexpr TagId untagged = 0;
inline constexpr TagId unknown_tag = ~TagId{0};

/// The sum of memory_report() that contains the bytes of some data.
enum class Held : std::uint8_t {
  allocated,
  paged,
  adopted,
  mapped,
  overlay,  ///< the bytes of the pages that were written in the overlay
  nowhere,  ///< memory of the caller, and nodes of a tile tree
};
inline constexpr std::size_t held_count = 5;  ///< without `nowhere`

/// Data in a report to the ledger and to recordings.
struct DataFacts {
  const void* header = nullptr;  ///< identifies the data; null: unknown to the ledger
  const void* data = nullptr;
  std::size_t nbytes = 0;
  Held held = Held::nowhere;
  std::uint32_t (*use_count)(const void* header) noexcept = nullptr;
  /// The tag, if it was determined in advance because the data may be released before the report,
  /// or because the data has no allocation of its own.
  TagId tag = unknown_tag;

  const DataFacts& facts() const noexcept { return *this; }
};

/// The bytes that were written in an overlay.
struct WrittenOverlay {
  const void* data;
  std::size_t nbytes;
};

namespace ledger {

// All functions are thread-safe and take the lock of the ledger. Those that are noexcept do nothing
// if the ledger is not in use. If the heap lacks memory for an entry, they count its bytes as lost.

/// The number of a tag. Throws std::bad_alloc.
TagId tag_named(std::string_view name);

/// Makes `tag` the tag of this thread, and returns the former tag. Puts the ledger in use.
TagId begin_scope(TagId tag) noexcept;
/// Restores the former tag of this thread.
void end_scope(TagId former) noexcept;

/// A recording begins: from now on, the ledger has an entry for all data that is cloned.
void begin_recording() noexcept;
void end_recording() noexcept;

/// Adds new data, with the tag of this thread.
BYRE_API void add(const DataFacts& data) noexcept;
BYRE_API void remove(const void* header) noexcept;
/// What happens to the source of a copy.
enum class AfterCopy : std::uint8_t {
  kept,
  left,      ///< a writer moves to the copy, and leaves the source to other owners
  released,  ///< the copy takes the source's place
};
/// Makes the tag of `source` the tag of `copy`.
BYRE_API void inherit(const DataFacts& source, const DataFacts& copy,
                      AfterCopy after = AfterCopy::kept) noexcept;
/// Adds the tag of this thread to the tags in which `data` was cloned. `was_unique`: the data had
/// one owner before the clone, so the tags of earlier clones are removed.
void add_clone(const DataFacts& data, bool was_unique) noexcept;
/// Adds the tags in which `whole`, a node of a tile tree, was cloned, to those of its child.
void add_part(const void* whole, const DataFacts& part, bool was_unique) noexcept;
/// The tag of the data of a header.
BYRE_API TagId tag_of(const void* header) noexcept;

/// Sets the function that returns the live overlays in whose pages there are written bytes. It may
/// throw std::bad_alloc.
void set_source_of_overlays(std::vector<WrittenOverlay> (*overlays)()) noexcept;

/// Some data that has several owners, or that a writer has left.
struct SharedData {
  const void* data;
  std::size_t nbytes;
  TagId tag;
  ClonedLines cloned_in;  ///< numbers of tags in place of those of call sites
  bool is_left;           ///< if data is both, the ledger lists it twice
};

/// The contents of the ledger at one moment.
struct Contents {
  std::vector<std::string> names;  ///< by TagId
  /// Bytes by TagId and Held. The ledger knows untagged data only if it is an overlay.
  std::vector<std::array<std::uint64_t, held_count>> nbytes;
  std::vector<SharedData> shared;
  std::uint64_t lost_nbytes = 0;
};
/// Throws std::bad_alloc.
Contents contents();

}  // namespace ledger
}  // namespace byre::inline BYRE_ABI::stats::detail
