// SPDX-License-Identifier: BSL-1.0
/// A delta: a file with the tiles of a table that changed since the previous snapshot. It consists
/// of little-endian 64-bit words and of the bytes of tiles:
///
///     word    "BYREDEL2"
///     word    token of the snapshot
///     word    token of the previous snapshot
///     word    identity of the previous snapshot
///     word    size of the table in bytes
///     word    size of a tile in bytes; the last tile of the table may be smaller
///     word    number of tiles in this file
///     words   indices of these tiles, in ascending order
///     bytes   of the tiles, in the order of the indices
///     word    CRC-32 of all of the above
///
/// The identity of a snapshot is the CRC-32 of its full file, or the CRC-32 at the end of its
/// delta.
#pragma once

#include "files.hpp"

#include <byre/files/output_file.hpp>
#include <byre/storage/tiles/tiled_buffer.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace examples::live_checkpoint {

inline constexpr std::uint64_t magic = 0x324c454445525942;  // "BYREDEL2"
inline constexpr std::size_t word_nbytes = 8;
inline constexpr std::size_t header_nbytes = 7 * word_nbytes;

constexpr std::uint64_t little_endian(std::uint64_t word) noexcept {
  return std::endian::native == std::endian::little ? word : __builtin_bswap64(word);
}

inline std::uint64_t word_at(const char* from) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, from, word_nbytes);
  return little_endian(word);
}

struct DeltaHeader {
  std::uint64_t token;
  std::uint64_t previous_token;
  std::uint64_t previous_identity;
  std::uint64_t table_nbytes;
  std::uint64_t tile_nbytes;
  std::uint64_t count;
};

inline std::uint64_t nbytes_of(std::uint64_t tile, const DeltaHeader& header) noexcept {
  return std::min(header.tile_nbytes, header.table_nbytes - tile * header.tile_nbytes);
}

/// A delta in memory.
struct Delta {
  DeltaHeader header;
  std::uint32_t identity;
  std::vector<std::uint64_t> tiles;
  std::vector<char> bytes;  ///< the contents of the tiles, one after the other

  /// Writes the tiles to `table`, which must be the table of the previous snapshot.
  void apply_to(std::span<char> table) const {
    const char* from = bytes.data();
    for (const std::uint64_t tile : tiles) {
      const std::uint64_t nbytes = nbytes_of(tile, header);
      std::memcpy(&table[tile * header.tile_nbytes], from, nbytes);
      from += nbytes;
    }
  }
};

/// True if the indices are valid and ascending, and if the number of bytes is that of their tiles.
inline bool is_consistent(const Delta& delta) {
  const DeltaHeader& header = delta.header;
  std::uint64_t nbytes = 0;
  std::uint64_t least = 0;
  for (const std::uint64_t tile : delta.tiles) {
    if (header.tile_nbytes == 0 || header.table_nbytes == 0 || tile < least ||
        tile > (header.table_nbytes - 1) / header.tile_nbytes) {
      return false;
    }
    least = tile + 1;
    nbytes += nbytes_of(tile, header);
  }
  return nbytes == delta.bytes.size() && header.previous_token < header.token;
}

/// Writes `file` with the tiles of `table` whose indices are in `changed`, in ascending order.
/// Returns the identity of the snapshot. Throws byre::FileError.
inline std::uint32_t write_delta(const fs::path& file, const DeltaHeader& header,
                                 const std::vector<std::uint64_t>& changed,
                                 const byre::TiledBuffer& table) {
  byre::OutputFile output(file);
  Checksum checksum;
  const auto put = [&](const void* data, std::size_t nbytes) {
    checksum.process_bytes(data, nbytes);
    output.write(data, nbytes);
  };
  const auto put_word = [&](std::uint64_t word) {
    word = little_endian(word);
    put(&word, word_nbytes);
  };
  for (const std::uint64_t word :
       {magic, header.token, header.previous_token, header.previous_identity, header.table_nbytes,
        header.tile_nbytes, header.count}) {
    put_word(word);
  }
  for (const std::uint64_t tile : changed) {
    put_word(tile);
  }
  for (const std::uint64_t tile : changed) {
    const auto bytes = table.tile(tile);
    put(bytes.data(), bytes.size());
  }
  const std::uint32_t identity = checksum.checksum();
  put_word(identity);
  output.commit();
  return identity;
}

/// Throws Failure if the file cannot be read, is not a delta, is damaged, or has the wrong name.
inline Delta read_delta(const fs::path& file) {
  const std::vector<char> bytes = read_file(file);
  if (bytes.size() < header_nbytes + word_nbytes || word_at(bytes.data()) != magic) {
    throw Failure(file.string() + " is not a delta: it does not begin with BYREDEL2.");
  }
  const std::size_t end = bytes.size() - word_nbytes;
  Checksum checksum;
  checksum.process_bytes(bytes.data(), end);
  if (checksum.checksum() != word_at(&bytes[end])) {
    throw Failure(file.string() + " is damaged or truncated: its CRC-32 is " +
                  format("%08x", static_cast<unsigned>(checksum.checksum())) +
                  ". Use a backup of the file, or restore an earlier snapshot.");
  }
  const auto field = [&](std::size_t number) { return word_at(&bytes[number * word_nbytes]); };
  Delta delta{
      {field(1), field(2), field(3), field(4), field(5), field(6)}, checksum.checksum(), {}, {}};
  if (delta.header.count <= (end - header_nbytes) / word_nbytes) {
    for (std::size_t index = 0; index < delta.header.count; ++index) {
      delta.tiles.push_back(field(7 + index));
    }
    delta.bytes.assign(&bytes[header_nbytes + delta.tiles.size() * word_nbytes], &bytes[end]);
  }
  if (delta.tiles.size() != delta.header.count || !is_consistent(delta)) {
    throw Failure(file.string() + " is not a delta: its tiles do not fit its table.");
  }
  const auto name = snapshot_file("", delta.header.token, delta_extension);
  if (file.filename() != name) {
    throw Failure(file.string() + " has a wrong name: it is the delta of token " +
                  std::to_string(delta.header.token) + ". Rename it to " + name.string() + ".");
  }
  return delta;
}

}  // namespace examples::live_checkpoint
