// SPDX-License-Identifier: BSL-1.0
#include "delta.hpp"

#include "checksum.hpp"
#include "failure.hpp"
#include "snapshot_files.hpp"

#include <byre/files/output_file.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace examples::live_checkpoint {
namespace {

constexpr std::string_view magic = "BYREDELT";
constexpr std::uint32_t version = 1;
constexpr std::size_t crc32_end = 16;  ///< what follows is what the CRC-32 is of

void put(char* to, std::uint64_t value, std::size_t nbytes) noexcept {
  for (std::size_t byte = 0; byte < nbytes; ++byte) {
    to[byte] = static_cast<char>(value >> (8 * byte));
  }
}

std::uint64_t get(const char* from, std::size_t nbytes) noexcept {
  std::uint64_t value = 0;
  for (std::size_t byte = 0; byte < nbytes; ++byte) {
    value |= std::uint64_t{static_cast<unsigned char>(from[byte])} << (8 * byte);
  }
  return value;
}

std::uint32_t get_u32(const char* from) noexcept {
  return static_cast<std::uint32_t>(get(from, 4));
}

using Bytes = std::array<char, delta_header_nbytes>;

Bytes encode(const DeltaHeader& header) noexcept {
  Bytes bytes{};
  char* const to = bytes.data();
  std::memcpy(to, magic.data(), magic.size());
  put(to + 8, version, 4);
  put(to + 12, header.crc32, 4);
  put(to + 16, header.token, 8);
  put(to + 24, header.previous_token, 8);
  put(to + 32, header.previous_crc32, 4);
  put(to + 40, header.table_nbytes, 8);
  put(to + 48, header.tile_nbytes, 8);
  put(to + 56, header.count, 8);
  return bytes;
}

DeltaHeader decode(const char* from) noexcept {
  DeltaHeader header;
  header.crc32 = get_u32(from + 12);
  header.token = get(from + 16, 8);
  header.previous_token = get(from + 24, 8);
  header.previous_crc32 = get_u32(from + 32);
  header.table_nbytes = get(from + 40, 8);
  header.tile_nbytes = get(from + 48, 8);
  header.count = get(from + 56, 8);
  return header;
}

/// Of a table's tile, which may be its last.
std::uint64_t nbytes_of(std::uint64_t tile, const DeltaHeader& header) noexcept {
  return std::min(header.tile_nbytes, header.table_nbytes - tile * header.tile_nbytes);
}

std::uint64_t tiles_of(const DeltaHeader& header) noexcept {
  return header.table_nbytes / header.tile_nbytes +
         (header.table_nbytes % header.tile_nbytes != 0 ? 1 : 0);
}

/// What follows the header, as piece(data, nbytes).
template <class Piece>
void for_each_piece(const std::vector<std::uint64_t>& changed, const byre::TiledBuffer& table,
                    Piece piece) {
  for (const std::uint64_t tile : changed) {
    char number[tile_number_nbytes];
    put(number, tile, sizeof number);
    piece(number, sizeof number);
  }
  for (const std::uint64_t tile : changed) {
    const auto bytes = table.tile(tile);
    piece(bytes.data(), bytes.size());
  }
}

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& why) {
  throw Failure(file.string() + " " + why + ".");
}

/// `bytes` may be anything that begins with the header of a delta.
void throw_if_damaged(const DeltaHeader& header, const std::vector<char>& bytes,
                      const std::filesystem::path& file) {
  const std::string fetch = " Take it from a copy, or restore a snapshot before it";
  if (get_u32(bytes.data() + 8) != version) {
    refuse(file, "is a delta of version " + std::to_string(get_u32(bytes.data() + 8)) +
                     ", and this program reads version " + std::to_string(version));
  }
  Checksum checksum;
  checksum.add(bytes.data() + crc32_end, bytes.size() - crc32_end);
  if (checksum.value() != header.crc32) {
    refuse(file, "is damaged or cut short: its " + std::to_string(bytes.size()) +
                     " bytes have the CRC-32 " + to_hex(checksum.value()) +
                     ", and it was written with " + to_hex(header.crc32) + "." + fetch);
  }
  if (header.tile_nbytes == 0 || header.count > tiles_of(header) ||
      header.count > (bytes.size() - delta_header_nbytes) / tile_number_nbytes ||
      header.previous_token >= header.token) {
    refuse(file, "is no delta: " + std::to_string(header.count) + " tiles of " +
                     std::to_string(header.tile_nbytes) + " bytes, of a table of " +
                     std::to_string(header.table_nbytes) + ", from token " +
                     std::to_string(header.previous_token) + " to " + std::to_string(header.token) +
                     ", make no sense");
  }
  const std::filesystem::path name = snapshot_file("", header.token, delta_extension);
  if (file.filename() != name) {
    refuse(file, "is the delta of token " + std::to_string(header.token) +
                     " under another name. Name it " + name.string());
  }
}

}  // namespace

DeltaHeader write_delta(const std::filesystem::path& file, DeltaHeader header,
                        const std::vector<std::uint64_t>& changed, const byre::TiledBuffer& table) {
  header.table_nbytes = table.nbytes();
  header.tile_nbytes = table.tile_nbytes();
  header.count = changed.size();

  // Read twice, because the CRC-32 comes before what it is of.
  Checksum checksum;
  const Bytes unsigned_header = encode(header);
  checksum.add(&unsigned_header[crc32_end], unsigned_header.size() - crc32_end);
  for_each_piece(changed, table,
                 [&](const void* data, std::size_t nbytes) { checksum.add(data, nbytes); });
  header.crc32 = checksum.value();

  byre::OutputFile output(file);
  output.write(encode(header).data(), delta_header_nbytes);
  for_each_piece(changed, table,
                 [&](const void* data, std::size_t nbytes) { output.write(data, nbytes); });
  output.commit();
  return header;
}

void Delta::apply_to(std::span<char> table) const {
  const char* from = bytes.data();
  for (const std::uint64_t tile : tiles) {
    const std::uint64_t nbytes = nbytes_of(tile, header);
    std::memcpy(&table[tile * header.tile_nbytes], from, nbytes);
    from += nbytes;
  }
}

Delta read_delta(const std::filesystem::path& file) {
  std::vector<char> bytes = read_file(file);
  if (bytes.size() < delta_header_nbytes ||
      std::memcmp(bytes.data(), magic.data(), magic.size()) != 0) {
    refuse(file, "is no delta: it does not begin as one");
  }
  Delta delta;
  delta.header = decode(bytes.data());
  throw_if_damaged(delta.header, bytes, file);
  const char* number = bytes.data() + delta_header_nbytes;
  std::uint64_t nbytes = 0;
  for (std::uint64_t index = 0; index < delta.header.count; ++index, number += tile_number_nbytes) {
    const std::uint64_t tile = get(number, tile_number_nbytes);
    if (tile >= tiles_of(delta.header) || (index != 0 && tile <= delta.tiles.back())) {
      refuse(file, "is no delta: tile " + std::to_string(tile) + " of " +
                       std::to_string(tiles_of(delta.header)) + " is not in its place");
    }
    delta.tiles.push_back(tile);
    nbytes += nbytes_of(tile, delta.header);
  }
  bytes.erase(bytes.begin(), bytes.begin() + (number - bytes.data()));
  if (bytes.size() != nbytes) {
    refuse(file, "is no delta: its tiles have " + std::to_string(nbytes) + " bytes, and " +
                     std::to_string(bytes.size()) + " are there");
  }
  delta.bytes = std::move(bytes);
  return delta;
}

}  // namespace examples::live_checkpoint
