// SPDX-License-Identifier: BSL-1.0
// Archives that are not what they claim. Each is refused with a text that says what is wrong and names it, never
// read beyond its end, which AddressSanitizer would see: the bytes are in memory of just their size.
#include <byre/interop/npz.hpp>
#include <byre/memory/allocator.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>

#include "archives.hpp"
#include "support/complaint.hpp"
#include "support/random.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace {

/// What reading the bytes says.
std::string complaint_about_archive(const std::string& file) {
  const auto exact = std::make_unique_for_overwrite<std::byte[]>(file.size());
  std::memcpy(exact.get(), file.data(), file.size());
  return complaint_of<FileError>([&] { read_npz({exact.get(), file.size()}); });
}

struct MalformedArchive {
  const char* name;
  std::string file;
  std::string said;
  bool is_mapped_all_the_same = false;
};

void PrintTo(const MalformedArchive& archive, std::ostream* out) {
  *out << archive.name;
}

const std::string good_array = npy_of("\1\2\3");
const std::string other_array = npy_of("\4\5");

/// One stored member, or two, and one number of it that is another.
std::string with_record(std::size_t offset, std::uint64_t number, std::size_t nbytes,
                        const ArchiveMember& member = stored_member("a.npy", good_array)) {
  Archive archive = archive_of({member});
  patch(archive.bytes, archive.records[0] + offset, number, nbytes);
  return archive.bytes;
}

std::string with_local(std::size_t offset, std::uint64_t number, std::size_t nbytes,
                       const ArchiveMember& member = stored_member("a.npy", good_array)) {
  Archive archive = archive_of({member});
  patch(archive.bytes, archive.locals[0] + offset, number, nbytes);
  return archive.bytes;
}

std::string with_end(std::size_t offset, std::uint64_t number, std::size_t nbytes) {
  Archive archive = archive_of({stored_member("a.npy", good_array)});
  patch(archive.bytes, archive.end + offset, number, nbytes);
  return archive.bytes;
}

Archive zip64_archive() {
  return archive_of({stored_member("a.npy", good_array)}, {.has_zip64_end = true});
}

std::string with_zip64_end(std::size_t offset, std::uint64_t number, std::size_t nbytes) {
  Archive archive = zip64_archive();
  patch(archive.bytes, archive.zip64_end + offset, number, nbytes);
  return archive.bytes;
}

std::string with_locator(std::size_t offset, std::uint64_t number, std::size_t nbytes) {
  Archive archive = zip64_archive();
  patch(archive.bytes, archive.locator + offset, number, nbytes);
  return archive.bytes;
}

/// Of a zip64 archive, what the shorter end record says.
std::string with_short_end(std::size_t offset, std::uint64_t number, std::size_t nbytes) {
  Archive archive = zip64_archive();
  patch(archive.bytes, archive.end + offset, number, nbytes);
  return archive.bytes;
}

std::string edited(ArchiveMember member, const std::function<void(ArchiveMember&)>& edit) {
  edit(member);
  return archive_of({member}).bytes;
}

std::string stored_and(const std::function<void(ArchiveMember&)>& edit) {
  return edited(stored_member("a.npy", good_array), edit);
}

std::string deflated_and(const std::function<void(ArchiveMember&)>& edit) {
  return edited(deflated_member("a.npy", good_array), edit);
}

std::string named(const std::string& name) {
  return archive_of({stored_member(name, good_array)}).bytes;
}

