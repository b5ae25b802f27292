// SPDX-License-Identifier: BSL-1.0
/// The records of a zip archive as bytes: written, and read from bytes that are there. Pure functions; zip_directory.hpp
/// reads them where they are in a file, and zip_writer.hpp writes files of them.
///
/// An archive is members, each a local header and data, perhaps a descriptor; then the directory, a record of each
/// member; then the end record. Numbers that are too large for their field are in a zip64 field, or in the zip64 end
/// record and its locator, which are in front of the end record.
///
/// Source: PKWARE's APPNOTE.TXT 6.3.10, sections 4.3 to 4.5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace byre::inline v0::detail {

enum class ZipMethod : std::uint16_t { stored = 0, deflated = 8 };

/// Bits of a member's flags.
namespace zip_flags {
inline constexpr std::uint16_t encrypted = 1 << 0;
inline constexpr std::uint16_t deflate_options =
    1 << 1 | 1 << 2;                                 // say nothing that a reader needs
inline constexpr std::uint16_t descriptor = 1 << 3;  // sizes and CRC follow the data
inline constexpr std::uint16_t strongly_encrypted = 1 << 6;
inline constexpr std::uint16_t utf8 = 1 << 11;
inline constexpr std::uint16_t headers_encrypted = 1 << 13;
}  // namespace zip_flags

struct ZipMember {
  std::string name;
  std::uint16_t flags = 0;
  ZipMethod method = ZipMethod::stored;
  std::uint32_t crc = 0;
  std::uint64_t packed_nbytes = 0;  ///< in the archive
  std::uint64_t nbytes = 0;
  std::uint64_t header_offset = 0;
  std::uint64_t data_offset = 0;  ///< follows from the local header

  bool has_descriptor() const noexcept { return (flags & zip_flags::descriptor) != 0; }
};

inline constexpr std::size_t zip_local_header_nbytes = 30;
inline constexpr std::size_t zip_directory_record_nbytes = 46;
inline constexpr std::size_t zip_end_nbytes = 22;
inline constexpr std::size_t zip64_end_nbytes = 56;
inline constexpr std::size_t zip64_locator_nbytes = 20;
inline constexpr std::size_t zip_comment_max_nbytes = 0xFFFF;

inline constexpr std::uint32_t zip_local_header_signature = 0x04034B50;
inline constexpr std::uint32_t zip_directory_record_signature = 0x02014B50;
inline constexpr std::uint32_t zip_descriptor_signature = 0x08074B50;
inline constexpr std::uint32_t zip_end_signature = 0x06054B50;
inline constexpr std::uint32_t zip64_end_signature = 0x06064B50;
inline constexpr std::uint32_t zip64_locator_signature = 0x07064B50;

/// What a field has whose number is elsewhere.
inline constexpr std::uint16_t zip_saturated_16 = 0xFFFF;
inline constexpr std::uint32_t zip_saturated_32 = 0xFFFF'FFFF;

// ---- written

/// With which the data that follow begin at a multiple of 64 bytes. Sizes and CRC are left out if a descriptor has
/// them.
std::string zip_local_header(const ZipMember& member);
/// What follows the data of a member that has one.
std::string zip_descriptor(const ZipMember& member);
std::string zip_directory_record(const ZipMember& member);
/// All that is behind a directory of `count` records.
std::string zip_end(std::uint64_t count, std::uint64_t directory_offset,
                    std::uint64_t directory_nbytes);

// ---- read

/// Numbers one after the other, the least significant byte first. Who reads has seen that they are there.
class ZipFields {
 public:
  explicit ZipFields(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  std::size_t left() const noexcept { return bytes_.size(); }
  std::uint16_t u16() noexcept { return static_cast<std::uint16_t>(number(2)); }
  std::uint32_t u32() noexcept { return static_cast<std::uint32_t>(number(4)); }
  std::uint64_t u64() noexcept { return number(8); }
  std::span<const std::byte> take(std::size_t nbytes) noexcept;
  std::string_view text(std::size_t nbytes) noexcept;

 private:
  std::uint64_t number(std::size_t nbytes) noexcept;

  std::span<const std::byte> bytes_;
};

/// What was found among the extra fields of a record.
struct Zip64Field {
  bool is_there = false;
  const char* wrong = nullptr;  ///< what is wrong with the extra fields, or null
};
/// Takes the numbers of the zip64 field in place of those that are saturated.
Zip64Field take_zip64_field(std::span<const std::byte> extra, ZipMember& member);

}  // namespace byre::inline v0::detail
