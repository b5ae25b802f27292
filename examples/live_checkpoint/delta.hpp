// SPDX-License-Identifier: BSL-1.0
/// A delta: a file with the changes of a table since the previous snapshot. It consists of
/// little-endian 64-bit words and of blocks:
///
///     word    "BYREDEL3"
///     word    token of the snapshot
///     word    token of the previous snapshot
///     word    identity of the previous snapshot
///     word    size of the table in bytes
///     word    size of a tile in bytes; the last tile of the table may be smaller
///     word    size of an element in bytes: 4
///     blocks  of element_delta.hpp, until the last word of the file
///     word    CRC-32 of all of the above
///
/// The identity of a snapshot is the CRC-32 of its full file, or the CRC-32 at the end of its
/// delta.
#pragma once

#include "element_delta.hpp"
#include "files.hpp"

#include <byre/files/output_file.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace examples::live_checkpoint {

inline constexpr std::string_view magic = "BYREDEL3";
inline constexpr std::size_t header_nbytes = 7 * word_nbytes;

struct DeltaHeader {
  std::uint64_t token;
  std::uint64_t previous_token;
  std::uint64_t previous_identity;
  std::uint64_t table_nbytes;
  std::uint64_t tile_nbytes;
};

/// Writes a delta, tile by tile. Keeps one block of about 1 MiB in memory. Not thread-safe. The
/// members may throw byre::FileError and std::bad_alloc.
class DeltaWriter {
 public:
  /// `level` is the level of zstd, or 0 for no compression.
  DeltaWriter(const fs::path& file, const DeltaHeader& header, int level)
      : level_(level), output_(file) {
    Bytes words;
    for (const char letter : magic) {
      words.push_back(static_cast<std::byte>(letter));
    }
    for (const std::uint64_t word : {header.token, header.previous_token, header.previous_identity,
                                     header.table_nbytes, header.tile_nbytes}) {
      put_word(word, words);
    }
    put_word(element_nbytes, words);
    put(words);
  }

  /// Adds tile `tile`, as BlockEncoder::add() does.
  void add(std::uint64_t tile, std::span<const std::byte> before, std::span<const std::byte> now) {
    encoder_.add(tile, before, now);
    if (encoder_.nbytes() >= block_nbytes) {
      put(encoder_.take_block(level_));
    }
  }

  /// Writes the last block. The tiles are not needed from here on.
  void finish() {
    if (encoder_.nbytes() != 0) {
      put(encoder_.take_block(level_));
    }
  }

  /// Waits for the disk and gives the file its name. Requires finish(). Returns the identity of the
  /// snapshot.
  std::uint32_t commit() {
    Bytes word;
    put_word(checksum_.checksum(), word);
    output_.write(word.data(), word.size());
    output_.commit();
    return checksum_.checksum();
  }

  const ChangeSizes& sizes() const noexcept { return encoder_.sizes(); }

 private:
  static constexpr std::size_t block_nbytes = std::size_t{1} << 20;

  void put(const Bytes& bytes) {
    checksum_.process_bytes(bytes.data(), bytes.size());
    output_.write(bytes.data(), bytes.size());
  }

  int level_;
  byre::OutputFile output_;
  Checksum checksum_;
  BlockEncoder encoder_;
};

/// A delta in memory.
struct Delta {
  fs::path file;
  DeltaHeader header;
  std::uint32_t identity;
  std::vector<char> bytes;  ///< of the file

  /// Changes `table`, which must be the table of the previous snapshot. Throws Failure if the
  /// blocks do not fit the table, which then has some of the changes.
  void apply_to(std::span<char> table) const {
    const auto all = std::as_bytes(std::span(bytes));
    Cursor blocks(all.subspan(header_nbytes, all.size() - header_nbytes - word_nbytes));
    BlockDecoder decoder(std::as_writable_bytes(table), header.tile_nbytes);
    try {
      while (!blocks.is_at_end()) {
        decoder.apply(blocks);
      }
    } catch (const Malformed& malformed) {
      throw Failure(file.string() + " is malformed: " + malformed.what() +
                    ". Use a backup of the file, or restore an earlier snapshot.");
    } catch (const Failure& failure) {
      throw Failure("Cannot restore " + file.string() + ": " + failure.what() + ".");
    }
  }
};

/// Throws Failure if the file cannot be read, is not a delta, is damaged, or has the wrong name.
/// Leaves the blocks to Delta::apply_to(), which has the table that bounds their sizes.
inline Delta read_delta(const fs::path& file) {
  std::vector<char> bytes = read_file(file);
  const std::string_view text(bytes.data(), bytes.size());
  const std::string_view name_of_format = magic.substr(0, magic.size() - 1);
  if (bytes.size() < header_nbytes + word_nbytes || !text.starts_with(name_of_format)) {
    throw Failure(file.string() + " is not a delta: it does not begin with " + std::string(magic) +
                  ".");
  }
  if (!text.starts_with(magic)) {
    throw Failure(file.string() + " is a delta of version " +
                  std::string(text.substr(name_of_format.size(), 1)) + ", supported is version " +
                  std::string(magic.substr(name_of_format.size())) +
                  ". Restore it with the version of this program that wrote it.");
  }
  const std::size_t end = bytes.size() - word_nbytes;
  Checksum checksum;
  checksum.process_bytes(bytes.data(), end);
  Cursor words(std::as_bytes(std::span(bytes)).subspan(end));
  if (checksum.checksum() != words.word()) {
    throw Failure(file.string() + " is damaged or truncated: its CRC-32 is " +
                  format("%08x", static_cast<unsigned>(checksum.checksum())) +
                  ". Use a backup of the file, or restore an earlier snapshot.");
  }
  words = Cursor(std::as_bytes(std::span(bytes)).subspan(magic.size()));
  const DeltaHeader header{words.word(), words.word(), words.word(), words.word(), words.word()};
  const std::uint64_t nbytes_of_element = words.word();
  if (nbytes_of_element != element_nbytes) {
    throw Failure(file.string() + " has elements of " + std::to_string(nbytes_of_element) +
                  " bytes, supported are " + std::to_string(element_nbytes) +
                  ". Restore it with the version of this program that wrote it.");
  }
  if (header.previous_token >= header.token || header.table_nbytes == 0 ||
      header.tile_nbytes == 0 || header.table_nbytes % element_nbytes != 0 ||
      header.tile_nbytes % element_nbytes != 0) {
    throw Failure(file.string() + " is not a delta: " +
                  format("token %llu after %llu, a table of %llu bytes in tiles of %llu.",
                         static_cast<unsigned long long>(header.token),
                         static_cast<unsigned long long>(header.previous_token),
                         static_cast<unsigned long long>(header.table_nbytes),
                         static_cast<unsigned long long>(header.tile_nbytes)));
  }
  const auto name = snapshot_file("", header.token, delta_extension);
  if (file.filename() != name) {
    throw Failure(file.string() + " has a wrong name: it is the delta of token " +
                  std::to_string(header.token) + ". Rename it to " + name.string() + ".");
  }
  return {file, header, checksum.checksum(), std::move(bytes)};
}

}  // namespace examples::live_checkpoint
