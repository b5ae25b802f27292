// SPDX-License-Identifier: BSL-1.0
// Malformed archives. Each is rejected with an error that names the archive and its defect, and
// never read beyond its end: the bytes are in memory of exactly their size, so AddressSanitizer
// would report such a read.
#include <byre/interop/npz.hpp>
#include <byre/memory/allocator.hpp>

#include <functional>
#include <string>

#include "archives.hpp"

namespace byre::test {
namespace {

/// The text of the error that read_npz() throws for the file.
std::string complaint_about_archive(const std::string& file) {
  return complaint_of<FileError>([&] { read_exact(read_npz, file); });
}

/// A changed number of a record: its offset, value and size.
struct Change {
  Place place;
  std::size_t offset;
  std::uint64_t number;
  std::size_t nbytes;
};

struct MalformedArchive {
  const char* name;
  std::string said;
  Archive archive;
  std::vector<Change> changes = {};
  bool is_mapped = false;  // map_npz() does not detect the defect
};

const std::string good_array = npy_of("\1\2\3");
const ArchiveMember stored_array{.data = good_array};
const ArchiveMember deflated_array = deflated(stored_array);
const ArchiveMember other_array{.name = "b.npy", .data = npy_of("\4\5")};
const Archive stored = archive_of({stored_array});
const Archive packed = archive_of({deflated_array});
const Archive zip64 = archive_of({stored_array}, {.has_zip64_end = true});
const Archive two = archive_of({stored_array, other_array});

Archive named(const std::string& name) {
  return archive_of({{.name = name, .data = good_array}});
}

/// An archive of one member, after `edit` has changed the member.
Archive edited(ArchiveMember member, const std::function<void(ArchiveMember&)>& edit) {
  edit(member);
  return archive_of({member});
}

/// An archive that consists of these bytes.
Archive of_bytes(std::string bytes) {
  return {std::move(bytes), {}};
}

/// An archive with sizes in zip64 fields.
Archive of_zip64_sizes(std::uint64_t nbytes, std::uint64_t packed_nbytes) {
  return edited(stored_array, [&](ArchiveMember& member) {
    member.extra = extra_field(1, little_endian(nbytes, 8) + little_endian(packed_nbytes, 8));
    member.local_extra = member.extra;
  });
}

constexpr std::uint64_t all_bits = ~std::uint64_t{0};
constexpr std::size_t name_begin = 30;  // the offset of the name in a local header
const std::size_t array_nbytes = good_array.size();
const std::size_t directory_begin = stored.places[record];
const std::string unsound = "\"memory\" of a .npz file: libzip rejects the archive: ";
const std::string wrong_size = "its sizes are inconsistent";
const std::string wrong_length = "its length differs from the directory's";

// clang-format off
const MalformedArchive all_malformed_archives[] = {
    // ---- rejected by libzip: the records at the end
    {"an_array", unsound, of_bytes(good_array)},
    {"no_bytes", unsound, of_bytes("")},
    {"a_byte_behind_the_end", unsound, of_bytes(stored.bytes + 'x')},
    {"an_archive_on_a_second_disk", unsound, stored, {{end, 4, 1, 2}}},
    {"a_directory_outside_of_the_archive", unsound, stored, {{end, 16, 0x7FFF'FFFF, 4}}},
    {"a_directory_larger_than_the_file", unsound, stored, {{end, 12, 0xFFFF'FFF0, 4}}},
    {"more_members_than_there_are", unsound, two, {{end, 8, 3, 2}, {end, 10, 3, 2}}},
    {"zero_members_instead_of_two", unsound, two, {{end, 8, 0, 2}, {end, 10, 0, 2}}},
    {"a_zip64_end_outside_of_the_archive", unsound, zip64,
     {{locator, 8, std::uint64_t{1} << 63, 8}}},
    {"a_zip64_end_of_another_signature", unsound, zip64, {{zip64_end, 0, 0x06064B51, 4}}},
    {"a_zip64_directory_whose_size_wraps_around", unsound, zip64,
     {{zip64_end, 48, zip64.places[zip64_end] + 1, 8}, {zip64_end, 40, all_bits, 8}}},
    {"more_zip64_members_than_fit_in_memory", unsound, zip64,
     {{zip64_end, 24, all_bits, 8}, {zip64_end, 32, all_bits, 8}}},

    // ---- rejected by libzip: records
    {"a_record_of_another_signature", unsound, stored, {{record, 0, 0x02014B51, 4}}},
    {"a_member_larger_than_the_file", unsound, stored, {{record, 20, 0x7FFF'FFFF, 4}}},
    {"local_extra_fields_of_a_byte", unsound,
     edited(stored_array, [](auto& member) { member.local_extra = "x"; })},
    {"a_member_outside_of_the_archive", unsound, stored, {{record, 42, 0xFFFF'FFF0, 4}}},
    {"another_crc_in_the_local_header", unsound, stored, {{local, 14, 1, 4}}},
    {"another_size_in_the_local_header", unsound, stored, {{local, 22, 1, 4}}},
    {"a_different_name_in_the_local_header", unsound, stored, {{local, name_begin, 'b', 1}}},
    {"a_name_twice", unsound + "File already exists",
     archive_of({stored_array, other_array, stored_array})},
    {"two_records_of_one_member", unsound, archive_of({stored_array, stored_array}),
     {{second_record, 42, 0, 4}}},
    {"no_name", "/\" of a .npz file: its name does not end in .npy", named("")},

    // ---- rejected by byre
    {"an_encrypted_member", "/a.npy\" of a .npz file: it cannot be opened: No password", stored,
     {{record, 8, 1, 2}}},
    {"a_member_in_bzip2", "it is neither stored nor deflated", stored,
     {{record, 10, 12, 2}, {local, 8, 12, 2}}},
    {"a_member_larger_than_an_object", wrong_size, of_zip64_sizes(all_bits, array_nbytes),
     {{record, 20, all_bits, 4}, {record, 24, all_bits, 4}, {local, 18, all_bits, 4},
      {local, 22, all_bits, 4}}},
    {"a_stored_member_that_would_be_larger", wrong_size, stored,
     {{record, 24, array_nbytes + 1, 4}, {local, 22, array_nbytes + 1, 4}}},
    {"a_stored_member_that_would_be_smaller", wrong_size, stored,
     {{record, 24, array_nbytes - 1, 4}, {local, 22, array_nbytes - 1, 4}}},
    {"a_zip_bomb", wrong_size, packed,
     {{record, 24, 1032 * (array_nbytes + 6), 4}, {local, 22, 1032 * (array_nbytes + 6), 4}}},
    {"the_largest_size_that_is_no_zip_bomb", wrong_length, packed,
     {{record, 24, 1032 * (array_nbytes + 6) - 1, 4},
      {local, 22, 1032 * (array_nbytes + 6) - 1, 4}}},
    {"a_text_file", "/readme.txt\" of a .npz file: its name does not end in .npy",
     named("readme.txt")},
    {"a_folder", "/a.npy/\" of a .npz file: its name does not end in .npy", named("a.npy/")},
    {"a_name_without_a_dot", "/npy\" of a .npz file: its name does not end in .npy", named("npy")},
    {"a_name_of_control_characters", "/?[2J\" of a .npz file: its name", named("\x1b[2J")},
    {"a_member_that_ends_after_the_file", "it ends after the end of the file",
     edited(stored_array,
            [](auto& member) { member.local_extra = extra_field(7, std::string(900, 'x')); }),
     {{record, 20, 1035, 4}, {record, 24, 1035, 4}, {local, 18, 1035, 4}, {local, 22, 1035, 4}}},
    {"a_member_in_another", "\"memory\" of a .npz file: some of its members overlap", two,
     {{local, 18, 200, 4}, {local, 22, 200, 4}, {record, 20, 200, 4}, {record, 24, 200, 4}}},
    {"a_member_a_byte_into_the_next_data", "some of its members overlap", two,
     {{local, 18, 167, 4}, {local, 22, 167, 4}, {record, 20, 167, 4}, {record, 24, 167, 4}}},

    // ---- data
    {"stored_data_that_changed", "/a.npy\" of a .npz file: it cannot be read: CRC error", stored,
     {{local, name_begin + 5 + 130, 9, 1}}, true},
    {"deflated_data_that_changed", "it cannot be read: CRC error", packed,
     {{local, name_begin + 5 + 135, 9, 1}}},
    {"a_wrong_crc_in_both_records", "it cannot be read: CRC error",
     edited(stored_array, [](auto& member) { member.crc = 1; }), {}, true},
    {"no_elements_and_another_crc", "it cannot be read: CRC error",
     archive_of({{.data = npy_of(""), .crc = 1}})},
    {"bools_that_changed", "it cannot be read: CRC error",
     archive_of({deflated({.data = npy_header(DType::boolean, {1}) + '\1'})}),
     {{local, name_begin + 5 + 5 + 128, 2, 1}}},
    {"deflated_data_of_an_unknown_kind", "it cannot be read: ", packed,
     {{local, name_begin + 5, 7, 1}}},
    {"deflated_data_cut_short", "it cannot be read: ",
     edited(deflated_array, [](auto& member) { member.packed.pop_back(); })},
    {"no_deflated_data", wrong_length,
     edited(deflated_array, [](auto& member) { member.packed.clear(); member.data = "x"; })},
    {"deflated_data_of_fewer_bytes", wrong_length,
     edited(deflated_array, [](auto& member) { member.data += 'x'; })},
    {"deflated_data_of_more_bytes", wrong_length,
     edited(deflated({.data = good_array + 'x'}), [](auto& member) { member.data.pop_back(); })},

    // ---- arrays
    {"an_empty_member", "/a.npy\" as a .npy file", archive_of({{}})},
    {"a_member_that_is_not_an_array", "/a.npy\" as a .npy file: it does not begin",
     archive_of({{.data = "hello"}})},
    {"a_deflated_member_that_is_not_an_array", "/a.npy\" as a .npy file: it does not begin",
     archive_of({deflated({.data = "hello"})})},
    {"an_array_cut_short", "take 3 bytes, but 2 follow",
     archive_of({{.data = good_array.substr(0, 130)}})},
    {"a_byte_after_an_array", "take 3 bytes, but 4 follow",
     archive_of({deflated({.data = good_array + 'x'})})},
    {"a_bool_of_2", "bool number 1 is the byte 2",
     archive_of({{.data = npy_header(DType::boolean, {2}) + "\1\2"}})},
};
// clang-format on

TEST(MalformedArchives, are_rejected_in_memory_and_on_disk_and_the_defect_is_named) {
  const TemporaryFolder folder;
  const auto path = folder / "a.npz";
  for (MalformedArchive each : all_malformed_archives) {
    SCOPED_TRACE(each.name);
    for (const Change& change : each.changes) {
      each.archive.change(change.place, change.offset, change.number, change.nbytes);
    }
    EXPECT_TRUE(
        says(complaint_about_archive(each.archive.bytes), each.said, "cannot read \"memory"));
    if (each.said.starts_with("\"memory")) {
      each.said.replace(0, 7, "\"" + path.string());
    }
    write_file(path, each.archive.bytes);
    EXPECT_TRUE(says(complaint_of<FileError>([&] { load_npz(path); }), path.string(), each.said));
    if (!each.archive.bytes.empty()) {  // an empty file cannot be mapped
      EXPECT_TRUE(says(complaint_of<FileError>([&] { map_npz(path); }),
                       each.is_mapped ? "nothing was thrown" : each.said));
    }
  }
}

TEST(MalformedArchives, truncated_archives_are_rejected) {
  for (const bool has_zip64_end : {false, true}) {
    ArchiveMember second = deflated(other_array);
    const std::string whole =
        archive_of({stored_array, second}, {.has_zip64_end = has_zip64_end}).bytes;
    ASSERT_EQ(complaint_about_archive(whole), "nothing was thrown");
    for (std::size_t nbytes = 0; nbytes < whole.size(); ++nbytes) {
      const std::string complaint = complaint_about_archive(whole.substr(0, nbytes));
      EXPECT_TRUE(complaint.starts_with("cannot read \"memory\"")) << nbytes << ": " << complaint;
    }
  }
}

}  // namespace
}  // namespace byre::test
