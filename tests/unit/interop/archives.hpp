// SPDX-License-Identifier: BSL-1.0
/// Zip archives that tests build byte by byte, without libzip: valid archives, and archives with a
/// defect.
#pragma once

#include <byre/interop/npy_header.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "stored_tensors.hpp"

namespace byre::test {

/// Computes a CRC-32 bit by bit, without zlib.
inline std::uint32_t slow_crc(const std::string& bytes) {
  std::uint32_t crc = 0xFFFF'FFFF;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB8'8320U : 0U);
    }
  }
  return ~crc;
}

/// A .npy file of dtype u8 whose elements are `bytes`.
inline std::string npy_of(const std::string& bytes) {
  return npy_header(DType::u8, {static_cast<std::int64_t>(bytes.size())}) + bytes;
}

/// An extra field of a zip header.
inline std::string extra_field(unsigned id, const std::string& payload) {
  return little_endian(id, 2) + little_endian(payload.size(), 2) + payload;
}

/// A member of an archive. Its local header equals the directory's record, except for the extra
/// field.
struct ArchiveMember {
  std::string name = "a.npy";
  std::string data;  ///< the inflated bytes
  std::string packed = data;
  unsigned flags = 0;
  unsigned method = 0;
  std::uint32_t crc = slow_crc(data);
  std::string extra = {};        ///< extra fields of the directory's record
  std::string local_extra = {};  ///< extra fields of the local header
  std::string descriptor = {};
  std::string comment = {};
};

/// Packs the data as one block without compression. Requires less than 64 KiB of data.
inline ArchiveMember deflated(ArchiveMember member) {
  const std::size_t nbytes = member.data.size();
  member.packed = '\1' + little_endian(nbytes, 2) + little_endian(~nbytes, 2) + member.data;
  member.method = 8;
  return member;
}

struct ArchiveShape {
  std::string front = {};   ///< bytes before the first member
  std::string behind = {};  ///< bytes between the last member and the directory
  std::string comment = {};
  bool has_zip64_end = false;
};

/// A record: the local header or directory record of the first or second member, or a record at the
/// end.
enum Place : std::size_t { local, record, zip64_end, locator, end, second_local, second_record };

struct Archive {
  std::string bytes;
  std::array<std::size_t, 7> places{};

  /// Overwrites the number at `offset` in a record.
  void change(Place place, std::size_t offset, std::uint64_t number, std::size_t nbytes) {
    bytes.replace(places[place] + offset, nbytes, little_endian(number, nbytes));
  }
  /// Replaces 32-bit numbers by the mark that their value is in a zip64 field.
  void move_to_zip64(std::initializer_list<std::pair<Place, std::size_t>> numbers) {
    for (const auto& [place, offset] : numbers) {
      change(place, offset, ~0U, 4);
    }
  }
};

inline Archive archive_of(const std::vector<ArchiveMember>& members,
                          const ArchiveShape& shape = {}) {
  Archive archive{shape.front, {}};
  std::string& bytes = archive.bytes;
  std::string directory;
  for (std::size_t number = 0; number < members.size(); ++number) {
    const ArchiveMember& member = members[number];
    const std::string common =
        little_endian(20, 2) + little_endian(member.flags, 2) + little_endian(member.method, 2) +
        little_endian(0x21'0000, 4) + little_endian(member.crc, 4) +
        little_endian(member.packed.size(), 4) + little_endian(member.data.size(), 4) +
        little_endian(member.name.size(), 2);
    archive.places[number == 0 ? record : second_record] = directory.size();
    directory += "PK\1\2" + little_endian(20, 2) + common + little_endian(member.extra.size(), 2) +
                 little_endian(member.comment.size(), 2) + little_endian(0, 8) +
                 little_endian(bytes.size(), 4) + member.name + member.extra + member.comment;
    archive.places[number == 0 ? local : second_local] = bytes.size();
    bytes += "PK\3\4" + common + little_endian(member.local_extra.size(), 2) + member.name +
             member.local_extra + member.packed + member.descriptor;
  }
  bytes += shape.behind;
  const std::size_t begin = bytes.size();
  archive.places[record] += begin;
  archive.places[second_record] += begin;
  bytes += directory;
  archive.places[zip64_end] = bytes.size();
  const std::string count = little_endian(members.size(), 8);
  if (shape.has_zip64_end) {
    bytes += "PK\6\6" + little_endian(44, 8) + little_endian(45, 2) + little_endian(45, 2) +
             little_endian(0, 8) + count + count + little_endian(directory.size(), 8) +
             little_endian(begin, 8);
    archive.places[locator] = bytes.size();
    bytes += "PK\6\7" + little_endian(0, 4) + little_endian(archive.places[zip64_end], 8) +
             little_endian(1, 4);
  }
  archive.places[end] = bytes.size();
  bytes += "PK\5\6" + little_endian(0, 4) + count.substr(0, 2) + count.substr(0, 2) +
           little_endian(directory.size(), 4) + little_endian(begin, 4) +
           little_endian(shape.comment.size(), 2) + shape.comment;
  return archive;
}

}  // namespace byre::test
