// SPDX-License-Identifier: BSL-1.0
// The records of archives whose numbers do not fit 32 bits, or 16.
#include <byre/interop/detail/zip_directory.hpp>
#include <byre/interop/detail/zip_records.hpp>
#include <byre/interop/npz.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "../tensor/npy_tensors.hpp"
#include "archives.hpp"
#include "support/emulated.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace {

using detail::ZipMember;
using detail::ZipMethod;

std::uint64_t number_in(const std::string& bytes, std::size_t offset, std::size_t nbytes) {
  std::uint64_t number = 0;
  for (std::size_t at = nbytes; at-- > 0;) {
    number = number << 8 | static_cast<unsigned char>(bytes.at(offset + at));
  }
  return number;
}

ZipMember member_of(std::uint64_t nbytes, std::uint64_t header_offset = 0) {
  ZipMember member;
  member.name = "large.npy";
  member.crc = 0x12345678;
  member.nbytes = nbytes;
  member.packed_nbytes = nbytes + 1;  // to be told apart
  member.header_offset = header_offset;
  return member;
}

constexpr std::uint64_t two_gib = std::uint64_t{1} << 31;
constexpr std::uint64_t four_gib = std::uint64_t{1} << 32;
constexpr std::size_t name_end = 30 + 9;

TEST(ZipRecords, of_members_below_2_gib_have_32_bits) {
  const std::string header = zip_local_header(member_of(two_gib - 1));
  EXPECT_EQ(number_in(header, 4, 2), 20U) << "the version";
  EXPECT_EQ(number_in(header, local_header::crc, 4), 0x12345678U);
  EXPECT_EQ(number_in(header, local_header::nbytes, 4), two_gib - 1);
  EXPECT_EQ(number_in(header, local_header::packed, 4), two_gib);
  EXPECT_EQ(number_in(header, name_end, 2), 0xA11EU) << "no zip64 field";

  const std::string record = zip_directory_record(member_of(two_gib - 1, four_gib - 2));
  EXPECT_EQ(record.size(), 46U + 9U);
  EXPECT_EQ(number_in(record, 4, 2), 3U << 8 | 45U) << "made on Unix";
  EXPECT_EQ(number_in(record, 6, 2), 20U);
  EXPECT_EQ(number_in(record, directory_record::crc, 4), 0x12345678U);
  EXPECT_EQ(number_in(record, directory_record::nbytes, 4), two_gib - 1);
  EXPECT_EQ(number_in(record, directory_record::packed, 4), two_gib);
  EXPECT_EQ(number_in(record, directory_record::offset, 4), four_gib - 2);
  EXPECT_EQ(number_in(record, 38, 4), 0100644U << 16) << "a plain file";

  const std::string descriptor = zip_descriptor(member_of(two_gib - 1));
  EXPECT_EQ(descriptor, "PK\7\10" + little_endian(0x12345678, 4) + little_endian(two_gib, 4) +
                            little_endian(two_gib - 1, 4));
}

