// SPDX-License-Identifier: BSL-1.0
#include <byre/interop/detail/zip_records.hpp>

#include <algorithm>

namespace byre::inline v0::detail {
namespace {

constexpr std::uint16_t zip64_field = 1;
constexpr std::uint16_t alignment_field = 0xA11E;
constexpr std::uint16_t alignment_of_data = 64;
constexpr std::size_t field_header_nbytes = 4;
/// What a reader has to know: version 4.5 of the format has zip64.
constexpr std::uint16_t plain_version = 20;
constexpr std::uint16_t zip64_version = 45;
constexpr std::uint16_t made_on_unix = 3 << 8;
constexpr std::uint16_t first_of_january_1980 = 1 << 5 | 1;
constexpr std::uint32_t plain_file = 0100644;
/// Well below the limit of 32 bits, as deflated data may be a little larger.
constexpr std::uint64_t least_zip64_nbytes = std::uint64_t{1} << 31;

class Record {
 public:
  void put(std::uint64_t number, std::size_t nbytes) {
    for (std::size_t at = 0; at < nbytes; ++at) {
      bytes_ += static_cast<char>(number >> 8 * at & 0xFF);
    }
  }
  void u16(std::uint64_t number) { put(number, 2); }
  void u32(std::uint64_t number) { put(number, 4); }
  void u64(std::uint64_t number) { put(number, 8); }
  void text(std::string_view text) { bytes_ += text; }
  void zeros(std::size_t count) { bytes_.append(count, '\0'); }

  std::size_t nbytes() const noexcept { return bytes_.size(); }
  std::string take() noexcept { return std::move(bytes_); }