/// Sizes in a zip64 field of the directory; a local header that is asked for them says so.
std::string with_zip64_sizes(std::uint64_t nbytes, std::uint64_t packed_nbytes) {
  Archive archive = archive_of({[&] {
    ArchiveMember member = stored_member("a.npy", good_array);
    member.extra = extra_field(1, little_endian(nbytes, 8) + little_endian(packed_nbytes, 8));
    return member;
  }()});
  patch(archive.bytes, archive.records[0] + directory_record::packed, 0xFFFF'FFFF, 4);
  patch(archive.bytes, archive.records[0] + directory_record::nbytes, 0xFFFF'FFFF, 4);
  return archive.bytes;
}

/// A number of the directory that is saturated, and the extra fields beside it.
std::string with_saturated(std::size_t offset, const std::string& extra) {
  ArchiveMember member = stored_member("a.npy", good_array);
  member.extra = extra;
  return with_record(offset, 0xFFFF'FFFF, 4, member);
}

std::string with_descriptor(const std::string& descriptor) {
  return stored_and([&](ArchiveMember& member) {
    member.flags = 8;
    member.descriptor = descriptor;
  });
}

/// A member whose size ends in the byte that the directory begins with, 'P', which its descriptor lacks.
std::string ending_in_the_directory() {
  ArchiveMember member = deflated_member("a.npy", "");
  member.packed.resize(1'310'000);
  member.flags = 8;
  member.descriptor =
      little_endian(member.crc, 4) + little_endian(member.packed.size(), 4) + std::string(3, '\0');
  Archive archive = archive_of({member});
  patch(archive.bytes, archive.records[0] + directory_record::nbytes, 0x5000'0000, 4);
  patch(archive.bytes, archive.locals[0] + local_header::nbytes, 0, 4);
  return archive.bytes;
}

/// A size in both headers, as many bytes as `more` beyond the end of the data.
std::string larger_than_it_is(std::uint64_t more) {
  Archive archive = archive_of({stored_member("a.npy", good_array)});
  for (const std::size_t at :
       {archive.locals[0] + local_header::packed, archive.locals[0] + local_header::nbytes,
        archive.records[0] + directory_record::packed,
        archive.records[0] + directory_record::nbytes}) {
    patch(archive.bytes, at, good_array.size() + more, 4);
  }
  return archive.bytes;
}

/// A member within the data of another one.
std::string nested() {
  const Archive inner = archive_of({stored_member("b.npy", other_array)});
  const std::string whole_inner = inner.bytes.substr(0, inner.directory);
  Archive archive =
      archive_of({stored_member("a.npy", whole_inner), stored_member("b.npy", other_array)});
  const std::size_t data = archive.locals[0] + local_header::name + 5;
  patch(archive.bytes, archive.records[1] + directory_record::offset, data, 4);
  return archive.bytes;
}

/// Two records of one local header.
std::string shared() {
  Archive archive =
      archive_of({stored_member("a.npy", good_array), stored_member("a.npy", good_array)});
  patch(archive.bytes, archive.records[1] + directory_record::offset, 0, 4);
  return archive.bytes;
}

/// A member whose header begins with what is also the descriptor of an empty one.
std::string in_a_descriptor() {
  ArchiveMember first = stored_member("a.npy", "");
  const ArchiveMember second = stored_member("b.npy", other_array);
  const Archive alone = archive_of({second});
  first.flags = 8;
  first.crc = 0x04034B50;
  first.descriptor = "PK\3\4" + std::string(8, '\0') + alone.bytes.substr(12, alone.directory - 12);
  Archive archive = archive_of({first, second});
  patch(archive.bytes, archive.records[1] + directory_record::offset, local_header::name + 5, 4);
  return archive.bytes;
}

std::string with_name_of_another_directory_record() {
  Archive archive = archive_of({stored_member("a.npy", good_array)});
  archive.bytes[archive.records[0] + directory_record::name] = 'b';
  return archive.bytes;
}

/// A directory that is as long as it says, and has other records than its count says.
std::string with_count(std::uint64_t count, const std::string& comment) {
  ArchiveMember member = stored_member("a.npy", good_array);
  member.comment = comment;
  Archive archive = archive_of({member, stored_member("b.npy", other_array)});
  patch(archive.bytes, archive.end + end_record::count_here, count, 2);
  patch(archive.bytes, archive.end + end_record::count, count, 2);
  return archive.bytes;
}

std::string data_changed(const ArchiveMember& member) {
  Archive archive = archive_of({member});
  archive.bytes[archive.directory - 1] ^= 1;
  return archive.bytes;
}

const std::string end_alone = "PK\5\6" + std::string(18, '\0');
const std::string array_crc = little_endian(slow_crc(good_array), 4);
const std::string array_size = little_endian(good_array.size(), 4);

const MalformedArchive all_malformed_archives[] = {
    // ---- the end
    {"an_array", good_array, "no end record"},
    {"the_begin_of_an_archive", "PK\3\4", "no end record"},
    {"no_end_record", named("a.npy").substr(0, named("a.npy").size() - 22), "no end record"},
    {"an_end_record_cut_short", named("a.npy").substr(0, named("a.npy").size() - 1),
     "no end record"},
    {"a_byte_behind_the_end", named("a.npy") + 'x', "no end record"},
    {"a_comment_longer_than_there_is", with_end(end_record::comment_nbytes, 1, 2), "no end record"},
    {"a_comment_that_is_too_long_to_be_one",
     archive_of({}, {.comment = std::string(0xFFFF, 'x')}).bytes + 'x', "no end record"},
    {"the_second_disk", with_end(end_record::disk, 1, 2), "one of several files"},
    {"a_directory_on_the_second_disk", with_end(end_record::directory_disk, 1, 2),
     "one of several files"},
    {"records_on_another_disk", with_end(end_record::count_here, 0, 2), "one of several files"},
    {"a_directory_outside", with_end(end_record::offset, 0x7FFF'FFFF, 4), "does not end where"},
    {"a_directory_a_byte_behind", with_end(end_record::offset, good_array.size() + 36, 4),
     "does not end where"},
    {"a_directory_larger_than_the_file", with_end(end_record::nbytes, 0xFFFF'FFF0, 4),
     "does not end where"},
    {"a_saturated_directory_without_zip64",
     [] {
       Archive archive = archive_of({stored_member("a.npy", good_array)});
       patch(archive.bytes, archive.end + end_record::nbytes, 0xFFFF'FFFF, 4);
       patch(archive.bytes, archive.end + end_record::offset, 0xFFFF'FFFF, 4);
       return archive.bytes;
     }(),
     "does not end where the end record begins"},
    {"a_directory_outside_a_file_without_room_for_zip64",
     [] {
       std::string file = end_alone;
       patch(file, end_record::offset, 1, 4);
       return file;
     }(),
     "does not end where the end record begins"},
    {"bytes_between_the_directory_and_the_end",
     [] {
       Archive archive = archive_of({stored_member("a.npy", good_array)});
       return archive.bytes.insert(archive.end, std::string(100, 'x'));
     }(),
     "does not end where the end record begins"},
    {"more_members_than_the_directory_has_room_for", with_count(3, ""), "said to have 3 members"},
    {"a_member_more_than_the_directory_has", with_count(3, std::string(46, 'x')),
     "does not consist of the records"},
    {"a_member_fewer_than_the_directory_has", with_count(1, ""), "does not consist of the records"},
    {"no_member_of_those_that_the_directory_has", with_count(0, ""),
     "does not consist of the records"},

    // ---- the end in zip64
    {"a_zip64_end_on_another_disk", with_locator(zip64_locator::disk, 1, 4), "one of several files"},
    {"a_zip64_end_of_two_disks", with_locator(zip64_locator::disks, 2, 4), "one of several files"},
    {"a_locator_of_another_signature", with_locator(0, 0x07064B51, 4), "does not end where"},
    {"a_zip64_end_outside", with_locator(zip64_locator::offset, std::uint64_t{1} << 63, 8),
     "is not in front of the locator"},
    {"a_zip64_end_a_byte_behind",
     with_locator(zip64_locator::offset, zip64_archive().zip64_end + 1, 8),
     "is not in front of the locator"},
    {"a_zip64_end_a_byte_in_front",
     with_locator(zip64_locator::offset, zip64_archive().zip64_end - 1, 8),
     "has no zip64 end record where"},
    {"a_zip64_end_of_another_signature", with_zip64_end(0, 0x06064B51, 4),
     "has no zip64 end record where"},
    {"a_zip64_end_that_is_longer", with_zip64_end(zip64_end_record::size, 45, 8),
     "has no zip64 end record where"},
    {"a_zip64_end_that_is_shorter", with_zip64_end(zip64_end_record::size, 43, 8),
     "has no zip64 end record where"},
    {"a_zip64_end_of_another_disk", with_zip64_end(zip64_end_record::disk, 1, 4),
     "one of several files"},
    {"a_zip64_directory_on_another_disk", with_zip64_end(zip64_end_record::directory_disk, 1, 4),
     "one of several files"},
    {"zip64_records_on_another_disk", with_zip64_end(zip64_end_record::count_here, 2, 8),
     "one of several files"},
    {"a_short_count_that_disagrees",
     [] {
       Archive archive = zip64_archive();
       patch(archive.bytes, archive.end + end_record::count_here, 2, 2);
       patch(archive.bytes, archive.end + end_record::count, 2, 2);
       return archive.bytes;
     }(),
     "two end records disagree"},
    {"a_short_size_that_disagrees", with_short_end(end_record::nbytes, 1, 4),
     "two end records disagree"},
    {"a_short_offset_that_disagrees", with_short_end(end_record::offset, 1, 4),
     "two end records disagree"},
    {"a_zip64_directory_behind_its_end",
     [] {
       Archive archive = zip64_archive();
       patch(archive.bytes, archive.end + end_record::offset, 0xFFFF'FFFF, 4);
       patch(archive.bytes, archive.zip64_end + zip64_end_record::offset,
             archive.zip64_end + std::uint64_t{1}, 8);
       return archive.bytes;
     }(),
     "does not end where the zip64 end record begins"},
    {"a_zip64_directory_whose_size_wraps_around",
     [] {
       Archive archive = zip64_archive();
       patch(archive.bytes, archive.end + end_record::offset, 0xFFFF'FFFF, 4);
       patch(archive.bytes, archive.end + end_record::nbytes, 0xFFFF'FFFF, 4);
       patch(archive.bytes, archive.zip64_end + zip64_end_record::offset,
             archive.zip64_end + std::uint64_t{1}, 8);
       patch(archive.bytes, archive.zip64_end + zip64_end_record::nbytes, ~std::uint64_t{0}, 8);
       return archive.bytes;
     }(),
     "does not end where the zip64 end record begins"},
    {"a_zip64_directory_that_ends_early",
     [] {
       Archive archive = zip64_archive();
       patch(archive.bytes, archive.end + end_record::nbytes, 0xFFFF'FFFF, 4);
       patch(archive.bytes, archive.zip64_end + zip64_end_record::nbytes,
             archive.zip64_end - archive.directory - 1, 8);
       return archive.bytes;
     }(),
     "does not end where the zip64 end record begins"},
    {"more_zip64_members_than_there_is_memory",
     [] {
       Archive archive = zip64_archive();
       patch(archive.bytes, archive.end + end_record::count_here, 0xFFFF, 2);
       patch(archive.bytes, archive.end + end_record::count, 0xFFFF, 2);
       patch(archive.bytes, archive.zip64_end + zip64_end_record::count_here, ~std::uint64_t{0}, 8);
       patch(archive.bytes, archive.zip64_end + zip64_end_record::count, ~std::uint64_t{0}, 8);
       return archive.bytes;
     }(),
     "said to have 18446744073709551615 members"},

    // ---- records of the directory
    {"a_record_of_another_signature", with_record(0, 0x02014B51, 4),
     "does not consist of the records"},
    {"a_name_beyond_the_directory", with_record(directory_record::name_nbytes, 6, 2),
     "a record of its directory ends behind"},
    {"an_extra_field_beyond_the_directory", with_record(directory_record::name_nbytes + 2, 1, 2),
     "a record of its directory ends behind"},
    {"a_comment_beyond_the_directory", with_record(directory_record::name_nbytes + 4, 1, 2),
     "a record of its directory ends behind"},
    {"a_member_on_another_disk", with_record(directory_record::disk, 1, 2), "one of several files"},
    {"an_encrypted_member", with_record(directory_record::flags, 1, 2), "\"a.npy\" is encrypted"},
    {"a_strongly_encrypted_member", with_record(directory_record::flags, 1 << 6, 2),
     "\"a.npy\" is encrypted"},
    {"encrypted_headers", with_record(directory_record::flags, 1 << 13, 2),
     "\"a.npy\" is encrypted"},
    {"a_patch", with_record(directory_record::flags, 1 << 5, 2), "flags 0x0020, of which some"},
    {"a_flag_that_is_reserved", with_record(directory_record::flags, 1 << 15, 2), "flags 0x8000"},
    {"a_member_by_method_7", with_record(directory_record::method, 7, 2), "by method 7, and only"},
    {"a_member_by_method_1", with_record(directory_record::method, 1, 2), "by method 1, and only"},
    {"a_member_in_lzma", with_record(directory_record::method, 14, 2), "by method 14, and only"},
    {"a_member_larger_than_the_file", with_record(directory_record::packed, 0x7FFF'FFFF, 4),
     "has 2147483647 bytes, more than there are"},
    {"a_member_larger_than_what_is_in_front_of_the_directory",
     with_record(directory_record::packed, good_array.size() + 36, 4), "more than there are"},
    {"a_member_larger_than_an_object",
     with_zip64_sizes(~std::uint64_t{0}, good_array.size()),
     "has 18446744073709551615 bytes, more than an object"},
    {"a_member_as_large_as_an_object",
     with_zip64_sizes(max_nbytes, good_array.size()), "is stored in 131 bytes, and said to have"},
    {"a_member_as_large_as_what_is_in_front_of_the_directory", larger_than_it_is(35),
     "is not all in front of the directory"},
    {"a_stored_member_that_would_be_larger",
     with_record(directory_record::nbytes, good_array.size() + 1, 4), "is stored in 131 bytes, and said to have 132"},
    {"a_stored_member_that_would_be_smaller",
     with_record(directory_record::nbytes, good_array.size() - 1, 4), "and said to have 130"},
    {"a_bomb",
     with_record(directory_record::nbytes, 1032 * (good_array.size() + 6), 4,
                 deflated_member("a.npy", good_array)),
     "more than 136 deflated ones can be"},
    {"the_largest_that_is_no_bomb",
     with_record(directory_record::nbytes, 1032 * (good_array.size() + 6) - 1, 4,
                 deflated_member("a.npy", good_array)),
     "has no local header at byte 0 that says"},
    {"a_text", named("readme.txt"), "\"readme.txt\" has a name that does not end in .npy"},
    {"a_folder", named("a.npy/"), "\"a.npy/\" has a name that does not end in .npy"},
    {"a_name_without_a_dot", named("npy"), "\"npy\" has a name that does not end in .npy"},
    {"no_name", named(""), "\"\" has a name that does not end in .npy"},
    {"a_name_that_a_terminal_obeys", named("\x1b[2J"), "\"?[2J\" has a name"},
    {"a_name_twice",
     archive_of({stored_member("a.npy", good_array), stored_member("b.npy", good_array),
                 stored_member("a.npy", other_array)})
         .bytes,
     "\"a.npy\" is there twice"},
    {"extra_fields_of_a_byte", stored_and([](auto& member) { member.extra = "x"; }),
     "has extra fields that are cut short"},
    {"extra_fields_cut_short_behind_one",
     stored_and([](auto& member) { member.extra = extra_field(7, "x") + "123"; }),
     "has extra fields that are cut short"},
    {"an_extra_field_longer_than_there_is",
     stored_and([](auto& member) { member.extra = little_endian(7, 2) + little_endian(2, 2) + "x"; }),
     "has extra fields that are cut short"},
    {"a_size_that_is_elsewhere_and_nowhere", with_saturated(directory_record::nbytes, ""),
     "has a number that its zip64 field lacks"},
    {"a_packed_size_that_is_elsewhere_and_nowhere",
     with_saturated(directory_record::packed, extra_field(2, std::string(24, '\0'))),
     "has a number that its zip64 field lacks"},
    {"an_offset_that_is_elsewhere_and_cut_short",
     with_saturated(directory_record::offset, extra_field(1, std::string(7, '\0'))),
     "has a number that its zip64 field lacks"},

    // ---- local headers
    {"a_member_outside", with_record(directory_record::offset, 0xFFFF'FFF0, 4),
     "is said to be at byte 4294967280, and is not all in front of the directory"},
    {"a_member_in_the_directory",
     with_record(directory_record::offset, good_array.size() + 35, 4),
     "is not all in front of the directory"},
    {"a_header_that_reaches_into_the_directory",
     with_record(directory_record::offset, good_array.size() + 35 - 29, 4),
     "is not all in front of the directory"},
    {"a_member_far_outside",
     with_saturated(directory_record::offset, extra_field(1, little_endian(~std::uint64_t{0}, 8))),
     "is said to be at byte 18446744073709551615"},
    {"a_local_name_that_reaches_into_the_directory",
     with_local(local_header::name_nbytes, good_array.size() + 6, 2),
     "is not all in front of the directory"},
    {"a_local_extra_field_that_reaches_into_the_directory",
     with_local(local_header::extra_nbytes, good_array.size() + 1, 2),
     "is not all in front of the directory"},
    {"data_that_reach_a_byte_into_the_directory", larger_than_it_is(1),
     "is not all in front of the directory"},
    {"no_header_where_it_should_be", with_record(directory_record::offset, 1, 4),
     "has no local header at byte 1 that says"},
    {"a_local_header_of_another_signature", with_local(0, 0x04034B51, 4),
     "has no local header at byte 0 that says"},
    {"other_flags_in_front", with_local(local_header::flags, 1 << 11, 2), "has no local header"},
    {"another_method_in_front", with_local(local_header::method, 8, 2), "has no local header"},
    {"another_crc_in_front", with_local(local_header::crc, 1, 4), "has no local header"},
    {"another_packed_size_in_front", with_local(local_header::packed, 1, 4), "has no local header"},
    {"another_size_in_front", with_local(local_header::nbytes, 1, 4), "has no local header"},
    {"no_crc_in_front", with_local(local_header::crc, 0, 4), "has no local header"},
    {"no_packed_size_in_front", with_local(local_header::packed, 0, 4), "has no local header"},
    {"no_size_in_front", with_local(local_header::nbytes, 0, 4), "has no local header"},
    {"another_name_in_front", with_name_of_another_directory_record(), "has no local header"},
    {"local_extra_fields_cut_short", stored_and([](auto& member) { member.local_extra = "x"; }),
     "has extra fields that are cut short"},
    {"a_local_size_that_is_elsewhere_and_nowhere",
     with_local(local_header::nbytes, 0xFFFF'FFFF, 4), "has a number that its zip64 field lacks"},
    {"a_local_zip64_field_that_says_something_else",
     [] {
       ArchiveMember member = stored_member("a.npy", good_array);
       member.local_extra = extra_field(1, little_endian(good_array.size() + 1, 8));
       return with_local(local_header::nbytes, 0xFFFF'FFFF, 4, member);
     }(),
     "has no local header"},

    // ---- descriptors
    {"no_descriptor", with_descriptor(""), "has a descriptor that disagrees"},
    {"a_descriptor_cut_short", with_descriptor("PK\7\10" + array_crc + array_size + array_size.substr(0, 3)),
     "has a descriptor that disagrees"},
    {"a_descriptor_without_signature_cut_short", with_descriptor(array_crc + array_size + array_size.substr(0, 3)),
     "has a descriptor that disagrees"},
    {"a_descriptor_of_another_signature", with_descriptor("PK\7\7" + array_crc + array_size + array_size),
     "has a descriptor that disagrees"},
    {"a_descriptor_of_another_crc", with_descriptor("PK\7\10abcd" + array_size + array_size),
     "has a descriptor that disagrees"},
    {"a_descriptor_of_another_packed_size", with_descriptor("PK\7\10" + array_crc + "abcd" + array_size),
     "has a descriptor that disagrees"},
    {"a_descriptor_of_another_size", with_descriptor("PK\7\10" + array_crc + array_size + "abcd"),
     "has a descriptor that disagrees"},
    {"a_descriptor_that_ends_in_the_directory", ending_in_the_directory(),
     "has a descriptor that disagrees"},
    {"a_local_size_that_the_descriptor_has_not",
     [] {
       ArchiveMember member = stored_member("a.npy", good_array);
       member.flags = 8;
       member.descriptor = "PK\7\10" + array_crc + array_size + array_size;
       return with_local(local_header::nbytes, 1, 4, member);
     }(),
     "has no local header"},

    // ---- overlaps
    {"a_member_within_another", nested(), "\"b.npy\" overlaps the member \"a.npy\""},
    {"a_member_a_byte_into_the_next",
     [] {
       Archive archive =
           archive_of({stored_member("a.npy", good_array), stored_member("b.npy", other_array)});
       const std::size_t nbytes = good_array.size() + 1;
       for (const std::size_t offset : {local_header::packed, local_header::nbytes}) {
         patch(archive.bytes, archive.locals[0] + offset, nbytes, 4);
       }
       for (const std::size_t offset : {directory_record::packed, directory_record::nbytes}) {
         patch(archive.bytes, archive.records[0] + offset, nbytes, 4);
       }
       return archive.bytes;
     }(),
     "\"b.npy\" overlaps the member \"a.npy\""},
    {"a_member_for_two", shared(), "\"a.npy\" overlaps the member \"a.npy\""},
    {"a_member_in_the_descriptor_of_another", in_a_descriptor(),
     "\"b.npy\" overlaps the member \"a.npy\""},

    // ---- data
    {"stored_data_that_changed", data_changed(stored_member("a.npy", good_array)),
     "\"a.npy\" has the CRC-32 0x", true},
    {"deflated_data_that_changed", data_changed(deflated_member("a.npy", good_array)),
     "\"a.npy\" has the CRC-32 0x"},
    {"another_crc_throughout",
     stored_and([](auto& member) { member.crc = 0x12345678; }), "and should have 0x12345678", true},
    {"no_elements_and_another_crc",
     edited(stored_member("a.npy", npy_of("")), [](auto& member) { member.crc = 0x12345678; }),
     "and should have 0x12345678"},
    {"bools_that_changed",
     edited(deflated_member("a.npy", npy_header(DType::boolean, {1}) + '\1'),
            [](auto& member) { member.packed.back() = '\2'; }),
     "has the CRC-32 0x"},
    {"deflated_data_of_no_kind",
     deflated_and([](auto& member) { member.packed[0] = '\7'; }),
     "has deflated data that are damaged (invalid block type)"},
    {"deflated_data_cut_short",
     deflated_and([](auto& member) { member.packed.pop_back(); }),
     "has deflated data that end too early"},
    {"deflated_data_without_a_last_block",
     deflated_and([](auto& member) { member.packed[0] = '\0'; }),
     "has deflated data that end too early"},
    {"no_deflated_data",
     edited(deflated_member("a.npy", ""), [](auto& member) { member.packed.clear(); }),
     "does not begin"},
    {"deflated_data_of_fewer_bytes",
     deflated_and([](auto& member) { member.data += 'x'; }),
     "does not inflate to the 132 bytes"},
    {"deflated_data_of_more_bytes",
     edited(deflated_member("a.npy", good_array + 'x'),
            [](auto& member) {
              member.data.pop_back();
              member.crc = slow_crc(member.data);
            }),
     "does not inflate to the 131 bytes"},
    {"a_byte_behind_deflated_data",
     deflated_and([](auto& member) { member.packed += 'x'; }),
     "has 1 bytes behind its deflated data"},
    {"much_behind_deflated_data",
     deflated_and([](auto& member) { member.packed += std::string(200'000, 'x'); }),
     "has 200000 bytes behind its deflated data"},
    {"bytes_behind_deflated_data_that_fill_a_buffer",
     edited(deflated_member("a.npy", npy_of(std::string((64 << 10) - 5 - 128, '\1'))),
            [](auto& member) { member.packed += "xy"; }),
     "has 2 bytes behind its deflated data"},

    // ---- arrays
    {"an_empty_member", archive_of({stored_member("a.npy", "")}).bytes, "/a.npy\" as a .npy file"},
    {"a_member_that_is_no_array", archive_of({stored_member("a.npy", "hello")}).bytes,
     "/a.npy\" as a .npy file: it does not begin"},
    {"a_deflated_member_that_is_no_array", archive_of({deflated_member("a.npy", "hello")}).bytes,
     "/a.npy\" as a .npy file: it does not begin"},
    {"an_array_cut_short", archive_of({stored_member("a.npy", good_array.substr(0, 130))}).bytes,
     "take 3 bytes, and 2 follow"},
    {"a_byte_behind_an_array", archive_of({deflated_member("a.npy", good_array + 'x')}).bytes,
     "take 3 bytes, and 4 follow"},
    {"a_bool_of_2",
     archive_of({stored_member("a.npy", npy_header(DType::boolean, {2}) + "\1\2")}).bytes,
     "bool number 1 is the byte 2"},
};

std::string name_of_archive(const testing::TestParamInfo<MalformedArchive>& info) {
  return info.param.name;
}

class MalformedArchives : public testing::TestWithParam<MalformedArchive> {};
INSTANTIATE_TEST_SUITE_P(Npz, MalformedArchives, testing::ValuesIn(all_malformed_archives),
                         name_of_archive);

TEST_P(MalformedArchives, are_refused_in_memory_with_what_is_wrong) {
  EXPECT_TRUE(
      says(complaint_about_archive(GetParam().file), GetParam().said, "cannot read \"memory"));
}

TEST_P(MalformedArchives, are_refused_on_disk_with_their_name_read_or_mapped) {
  const TemporaryFolder folder;
  const auto path = folder / "a.npz";
  write_file(path, GetParam().file);
  for (const auto& read : {load_npz, map_npz}) {
    const std::string complaint = complaint_of<FileError>([&] { read(path); });
    if (read == map_npz && GetParam().is_mapped_all_the_same) {
      EXPECT_EQ(complaint, "nothing was thrown");
      continue;
    }
    EXPECT_TRUE(says(complaint, path.string(), GetParam().said));
    EXPECT_EQ(complaint.find("..."), std::string::npos) << complaint;
  }
}

TEST(MalformedArchives, of_no_bytes_are_refused) {
  EXPECT_TRUE(says(complaint_about_archive(""), "no end record"));
  const TemporaryFolder folder;
  write_file(folder / "a.npz", "");
  EXPECT_TRUE(says(complaint_of<FileError>([&] { load_npz(folder / "a.npz"); }), "no end record"));
  EXPECT_TRUE(says(complaint_of<FileError>([&] { map_npz(folder / "a.npz"); }), "it is empty"));
}

TEST(MalformedArchives, that_are_no_files_are_refused) {
  const TemporaryFolder folder;
  for (const auto& read : {load_npz, map_npz}) {
    EXPECT_TRUE(
        says(complaint_of<FileError>([&] { read(folder / "missing.npz"); }), "no such file"));
    EXPECT_TRUE(says(complaint_of<FileError>([&] { read(folder.path()); }), "not a regular file"));
  }
}

TEST(MalformedArchives, are_refused_wherever_they_are_cut_short) {
  for (const bool has_zip64_end : {false, true}) {
    const std::string whole =
        archive_of({stored_member("a.npy", good_array), deflated_member("b.npy", other_array)},
                   {.has_zip64_end = has_zip64_end})
            .bytes;
    ASSERT_EQ(complaint_about_archive(whole), "nothing was thrown");
    for (std::size_t nbytes = 0; nbytes < whole.size(); ++nbytes) {
      const std::string complaint = complaint_about_archive(whole.substr(0, nbytes));
      EXPECT_TRUE(complaint.starts_with("cannot read \"memory\"")) << nbytes << ": " << complaint;
    }
  }
}

TEST(MalformedArchives, with_any_bytes_changed_are_refused_or_read) {
  Random choose(seed());
  const std::string valid[] = {
      archive_of({stored_member("a.npy", good_array), deflated_member("b.npy", other_array)}).bytes,
      zip64_archive().bytes,
      with_descriptor("PK\7\10" + array_crc + array_size + array_size),
  };
  for (int round = 0; round < 20000; ++round) {
    std::string file = choose.one_of(valid);
    for (int changes = choose.number(1, 4); changes > 0; --changes) {
      choose.one_of(file) = static_cast<char>(
          choose.flag() ? choose.one_of({0, 1, 2, 8, 127, 128, 255}) : choose.below(256));
    }
    const std::string complaint = complaint_about_archive(file);
    EXPECT_TRUE(complaint == "nothing was thrown" || complaint.starts_with("cannot read \"memory"))
        << complaint;
  }
}

}  // namespace
}  // namespace byre::test