TEST(ZipRecords, of_members_of_2_gib_and_more_have_64_bits) {
  const std::uint64_t nbytes = 5 * four_gib + 7;
  for (const std::uint64_t each : {two_gib, nbytes}) {
    const std::string header = zip_local_header(member_of(each));
    EXPECT_EQ(number_in(header, 4, 2), 45U);
    EXPECT_EQ(number_in(header, local_header::nbytes, 4), 0xFFFF'FFFFU);
    EXPECT_EQ(number_in(header, local_header::packed, 4), 0xFFFF'FFFFU);
    EXPECT_EQ(header.substr(name_end, 20),
              extra_field(1, little_endian(each, 8) + little_endian(each + 1, 8)));
    EXPECT_EQ(header.size() % 64, 0U);
    EXPECT_EQ(number_in(header, local_header::extra_nbytes, 2), header.size() - name_end);
  }
  const std::string record = zip_directory_record(member_of(nbytes, 64));
  EXPECT_EQ(number_in(record, 6, 2), 45U);
  EXPECT_EQ(number_in(record, directory_record::nbytes, 4), 0xFFFF'FFFFU);
  EXPECT_EQ(number_in(record, directory_record::packed, 4), 0xFFFF'FFFFU);
  EXPECT_EQ(number_in(record, directory_record::offset, 4), 64U);
  EXPECT_EQ(record.substr(46 + 9),
            extra_field(1, little_endian(nbytes, 8) + little_endian(nbytes + 1, 8)));
  EXPECT_EQ(number_in(record, 30, 2), 20U) << "what is extra";

  EXPECT_EQ(zip_descriptor(member_of(nbytes)), "PK\7\10" + little_endian(0x12345678, 4) +
                                                   little_endian(nbytes + 1, 8) +
                                                   little_endian(nbytes, 8));
}

TEST(ZipRecords, of_members_from_4_gib_on_have_64_bits_for_where_they_are) {
  const std::string saturated = zip_directory_record(member_of(100, four_gib - 1));
  EXPECT_EQ(number_in(saturated, 6, 2), 45U);
  EXPECT_EQ(number_in(saturated, directory_record::nbytes, 4), 100U);
  EXPECT_EQ(number_in(saturated, directory_record::offset, 4), 0xFFFF'FFFFU);
  EXPECT_EQ(saturated.substr(46 + 9), extra_field(1, little_endian(four_gib - 1, 8)));

  const std::string both = zip_directory_record(member_of(two_gib, 3 * four_gib));
  EXPECT_EQ(both.substr(46 + 9),
            extra_field(1, little_endian(two_gib, 8) + little_endian(two_gib + 1, 8) +
                               little_endian(3 * four_gib, 8)));
}

TEST(ZipRecords, in_front_of_a_descriptor_leave_its_numbers_out) {
  ZipMember member = member_of(two_gib);
  member.flags = detail::zip_flags::descriptor;
  member.method = ZipMethod::deflated;
  std::string header = zip_local_header(member);
  EXPECT_EQ(number_in(header, local_header::flags, 2), 8U);
  EXPECT_EQ(number_in(header, local_header::method, 2), 8U);
  EXPECT_EQ(number_in(header, local_header::crc, 4), 0U);
  EXPECT_EQ(header.substr(name_end, 20), extra_field(1, std::string(16, '\0')));
  member.nbytes = 10;
  header = zip_local_header(member);
  EXPECT_EQ(header.substr(local_header::crc, 12), std::string(12, '\0'));
}

TEST(ZipRecords, are_filled_up_by_a_field_that_says_so) {
  ZipMember member = member_of(10);
  for (std::size_t length = 0; length < 64; ++length) {
    member.name.assign(length, 'n');
    const std::string header = zip_local_header(member);
    EXPECT_EQ(header.size() % 64, 0U);
    const std::string extra = header.substr(30 + length);
    EXPECT_EQ(number_in(header, local_header::extra_nbytes, 2), extra.size());
    if (!extra.empty()) {
      EXPECT_EQ(extra,
                extra_field(0xA11E, little_endian(64, 2) + std::string(extra.size() - 6, '\0')));
    }
  }
}

TEST(ZipRecords, at_the_end_are_of_zip64_if_a_number_needs_it) {
  const std::string plain = detail::zip_end(0xFFFE, four_gib - 2, four_gib - 2);
  EXPECT_EQ(plain, "PK\5\6" + little_endian(0, 4) + little_endian(0xFFFE, 2) +
                       little_endian(0xFFFE, 2) + little_endian(four_gib - 2, 4) +
                       little_endian(four_gib - 2, 4) + little_endian(0, 2));
  struct Case {
    std::uint64_t count;
    std::uint64_t offset;
    std::uint64_t nbytes;
  };
  for (const auto& [count, offset, nbytes] :
       {Case{0xFFFF, 1000, 2000}, Case{0x1'0002, 1000, 2000}, Case{3, four_gib - 1, 2000},
        Case{3, 7 * four_gib, 2000}, Case{3, 1000, four_gib - 1}, Case{3, 1000, 9 * four_gib}}) {
    const auto at_most = [](std::uint64_t number, std::uint64_t most) {
      return number < most ? number : most;
    };
    EXPECT_EQ(detail::zip_end(count, offset, nbytes),
              "PK\6\6" + little_endian(44, 8) + little_endian(3 << 8 | 45, 2) +
                  little_endian(45, 2) + little_endian(0, 8) + little_endian(count, 8) +
                  little_endian(count, 8) + little_endian(nbytes, 8) + little_endian(offset, 8) +
                  "PK\6\7" + little_endian(0, 4) + little_endian(offset + nbytes, 8) +
                  little_endian(1, 4) + "PK\5\6" + little_endian(0, 4) +
                  little_endian(at_most(count, 0xFFFF), 2) +
                  little_endian(at_most(count, 0xFFFF), 2) +
                  little_endian(at_most(nbytes, 0xFFFF'FFFF), 4) +
                  little_endian(at_most(offset, 0xFFFF'FFFF), 4) + little_endian(0, 2));
  }
}

TEST(ZipBytes, are_not_read_outside) {
  testing::FLAGS_gtest_death_test_style = death_test_style();
  const std::byte memory[4]{};
  const detail::ZipBytes bytes{std::span(memory)};
  std::byte read[4]{};
  bytes.read(0, read);
  bytes.read(4, {});
  EXPECT_DEATH(bytes.read(1, read), "an archive is read within its bytes");
  EXPECT_DEATH(bytes.read(5, {}), "an archive is read within its bytes");
}

/// A file of mostly holes: its first member has 5 GiB, and another one follows.
void write_large_archive(const std::filesystem::path& path, std::uint64_t nbytes) {
  std::ofstream file(path, std::ios::binary);
  std::string directory;
  std::uint64_t position = 0;
  const auto add = [&](const char* name, const std::string& header, std::uint64_t data_nbytes,
                       char last) {
    ZipMember member;
    member.name = name;
    member.nbytes = member.packed_nbytes = header.size() + data_nbytes;
    member.header_offset = position;
    const std::string begin = zip_local_header(member) + header;
    file.seekp(static_cast<std::streamoff>(position)) << begin;
    position += begin.size() + data_nbytes;
    file.seekp(static_cast<std::streamoff>(position - 1)) << last;
    directory += zip_directory_record(member);
  };
  const auto count = static_cast<std::int64_t>(nbytes);
  add("large.npy", npy_header(DType::u8, {count}), nbytes, '\7');
  add("small.npy", npy_header(DType::u8, {2}), 2, '\5');
  file << directory << detail::zip_end(2, position, directory.size());
  file.close();
  ASSERT_TRUE(file);
}

TEST(ZipRecords, of_a_file_of_5_gib_are_read_and_mapped) {
  if constexpr (sizeof(std::size_t) > 4) {
    const TemporaryFolder folder;
    const std::uint64_t nbytes = 5 * (four_gib / 4);
    write_large_archive(folder / "a.npz", nbytes);
    const NamedTensors mapped = map_npz(folder / "a.npz");
    ASSERT_EQ(mapped.size(), 2U);
    const auto count = static_cast<std::int64_t>(nbytes);
    EXPECT_EQ(mapped[0].first, "large");
    EXPECT_EQ(mapped[0].second.sizes(), Dims{count});
    EXPECT_EQ(mapped[0].second.at<std::uint8_t>({0}), 0);
    EXPECT_EQ(mapped[0].second.at<std::uint8_t>({count - 1}), 7);
    expect_same(mapped[1].second, Tensor::of<std::uint8_t>({2}, {0, 5}));
  }
}

}  // namespace
}  // namespace byre::test