 private:
  std::string bytes_;
};

bool is_large(const ZipMember& member) noexcept {
  return member.nbytes >= least_zip64_nbytes;
}

bool is_far(const ZipMember& member) noexcept {
  return member.header_offset >= zip_saturated_32;
}

/// From the version on that is needed to the sizes, which both kinds of headers have.
void put_common(Record& record, const ZipMember& member, const ZipMember& numbers, bool is_zip64) {
  record.u16(is_zip64 ? zip64_version : plain_version);
  record.u16(member.flags);
  record.u16(static_cast<std::uint16_t>(member.method));
  record.u16(0);  // midnight
  record.u16(first_of_january_1980);
  record.u32(numbers.crc);
  record.u32(is_large(member) ? zip_saturated_32 : numbers.packed_nbytes);
  record.u32(is_large(member) ? zip_saturated_32 : numbers.nbytes);
  record.u16(member.name.size());
}

/// How many bytes of extra fields follow a header that has `nbytes` without them.
std::size_t padding_nbytes(std::uint64_t header_offset, std::size_t nbytes) noexcept {
  constexpr std::size_t least = field_header_nbytes + sizeof(alignment_of_data);
  const auto missing = static_cast<std::size_t>(
      (alignment_of_data - (header_offset + nbytes) % alignment_of_data) % alignment_of_data);
  return missing == 0 || missing >= least ? missing : missing + alignment_of_data;
}

void put_padding(Record& record, std::size_t nbytes) {
  if (nbytes != 0) {
    record.u16(alignment_field);
    record.u16(nbytes - field_header_nbytes);
    record.u16(alignment_of_data);
    record.zeros(nbytes - field_header_nbytes - sizeof(alignment_of_data));
  }
}

}  // namespace

std::string zip_local_header(const ZipMember& member) {
  const ZipMember numbers = member.has_descriptor() ? ZipMember{} : member;
  const std::size_t zip64_nbytes = is_large(member) ? field_header_nbytes + 16 : 0;
  const std::size_t padding = padding_nbytes(
      member.header_offset, zip_local_header_nbytes + member.name.size() + zip64_nbytes);
  Record record;
  record.u32(zip_local_header_signature);
  put_common(record, member, numbers, is_large(member));
  record.u16(zip64_nbytes + padding);
  record.text(member.name);
  if (is_large(member)) {
    record.u16(zip64_field);
    record.u16(16);
    record.u64(numbers.nbytes);
    record.u64(numbers.packed_nbytes);
  }
  put_padding(record, padding);
  return record.take();
}

std::string zip_descriptor(const ZipMember& member) {
  const std::size_t size_nbytes = is_large(member) ? 8 : 4;
  Record record;
  record.u32(zip_descriptor_signature);
  record.u32(member.crc);
  record.put(member.packed_nbytes, size_nbytes);
  record.put(member.nbytes, size_nbytes);
  return record.take();
}

std::string zip_directory_record(const ZipMember& member) {
  const bool is_zip64 = is_large(member) || is_far(member);
  const std::size_t zip64_nbytes =
      (is_large(member) ? std::size_t{16} : 0) + (is_far(member) ? 8 : 0);
  Record record;
  record.u32(zip_directory_record_signature);
  record.u16(made_on_unix | zip64_version);
  put_common(record, member, member, is_zip64);
  record.u16(is_zip64 ? field_header_nbytes + zip64_nbytes : 0);
  record.u16(0);  // no comment
  record.u16(0);  // the first disk
  record.u16(0);  // what is inside is not said
  record.u32(plain_file << 16);
  record.u32(is_far(member) ? zip_saturated_32 : member.header_offset);
  record.text(member.name);
  if (is_zip64) {
    record.u16(zip64_field);
    record.u16(zip64_nbytes);
  }
  if (is_large(member)) {
    record.u64(member.nbytes);
    record.u64(member.packed_nbytes);
  }
  if (is_far(member)) {
    record.u64(member.header_offset);
  }
  return record.take();
}

std::string zip_end(std::uint64_t count, std::uint64_t directory_offset,
                    std::uint64_t directory_nbytes) {
  Record record;
  if (count >= zip_saturated_16 || directory_offset >= zip_saturated_32 ||
      directory_nbytes >= zip_saturated_32) {
    record.u32(zip64_end_signature);
    record.u64(zip64_end_nbytes - 12);  // of what follows
    record.u16(made_on_unix | zip64_version);
    record.u16(zip64_version);
    record.u32(0);  // this disk, and
    record.u32(0);  // that of the directory
    record.u64(count);
    record.u64(count);
    record.u64(directory_nbytes);
    record.u64(directory_offset);
    record.u32(zip64_locator_signature);
    record.u32(0);  // the disk of the record above
    record.u64(directory_offset + directory_nbytes);
    record.u32(1);  // disks
  }
  record.u32(zip_end_signature);
  record.u16(0);
  record.u16(0);
  const std::uint64_t short_count = std::min<std::uint64_t>(count, zip_saturated_16);
  record.u16(short_count);
  record.u16(short_count);
  record.u32(std::min<std::uint64_t>(directory_nbytes, zip_saturated_32));
  record.u32(std::min<std::uint64_t>(directory_offset, zip_saturated_32));
  record.u16(0);  // no comment
  return record.take();
}

std::span<const std::byte> ZipFields::take(std::size_t nbytes) noexcept {
  const std::span<const std::byte> taken = bytes_.first(nbytes);
  bytes_ = bytes_.subspan(nbytes);
  return taken;
}

std::string_view ZipFields::text(std::size_t nbytes) noexcept {
  const std::span<const std::byte> taken = take(nbytes);
  return {reinterpret_cast<const char*>(taken.data()), taken.size()};
}

std::uint64_t ZipFields::number(std::size_t nbytes) noexcept {
  const std::span<const std::byte> taken = take(nbytes);
  std::uint64_t number = 0;
  for (std::size_t at = nbytes; at-- > 0;) {
    number = number << 8 | static_cast<std::uint64_t>(taken[at]);
  }
  return number;
}

Zip64Field take_zip64_field(std::span<const std::byte> extra, ZipMember& member) {
  constexpr std::uint64_t saturated = zip_saturated_32;
  constexpr const char* cut_short = "has extra fields that are cut short";
  std::span<const std::byte> numbers;
  Zip64Field found;
  for (ZipFields fields(extra); fields.left() != 0;) {
    if (fields.left() < field_header_nbytes) {
      return {found.is_there, cut_short};
    }
    const std::uint16_t id = fields.u16();
    const std::size_t nbytes = fields.u16();
    if (nbytes > fields.left()) {
      return {found.is_there, cut_short};
    }
    const std::span<const std::byte> field = fields.take(nbytes);
    if (id == zip64_field) {
      found.is_there = true;
      numbers = field;
    }
  }
  ZipFields fields(numbers);
  for (std::uint64_t* const number :
       {&member.nbytes, &member.packed_nbytes, &member.header_offset}) {
    if (*number == saturated) {
      if (fields.left() < sizeof(std::uint64_t)) {
        return {found.is_there, "has a number that its zip64 field lacks"};
      }
      *number = fields.u64();
    }
  }
  return found;
}

}  // namespace byre::inline v0::detail
