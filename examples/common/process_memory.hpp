// SPDX-License-Identifier: BSL-1.0
/// The memory that this process has, as the system counts it. Only Linux says; elsewhere the answer
/// is that it is not known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace examples {

/// Gives memory that is free back to the system.
void release_free_memory();

/// Bytes resident at this moment.
struct ResidentMemory {
  std::uint64_t nbytes = 0;
  std::uint64_t anonymous_nbytes = 0;  ///< of those, what no file has: the process's own
};

std::optional<ResidentMemory> resident_memory();

/// The same of one line of /proc/self/smaps_rollup: "Rss", or "Anonymous" for pages that no file has.
std::optional<std::int64_t> resident_nbytes(const char* key = "Rss");

std::size_t system_page_nbytes();

/// At this moment, what no file has of each mapping: of a private one of a file, the pages that were
/// written.
class OwnMemory {
 public:
  OwnMemory();

  /// Bytes of the mapping that begins there; nothing if the system does not say.
  std::optional<std::size_t> of_mapping_at(const void* begin) const;

 private:
  std::map<std::uintptr_t, std::size_t> nbytes_;
};

/// How often the calling thread met a page for which the system had to do something.
std::optional<std::uint64_t> page_faults_of_this_thread();

/// Bytes that programs can have at this moment without the system's taking them from others.
std::optional<std::uint64_t> available_memory_nbytes();

/// The most that was resident at one time, over one part of the process's life.
class PeakMemory {
 public:
  /// Releases free memory and starts counting.
  PeakMemory();

  /// Most bytes resident since then, or nothing if the system cannot say.
  std::optional<std::uint64_t> nbytes() const;

 private:
  bool counting_;
};

}  // namespace examples
