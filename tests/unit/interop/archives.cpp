// SPDX-License-Identifier: BSL-1.0
#include "archives.hpp"

#include <byre/interop/npy_header.hpp>

namespace byre::test {

std::string little_endian(std::uint64_t number, std::size_t nbytes) {
  std::string bytes;
  for (std::size_t at = 0; at < nbytes; ++at) {
    bytes += static_cast<char>(number >> 8 * at & 0xFF);
  }
  return bytes;
}

void patch(std::string& bytes, std::size_t offset, std::uint64_t number, std::size_t nbytes) {
  bytes.replace(offset, nbytes, little_endian(number, nbytes));
}

std::uint32_t slow_crc(const std::string& bytes) {
  std::uint32_t crc = 0xFFFF'FFFF;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB8'8320U : 0U);
    }
  }
  return ~crc;
}

std::string deflated_as_they_are(const std::string& bytes) {
  return '\1' + little_endian(bytes.size(), 2) + little_endian(~bytes.size(), 2) + bytes;
}

std::string extra_field(unsigned id, const std::string& payload) {
  return little_endian(id, 2) + little_endian(payload.size(), 2) + payload;
}

std::string npy_of(const std::string& bytes) {
  return npy_header(DType::u8, {static_cast<std::int64_t>(bytes.size())}) + bytes;
}

ArchiveMember stored_member(const std::string& name, const std::string& data) {
  ArchiveMember member;
  member.name = name;
  member.data = member.packed = data;
  member.crc = slow_crc(data);
  return member;
}

ArchiveMember deflated_member(const std::string& name, const std::string& data) {
  ArchiveMember member = stored_member(name, data);
  member.packed = deflated_as_they_are(data);
  member.method = 8;
  return member;
}

namespace {

/// From the version to the sizes, which both headers have.
std::string common_of(const ArchiveMember& member) {
  return little_endian(20, 2) + little_endian(member.flags, 2) + little_endian(member.method, 2) +
         little_endian(0x21'0000, 4) + little_endian(member.crc, 4) +
         little_endian(member.packed.size(), 4) + little_endian(member.data.size(), 4) +
         little_endian(member.name.size(), 2);
}

std::string local_of(const ArchiveMember& member) {
  return "PK\3\4" + common_of(member) + little_endian(member.local_extra.size(), 2) + member.name +
         member.local_extra;
}

std::string record_of(const ArchiveMember& member, std::size_t offset) {
  return "PK\1\2" + little_endian(20, 2) + common_of(member) +
         little_endian(member.extra.size(), 2) + little_endian(member.comment.size(), 2) +
         little_endian(0, 8) + little_endian(offset, 4) + member.name + member.extra +
         member.comment;
}

}  // namespace

Archive archive_of(const std::vector<ArchiveMember>& members, const ArchiveShape& shape) {
  Archive archive;
  std::string& bytes = archive.bytes;
  bytes = shape.front;
  for (const ArchiveMember& member : members) {
    archive.locals.push_back(bytes.size());
    bytes += local_of(member) + member.packed + member.descriptor;
  }
  bytes += shape.behind;
  archive.directory = bytes.size();
  for (const ArchiveMember& member : members) {
    archive.records.push_back(bytes.size());
    bytes += record_of(member, archive.locals[archive.records.size() - 1]);
  }
  archive.zip64_end = bytes.size();
  const std::size_t directory_nbytes = bytes.size() - archive.directory;
  if (shape.has_zip64_end) {
    bytes += "PK\6\6" + little_endian(44, 8) + little_endian(45, 2) + little_endian(45, 2) +
             little_endian(0, 8) + little_endian(members.size(), 8) +
             little_endian(members.size(), 8) + little_endian(directory_nbytes, 8) +
             little_endian(archive.directory, 8);
    archive.locator = bytes.size();
    bytes +=
        "PK\6\7" + little_endian(0, 4) + little_endian(archive.zip64_end, 8) + little_endian(1, 4);
  }
  archive.end = bytes.size();
  bytes += "PK\5\6" + little_endian(0, 4) + little_endian(members.size(), 2) +
           little_endian(members.size(), 2) + little_endian(directory_nbytes, 4) +
           little_endian(archive.directory, 4) + little_endian(shape.comment.size(), 2) +
           shape.comment;
  return archive;
}

}  // namespace byre::test
