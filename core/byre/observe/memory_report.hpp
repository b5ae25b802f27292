// SPDX-License-Identifier: BSL-1.0
/// The account of memory: memory_report() sums up the bytes of all data by origin and by tag, each
/// shared byte once. A ScopedTag names the data that a part of the program allocates.
/// docs/observing.md has an example.
#pragma once

#include <byre/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace byre::inline BYRE_ABI {

/// While an object exists, data that its thread allocates, adopts, borrows or maps has this tag,
/// and clones that the thread makes belong to the tag. Scopes nest, and the innermost one counts.
/// Copies inherit the tag of their source instead: the copy of a write to shared data, of a resize,
/// of a writable clone, or of memory that cannot be shared. Data that was allocated outside of all
/// scopes is untagged; its tag is "untagged", which may also be the name of a scope.
///
/// byre stores each name permanently, so a program should use few names.
///
/// Thread-safety: the object must be destroyed on its thread, in reverse order of construction. The
/// data may be used and released on any thread. Cost: none in a program without tags. Otherwise,
/// each clone, allocation, release and copy takes a lock until no ScopedTag exists and no data that
/// is tagged, or was cloned in a scope: see docs/observing.md. Does nothing in a build without
/// stats (Meson option).
class [[nodiscard]] BYRE_API ScopedTag {
 public:
  /// Throws InvalidArgument if the name is empty, OutOfMemory if there is no memory for it.
  explicit ScopedTag(std::string_view name);
  ~ScopedTag();
  ScopedTag(const ScopedTag&) = delete;
  ScopedTag& operator=(const ScopedTag&) = delete;

 private:
  std::uint32_t former_ = 0;
};

/// Bytes by the origin of the data.
struct BytesByOrigin {
  std::uint64_t allocated = 0;  ///< the capacity of blocks from allocators
  std::uint64_t paged = 0;      ///< files of pages, of paged_allocator()
  std::uint64_t overlay = 0;    ///< pages written in overlays; 0 if the system does not report them
  std::uint64_t adopted = 0;    ///< memory that byre releases through a deleter
  std::uint64_t mapped = 0;     ///< mapped files

  std::uint64_t total() const noexcept { return allocated + paged + overlay + adopted + mapped; }
  friend bool operator==(const BytesByOrigin&, const BytesByOrigin&) = default;
};

/// The memory that byre holds. Borrowed and aliased memory belongs to the caller and is not part of
/// it. All sums are in bytes.
struct MemoryReport {
  struct Tag {
    std::string name;
    BytesByOrigin nbytes;
  };
  /// Data with equal tags and lines that has several owners, or that a writer has left.
  struct Shared {
    std::string tag;
    /// The tags in which the data was cloned since it last had one owner, or had been cloned when
    /// the writer left it; at most the latest four of each data; "untagged" for clones outside of
    /// all scopes.
    std::vector<std::string> cloned_in;
    /// The lines that cloned the data, such as "train.cpp:42"; empty without a recording.
    std::vector<std::string> cloned_at;
    std::uint64_t count = 0;   ///< the number of buffers' data, or of tables of tiles
    std::uint64_t nbytes = 0;  ///< their capacity
    /// A write to shared data has copied it, or has mapped an overlay: the writer has left the data
    /// to the other owners, and some copy of it exists. Either the clones that were made in
    /// `cloned_in` hold the data, or such a clone was written and holds the copy. Data that has
    /// several owners again is listed as both.
    bool left_by_writers = false;
  };

  BytesByOrigin nbytes;   ///< each shared byte once
  std::vector<Tag> tags;  ///< the parts of `nbytes`, largest first, then by name
  /// Shared data that is tagged, that was cloned in a scope, or whose clones were recorded, and
  /// data that writers have left if it is tagged or was cloned in a scope. Largest first, then by
  /// names.
  std::vector<Shared> shared;
  std::uint64_t pinned = 0;  ///< the part of nbytes.paged that only overlays use, not owners
  /// The part of nbytes.allocated and nbytes.adopted that is memory of devices, not of the host.
  std::uint64_t on_devices = 0;
  std::uint64_t idle = 0;      ///< idle blocks of recycling pools, of 64 KiB and more
  std::uint64_t overhead = 0;  ///< pages that pools map in front of blocks, for headers
  std::uint64_t pending = 0;   ///< bytes that submitted copies, which have not ended, still read
  /// Bytes that were reported as untagged because the heap lacked memory to store their tag: a sum
  /// since the start of the program.
  std::uint64_t lost = 0;

  /// The memory of the host that byre holds: `nbytes` without the bytes on devices, `idle` and
  /// `overhead`. Differs by at most 1% from the proportional set size that the kernel reports for
  /// byre's mappings if all allocated, paged and adopted memory was written, if all pages of mapped
  /// files were read and no other process maps them, and if blocks have at least 64 KiB: the kernel
  /// counts a page only once it is used, and divides it among processes.
  std::uint64_t total() const noexcept { return nbytes.total() - on_devices + idle + overhead; }
};

/// The memory at this moment. Exact for events before the call, approximate for events during the
/// call. Small idle blocks, which each thread caches, are not counted. Throws InvalidArgument in a
/// build without stats (Meson option), or OutOfMemory. Thread-safe. Cost: O(n) in the numbers of
/// threads, tagged data and pages of overlays.
BYRE_API MemoryReport memory_report();

/// A text: a line with the sums, a line for each tag, and the shared data. It ends with a newline.
/// Throws OutOfMemory.
BYRE_API std::string to_text(const MemoryReport& report);

/// One JSON object whose members are those of MemoryReport; those of BytesByOrigin are members of
/// the objects that contain them, and `total` is their sum. Throws OutOfMemory.
BYRE_API std::string to_json(const MemoryReport& report);

}  // namespace byre::inline BYRE_ABI
