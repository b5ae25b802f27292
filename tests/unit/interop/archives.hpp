// SPDX-License-Identifier: BSL-1.0
/// Zip archives that tests make byte by byte, without the library: as they should be, or with something wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace byre::test {

/// The least significant byte first.
std::string little_endian(std::uint64_t number, std::size_t nbytes);
/// Overwrites a number.
void patch(std::string& bytes, std::size_t offset, std::uint64_t number, std::size_t nbytes);
/// CRC-32, bit by bit.
std::uint32_t slow_crc(const std::string& bytes);
/// Deflated data that are these bytes, of which there are less than 64 KiB: one block that is not compressed.
std::string deflated_as_they_are(const std::string& bytes);
/// A field of a header.
std::string extra_field(unsigned id, const std::string& payload);
/// A .npy file of one byte for each of `bytes`.
std::string npy_of(const std::string& bytes);

/// What one member is made of. A local header has what is said of the member, unless it says something else.
struct ArchiveMember {
  std::string name = "a.npy";
  std::string data;  ///< inflated
  std::string packed;
  unsigned flags = 0;
  unsigned method = 0;
  std::uint32_t crc = 0;
  std::string extra;        ///< of the directory's record
  std::string local_extra;  ///< of the local header
  std::string descriptor;
  std::string comment;
};

ArchiveMember stored_member(const std::string& name, const std::string& data);
ArchiveMember deflated_member(const std::string& name, const std::string& data);

/// An archive, and where its records are.
struct Archive {
  std::string bytes;
  std::vector<std::size_t> locals;
  std::vector<std::size_t> records;
  std::size_t directory = 0;
  std::size_t zip64_end = 0;
  std::size_t locator = 0;
  std::size_t end = 0;
};

struct ArchiveShape {
  std::string front = {};   ///< before the first member
  std::string behind = {};  ///< between the members and the directory
  std::string comment = {};
  bool has_zip64_end = false;
};

Archive archive_of(const std::vector<ArchiveMember>& members, const ArchiveShape& shape = {});

/// Where numbers are in the records.
namespace local_header {
inline constexpr std::size_t flags = 6, method = 8, crc = 14, packed = 18, nbytes = 22,
                             name_nbytes = 26, extra_nbytes = 28, name = 30;
}
namespace directory_record {
inline constexpr std::size_t flags = 8, method = 10, crc = 16, packed = 20, nbytes = 24,
                             name_nbytes = 28, disk = 34, offset = 42, name = 46;
}
namespace end_record {
inline constexpr std::size_t disk = 4, directory_disk = 6, count_here = 8, count = 10, nbytes = 12,
                             offset = 16, comment_nbytes = 20;
}
namespace zip64_end_record {
inline constexpr std::size_t size = 4, disk = 16, directory_disk = 20, count_here = 24, count = 32,
                             nbytes = 40, offset = 48;
}
namespace zip64_locator {
inline constexpr std::size_t disk = 4, offset = 8, disks = 16;
}

}  // namespace byre::test
