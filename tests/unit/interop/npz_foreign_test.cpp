// SPDX-License-Identifier: BSL-1.0
// Valid archives as other programs write them.
#include <byre/interop/npz.hpp>

#include <algorithm>
#include <fstream>
#include <span>

#include "archives.hpp"

namespace byre::test {
namespace {

const std::string array_of_three = npy_of("\1\2\3");
const std::string three = little_endian(array_of_three.size(), 8);

void expect_three(const std::string& bytes) {
  const Tensor tensor = Tensor::of<std::uint8_t>({3}, {1, 2, 3});
  NamedTensors found;
  ASSERT_NO_THROW(found = read_npz(std::as_bytes(std::span(bytes))));
  expect_same_tensors(found, {{"a", tensor}});
}

TEST(ArchivesByOthers, comments_extra_fields_and_bytes_around_members_are_allowed) {
  ArchiveMember member{.data = array_of_three};
  member.comment = "of a member";
  member.extra = extra_field(7, "seven") + extra_field(8, "");
  member.local_extra = extra_field(9, "nine");
  for (const std::string& comment :
       {std::string(), std::string("words"), std::string(0xFFFF, 'x')}) {
    expect_three(archive_of({member}, {"front", "behind", comment}).bytes);
  }
}

TEST(ArchivesByOthers, data_descriptors_of_all_kinds_are_read) {
  for (int kind = 0; kind < 8; ++kind) {
    const bool is_long = (kind & 1) != 0;
    ArchiveMember member = deflated({.data = array_of_three});
    member.flags = 8;
    const std::size_t nbytes = is_long ? 8 : 4;
    member.descriptor = ((kind & 2) != 0 ? "PK\7\10" : "") + little_endian(member.crc, 4) +
                        little_endian(member.packed.size(), nbytes) + three.substr(0, nbytes);
    member.local_extra = is_long ? extra_field(1, std::string(16, '\0')) : "";
    Archive archive = archive_of({member});
    if ((kind & 4) != 0) {
      archive.change(local, 14, 0, 4);
      archive.change(local, 18, is_long ? ~0U : 0, 4);
      archive.change(local, 22, is_long ? ~0U : 0, 4);
    }
    expect_three(archive.bytes);
  }
}

TEST(ArchivesByOthers, small_numbers_in_zip64_fields_are_read) {
  ArchiveMember member{.data = array_of_three};
  member.local_extra = extra_field(7, "x") + extra_field(1, three + three);
  member.extra = extra_field(1, three + three + little_endian(5, 8));
  Archive archive = archive_of({member}, {.front = "12345", .has_zip64_end = true});
  archive.move_to_zip64({{local, 18},
                         {local, 22},
                         {record, 20},
                         {record, 24},
                         {record, 42},
                         {end, 8},
                         {end, 12},
                         {end, 16}});
  expect_three(archive.bytes);
  // Like Python's archives, this one has its numbers in both records at the end.
  expect_three(archive_of({{.data = array_of_three}}, {.has_zip64_end = true}).bytes);
}

TEST(ArchivesByOthers, tensors_are_read_in_the_order_of_the_zip_directory) {
  Archive archive = archive_of({{.data = array_of_three}, {.name = "b.npy", .data = npy_of("\7")}});
  const auto at = [&](Place place) {
    return archive.bytes.begin() + static_cast<std::ptrdiff_t>(archive.places[place]);
  };
  std::rotate(at(record), at(second_record), at(end));
  expect_same_tensors(
      read_npz(std::as_bytes(std::span(archive.bytes))),
      {{"b", Tensor::of<std::uint8_t>({1}, {7})}, {"a", Tensor::of<std::uint8_t>({3}, {1, 2, 3})}});
}

/// The file is sparse: its first member has 5 GiB, and another member follows.
TEST(ArchivesByOthers, archives_above_4_gib_are_read) {
  if constexpr (sizeof(std::size_t) > 4) {
    constexpr std::uint64_t more = std::uint64_t{5} << 30;
    const std::string header = npy_header(DType::u8, {static_cast<std::int64_t>(more)});
    const std::string nbytes = little_endian(header.size() + more, 8);
    const ArchiveMember large{.data = header,
                              .extra = extra_field(1, nbytes + nbytes),
                              .local_extra = extra_field(1, nbytes + nbytes)};
    ArchiveMember small{.name = "b.npy", .data = npy_of("\4\5")};
    small.extra = extra_field(1, little_endian(more + 30 + 5 + 20 + header.size(), 8));
    Archive archive = archive_of({large, small}, {.has_zip64_end = true});
    archive.move_to_zip64(
        {{local, 18}, {local, 22}, {record, 20}, {record, 24}, {second_record, 42}, {end, 16}});
    archive.change(zip64_end, 48, archive.places[record] + more, 8);
    archive.change(locator, 8, archive.places[zip64_end] + more, 8);
    const TemporaryFolder folder;
    const std::size_t front = archive.places[second_local];
    std::ofstream file(folder / "a.npz", std::ios::binary);
    file << archive.bytes.substr(0, front);
    file.seekp(static_cast<std::streamoff>(front + more - 1))
        << '\7' << archive.bytes.substr(front);
    file.close();
    ASSERT_TRUE(file);
    const NamedTensors mapped = map_npz(folder / "a.npz");
    ASSERT_EQ(mapped.size(), 2U);
    EXPECT_EQ(mapped[0].second.sizes(), Dims{static_cast<std::int64_t>(more)});
    EXPECT_EQ(mapped[0].second.at<std::uint8_t>({0}), 0);
    EXPECT_EQ(mapped[0].second.at<std::uint8_t>({static_cast<std::int64_t>(more - 1)}), 7);
    expect_same(mapped[1].second, Tensor::of<std::uint8_t>({2}, {4, 5}));
  }
}

TEST(MappedNpz, data_that_cannot_be_used_in_place_are_loaded) {
  const TemporaryFolder folder;
  const std::string other(is_little ? "\0\0\0\7" : "\7\0\0\0", 4);
  const std::string native(is_little ? "\7\0\0\0" : "\0\0\0\7", 4);
  std::string header = npy_header(DType::i32, {1});
  header[header.find("i4") - 1] = is_little ? '>' : '<';
  // These bytes align the data of one member to a multiple of four.
  const std::string front((4 - (30 + 5) % 4) % 4, 'x');
  const std::string native_array = npy_header(DType::i32, {1}) + native;
  write_file(folder / "a.npz",
             archive_of({{.name = "o.npy", .data = header + other},
                         {.name = "unaligned.npy", .data = native_array},
                         deflated({.name = "deflated.npy", .data = native_array})},
                        {.front = front})
                 .bytes);
  const Tensor seven = Tensor::of<std::int32_t>({1}, {7});
  const NamedTensors expected{{"o", seven}, {"unaligned", seven}, {"deflated", seven}};
  expect_same_tensors(load_npz(folder / "a.npz"), expected);
  const NamedTensors mapped = map_npz(folder / "a.npz");
  expect_same_tensors(mapped, expected);
  for (const auto& [name, tensor] : mapped) {
    EXPECT_EQ(tensor.storage().origin(), Origin::allocated) << name;
  }
  write_file(folder / "b.npz", archive_of({{.data = native_array}}, {.front = front}).bytes);
  EXPECT_EQ(map_npz(folder / "b.npz")[0].second.storage().origin(), Origin::mapped);
}

}  // namespace
}  // namespace byre::test
