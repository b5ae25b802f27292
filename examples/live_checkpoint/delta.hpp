// SPDX-License-Identifier: BSL-1.0
/// A delta: a file of those tiles of a table that changed since the snapshot before. It is made of little-endian words of
/// 64 bits and the bytes of tiles:
///
///     word    "BYREDEL2"
///     word    token of the snapshot
///     word    token of the snapshot before
///     word    identity of the snapshot before
///     word    bytes of the table
///     word    bytes of a tile; the table's last one may have fewer
///     word    count of tiles in this file
///     words   their numbers, from 0 on and in ascending order
///     bytes   of the tiles, in the same order
///     word    CRC-32 of all of the above
///
/// The identity of a snapshot is the CRC-32 of its full file, or the one at the end of its delta.
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
  std::vector<char> bytes;  ///< of the tiles

  /// Writes the tiles to the `table` they are of.
  void apply_to(std::span<char> table) const {
    const char* from = bytes.data();
    for (const std::uint64_t tile : tiles) {
      const std::uint64_t nbytes = nbytes_of(tile, header);
      std::memcpy(&table[tile * header.tile_nbytes], from, nbytes);
      from += nbytes;
    }
  }
};

/// True if the numbers are those of tiles of the table, in order, and the bytes are theirs.
inline bool makes_sense(const Delta& delta) {
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

/// Writes `file` with the tiles of `table` that are numbered in `changed`, in ascending order. Returns its identity.
/// Throws byre::FileError.
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

/// Throws Failure for a file that cannot be read, is no delta, is damaged, or has another name than its snapshot.
inline Delta read_delta(const fs::path& file) {
  const std::vector<char> bytes = read_file(file);
  if (bytes.size() < header_nbytes + word_nbytes || word_at(bytes.data()) != magic) {
    throw Failure(file.string() + " is no delta: it does not begin as one.");
  }
  const std::size_t end = bytes.size() - word_nbytes;
  Checksum checksum;
  checksum.process_bytes(bytes.data(), end);
  if (checksum.checksum() != word_at(&bytes[end])) {
    throw Failure(file.string() + " is damaged or cut short: its CRC-32 is " +
                  format("%08x", static_cast<unsigned>(checksum.checksum())) +
                  ". Take it from a copy, or restore a snapshot before it.");
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
  if (delta.tiles.size() != delta.header.count || !makes_sense(delta)) {
    throw Failure(file.string() + " is no delta: its tiles are not those of a table.");
  }
  const auto name = snapshot_file("", delta.header.token, delta_extension);
  if (file.filename() != name) {
    throw Failure(file.string() + " is the delta of token " + std::to_string(delta.header.token) +
                  " under another name. Name it " + name.string() + ".");
  }
  return delta;
}

}  // namespace examples::live_checkpoint
