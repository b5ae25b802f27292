// SPDX-License-Identifier: BSL-1.0
/// A delta: a file of those tiles of a table that changed since the snapshot before. It holds
///
///     offset  bytes
///          0      8  "BYREDELT"
///          8      4  version, 1
///         12      4  CRC-32 of all that follows
///         16      8  token of the snapshot
///         24      8  token of the snapshot before
///         32      4  of the snapshot before: the CRC-32 of its full file, or the one in its delta
///         36      4  0
///         40      8  bytes of the table
///         48      8  bytes of a tile; the table's last one may have fewer
///         56      8  count of tiles in this file
///         64    8 x count  their numbers, from 0 on and in ascending order
///                 their bytes, in the same order
///
/// Numbers are little-endian. The bytes of tiles are as in the full file, whose header says their order.
#pragma once

#include <byre/storage/tiled_buffer.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace examples::live_checkpoint {

inline constexpr std::size_t delta_header_nbytes = 64;
inline constexpr std::size_t tile_number_nbytes = 8;

struct DeltaHeader {
  std::uint32_t crc32 = 0;
  std::uint64_t token = 0;
  std::uint64_t previous_token = 0;
  std::uint32_t previous_crc32 = 0;
  std::uint64_t table_nbytes = 0;
  std::uint64_t tile_nbytes = 0;
  std::uint64_t count = 0;
};

/// Writes `file` with the tiles of `table` that are numbered in `changed`, in ascending order. `header` has the
/// tokens and the previous CRC-32; returns it in full. Throws byre::FileError.
DeltaHeader write_delta(const std::filesystem::path& file, DeltaHeader header,
                        const std::vector<std::uint64_t>& changed, const byre::TiledBuffer& table);

/// A delta in memory.
struct Delta {
  DeltaHeader header;
  std::vector<std::uint64_t> tiles;
  std::vector<char> bytes;  ///< of the tiles

  /// Writes the tiles to the `table` they are of.
  void apply_to(std::span<char> table) const;
};

/// Throws Failure for a file that cannot be read, is no delta, is damaged, or has another name than its
/// snapshot.
Delta read_delta(const std::filesystem::path& file);

}  // namespace examples::live_checkpoint
