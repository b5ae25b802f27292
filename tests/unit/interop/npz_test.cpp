// SPDX-License-Identifier: BSL-1.0
// Tensors that go into .npz files and come out again, and archives by others. tests/numpy has NumPy do one of the two.
#include <byre/interop/npz.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <span>
#include <thread>

#include "archives.hpp"
#include "named_tensors.hpp"
#include "support/sanitized.hpp"

namespace byre::test {
namespace {

namespace fs = std::filesystem;

std::span<const std::byte> bytes_of_archive(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// Of each dtype and order, under names that are in no order.
NamedTensors many_tensors() {
  NamedTensors tensors;
  for (const DType dtype : stored_dtypes) {
    const Tensor whole = counted({4, 3, 6}, dtype);
    const std::string name = name_of(dtype);
    tensors.emplace_back("z " + name, whole);
    tensors.emplace_back(name + "/transposed", whole.permute({2, 1, 0}));
    tensors.emplace_back(name + "/of_no_order", whole.transpose(0, 1));
    tensors.emplace_back(name + "/a.part", whole.slice(2, 1, 6, 2));
    tensors.emplace_back(name + "/scalar", counted({}, dtype));
    tensors.emplace_back("nothing of " + name, counted({2, 0, 3}, dtype));
  }
  return tensors;
}

std::string name_of_compression(const testing::TestParamInfo<NpzCompression>& info) {
  return info.param == NpzCompression::stored ? "stored" : "deflated";
}

class EitherCompression : public testing::TestWithParam<NpzCompression> {
 protected:
  /// Tensors that are saved come back by each way of reading.
  void expect_kept(const NamedTensors& saved) {
    save_npz(path_, saved, GetParam());
    expect_same_tensors(load_npz(path_), saved);
    expect_same_tensors(map_npz(path_), saved);
    expect_same_tensors(read_npz(bytes_of_archive(read_file(path_))), saved);
  }

  TemporaryFolder folder_;
  const fs::path path_ = folder_ / "a.npz";
};
INSTANTIATE_TEST_SUITE_P(Npz, EitherCompression,
                         testing::Values(NpzCompression::stored, NpzCompression::deflated),
                         name_of_compression);

TEST_P(EitherCompression, keeps_every_dtype_and_order_and_the_order_of_the_file) {
  const NamedTensors saved = many_tensors();
  expect_kept(saved);
  const NamedTensors loaded = load_npz(path_);
  EXPECT_EQ(loaded[1].second.strides(), saved[1].second.strides()) << "in Fortran order";
}

TEST_P(EitherCompression, keeps_an_archive_of_nothing) {
  expect_kept({});
  EXPECT_EQ(fs::file_size(path_), 98U);
}

TEST_P(EitherCompression, keeps_names_of_any_kind) {
  NamedTensors saved;
  for (const std::string name : {"", "a", "a.npy", ".", "/etc/passwd", "../above", "back\\slash",
                                 "zwölf", "\xff\xfe", "a b\n", "\x01", "\u00e4\x1f"}) {
    saved.emplace_back(name, counted({2}, DType::i32));
  }
  saved.emplace_back(std::string(65531, 'x'), counted({1}, DType::u8));
  expect_kept(saved);
}

TEST_P(EitherCompression, keeps_what_takes_several_buffers_or_hardly_becomes_smaller) {
  Tensor noise = Tensor::empty({300'000}, DType::u8);
  std::uint64_t state = 1;
  for (std::uint8_t& byte : std::span(noise.mutable_data<std::uint8_t>(), 300'000)) {
    state = state * 6364136223846793005 + 1442695040888963407;
    byte = static_cast<std::uint8_t>(state >> 56);
  }
  expect_kept({{"small", counted({3}, DType::u8)},
               {"large", counted({1000, 301}, DType::f32)},
               {"noise", noise},
               {"as_much_as_a_header_may_have", counted({(1 << 16) - 128}, DType::u8)},
               {"a_byte_more", counted({(1 << 16) - 127}, DType::u8)}});
}

TEST_P(EitherCompression, begins_all_data_at_multiples_of_64_bytes) {
  // Names of which each leaves another number of bytes to fill.
  NamedTensors saved;
  for (std::size_t length = 0; length < 70; ++length) {
    saved.emplace_back(std::string(length, 'n'), counted({3}, DType::u8));
  }
  expect_kept(saved);
  const std::string bytes = read_file(path_);
  std::size_t found = 0;
  for (std::size_t at = bytes.find("PK\3\4"); at != bytes.npos; at = bytes.find("PK\3\4", at + 1)) {
    const auto number = [&](std::size_t offset) {
      return static_cast<std::size_t>(static_cast<unsigned char>(bytes[at + offset])) |
             static_cast<std::size_t>(static_cast<unsigned char>(bytes[at + offset + 1])) << 8;
    };
    EXPECT_EQ((at + 30 + number(26) + number(28)) % 64, 0U);
    EXPECT_LT(number(28), 64U + 26U);
    ++found;
  }
  EXPECT_EQ(found, saved.size());
}

TEST_P(EitherCompression, is_the_same_file_each_time) {
  save_npz(path_, many_tensors(), GetParam());
  save_npz(folder_ / "b.npz", many_tensors(), GetParam());
  EXPECT_EQ(read_file(path_), read_file(folder_ / "b.npz"));
}

TEST_P(EitherCompression, may_replace_the_file_that_the_tensors_are_mapped_from) {
  const NamedTensors saved{{"a", counted({100}, DType::f32)}, {"b", counted({3, 5}, DType::i16)}};
  save_npz(path_, saved);
  NamedTensors mapped = map_npz(path_);
  mapped[0].second.set_at<float>({7}, 42.0F);
  std::swap(mapped[0], mapped[1]);
  save_npz(path_, mapped, GetParam());
  expect_same_tensors(load_npz(path_), mapped);
  expect_same(mapped[0].second, saved[1].second);
}

TEST_P(EitherCompression, goes_through_a_pipe) {
  const NamedTensors saved = many_tensors();
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { received = read_file(pipe); });
  save_npz(pipe, saved, GetParam());
  reader.join();
  expect_same_tensors(read_npz(bytes_of_archive(received)), saved);
}

TEST(Npz, is_smaller_deflated) {
  const TemporaryFolder folder;
  const NamedTensors saved{{"zeros", Tensor::zeros({100'000}, DType::f32)}};
  save_npz(folder / "stored.npz", saved);
  save_npz(folder / "deflated.npz", saved, NpzCompression::deflated);
  EXPECT_GT(fs::file_size(folder / "stored.npz"), 400'000U);
  EXPECT_LT(fs::file_size(folder / "deflated.npz"), 2'000U);
}

TEST(Npz, of_65535_tensors_and_more_is_read_back) {
  if (is_sanitized) {
    GTEST_SKIP() << "takes minutes, and reads nothing that smaller archives do not";
  }
  const TemporaryFolder folder;
  const Tensor tensor = counted({1}, DType::u8);
  for (const std::size_t count : {65534U, 65535U, 65537U}) {
    NamedTensors saved;
    for (std::size_t at = 0; at < count; ++at) {
      saved.emplace_back(std::to_string(at), tensor);
    }
    save_npz(folder / "a.npz", saved);
    const NamedTensors mapped = map_npz(folder / "a.npz");
    ASSERT_EQ(mapped.size(), count);
    EXPECT_EQ(mapped.back().first, std::to_string(count - 1));
    EXPECT_EQ(mapped.back().second.storage().origin(), Origin::mapped);
  }
}

TEST(SavedNpz, comes_from_any_memory_that_is_initialized) {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.npz";
  const Tensor good = counted({2}, DType::f32);
  const auto refuse = [&]<class Expected>(const Tensor& tensor, Expected*) {
    return complaint_of<Expected>([&] {
      save_npz(path, NamedTensors{{"good", good}, {"bad", tensor}});
    });
  };
  StateError* const state = nullptr;
  EXPECT_TRUE(says(refuse(Tensor(), state), "save_npz"));
  Tensor tensor(Device::cpu());
  tensor.resize({2});
  EXPECT_TRUE(says(refuse(tensor, state), "save_npz: the tensor [2] is dtype-uninitialized"));
  tensor.realize<float>().free_memory();
  EXPECT_TRUE(
      says(refuse(tensor, state), "save_npz: the tensor [2] of f32 is storage-uninitialized"));
  EXPECT_TRUE(
      says(refuse(Tensor::zeros({2}, DType::bf16), static_cast<DTypeError*>(nullptr)), "bf16"));
  EXPECT_FALSE(fs::exists(path));
}

TEST(SavedNpz, says_that_names_are_utf8_if_they_are) {
  const TemporaryFolder folder;
  const auto is_said = [&](const std::string& name) {
    save_npz(folder / "a.npz", NamedTensors{{name, counted({1}, DType::u8)}});
    return (static_cast<unsigned char>(read_file(folder / "a.npz")[7]) & 8) != 0;
  };
  for (const std::string name :
       {"", "plain\x7f", "\u00e4", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
        "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "a\u20acb"}) {
    EXPECT_TRUE(is_said(name)) << name;
  }
  for (const std::string name :
       {"\x80", "a\xbf", "\xc1\xbf", "\xc3", "\xc3(", "\xc3\xc3", "\xe0\x9f\xbf", "\xe2\x82",
        "\xe2\x28\xa1", "\xe2\x82(", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80", "\xf0\x90\x80(", "\xf8\x88\x80\x80\x80", "\xff", "\x1f",
        "\u00e4\x01"}) {
    EXPECT_FALSE(is_said(name)) << name;
  }
}

TEST(SavedNpz, has_names_that_archives_can_have) {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.npz";
  const Tensor tensor = counted({2}, DType::f32);
  const auto refuse = [&](const NamedTensors& tensors) {
    return complaint_of<InvalidArgument>([&] { save_npz(path, tensors); });
  };
  EXPECT_TRUE(says(refuse({{"x", tensor}, {"y", tensor}, {"x", tensor}}),
                   "save_npz: the name \"x\" is that of two tensors", "Give the tensor another"));
  for (const std::string& name : {std::string("x\0y", 3), std::string(65532, 'x')}) {
    EXPECT_TRUE(says(refuse({{name, tensor}}), "save_npz: the name \"x", "more than 65531 bytes",
                     "a zero byte"));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(SavedNpz, leaves_what_was_there_if_it_fails) {
  const TemporaryFolder folder;
  const NamedTensors saved{{"x", counted({4}, DType::f32)}};
  EXPECT_TRUE(says(complaint_of<FileError>([&] { save_npz(folder / "missing" / "a.npz", saved); }),
                   "No such file"));
}

TEST(MappedNpz, is_one_mapping_of_which_each_tensor_has_a_lazy_clone) {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.npz";
  const NamedTensors saved = many_tensors();
  save_npz(path, saved);
  const std::string before = read_file(path);
  NamedTensors mapped = map_npz(path);
  EXPECT_EQ(mappings_of(folder.path()), 1);
  const Storage& file = mapped[0].second.storage();
  for (const auto& [name, tensor] : mapped) {
    if (tensor.numel() == 0) {
      EXPECT_EQ(tensor.storage().origin(), Origin::allocated) << name;
      continue;
    }
    EXPECT_EQ(tensor.storage().origin(), Origin::mapped) << name;
    EXPECT_TRUE(tensor.storage().shares_data_with(file)) << name;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.raw_data()) % 64, 0U) << name;
    EXPECT_FALSE(&tensor != &mapped[0].second && tensor.aliases(mapped[0].second)) << name;
  }
  auto* const bytes = static_cast<std::uint8_t*>(mapped[0].second.mutable_raw_data());
  bytes[0] ^= 1;
  EXPECT_EQ(read_file(path), before);
  NamedTensors others(saved.begin() + 1, saved.end());
  expect_same_tensors({mapped.begin() + 1, mapped.end()}, others);
}

TEST(MappedNpz, has_no_mapping_left_once_its_tensors_are_gone) {
  const TemporaryFolder folder;
  save_npz(folder / "a.npz", many_tensors());
  map_npz(folder / "a.npz");
  EXPECT_EQ(mappings_of(folder.path()), 0);
  save_npz(folder / "a.npz", many_tensors(), NpzCompression::deflated);
  const NamedTensors loaded = map_npz(folder / "a.npz");
  EXPECT_EQ(mappings_of(folder.path()), 0) << "what is deflated is in memory";
}

TEST(MappedNpz, loads_what_cannot_be_used_where_it_is) {
  const TemporaryFolder folder;
  const bool is_little = std::endian::native == std::endian::little;
  const std::string other(is_little ? "\0\0\0\7" : "\7\0\0\0", 4);
  const std::string native(is_little ? "\7\0\0\0" : "\0\0\0\7", 4);
  std::string header = npy_header(DType::i32, {1});
  header[header.find("i4") - 1] = is_little ? '>' : '<';
  // Three bytes more bring the data of one member to a multiple of four.
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

// ---- archives by others, all as they should be

const std::string array_of_three = npy_of("\1\2\3");
const std::string three = little_endian(array_of_three.size(), 8);

void expect_three(const std::string& bytes) {
  const Tensor tensor = Tensor::of<std::uint8_t>({3}, {1, 2, 3});
  NamedTensors found;
  ASSERT_NO_THROW(found = read_npz(bytes_of_archive(bytes)));
  expect_same_tensors(found, {{"a", tensor}});
}

TEST(ArchivesByOthers, may_have_comments_and_bytes_that_belong_to_no_member) {
  ArchiveMember member{.data = array_of_three};
  member.comment = "of a member";
  member.extra = extra_field(7, "seven") + extra_field(8, "");
  member.local_extra = extra_field(9, "nine");
  for (const std::string& comment :
       {std::string(), std::string("words"), std::string(0xFFFF, 'x')}) {
    expect_three(archive_of({member}, {"front", "behind", comment}).bytes);
  }
}

TEST(ArchivesByOthers, may_have_descriptors_of_four_kinds) {
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

TEST(ArchivesByOthers, may_have_numbers_in_zip64_that_need_it_not) {
  ArchiveMember member{.data = array_of_three};
  member.local_extra = extra_field(7, "x") + extra_field(1, three + three);
  member.extra = extra_field(1, three + three + little_endian(5, 8));
  Archive archive = archive_of({member}, {.front = "12345", .has_zip64_end = true});
  for (const auto& [place, offset] :
       std::initializer_list<std::pair<Place, std::size_t>>{{local, 18},
                                                            {local, 22},
                                                            {record, 20},
                                                            {record, 24},
                                                            {record, 42},
                                                            {end, 8},
                                                            {end, 12},
                                                            {end, 16}}) {
    archive.change(place, offset, ~0U, 4);
  }
  expect_three(archive.bytes);
  // As Python writes it, with numbers in both records.
  expect_three(archive_of({{.data = array_of_three}}, {.has_zip64_end = true}).bytes);
}

TEST(ArchivesByOthers, may_have_a_directory_in_another_order_which_is_that_of_the_tensors) {
  Archive archive = archive_of({{.data = array_of_three}, {.name = "b.npy", .data = npy_of("\7")}});
  const auto at = [&](Place place) {
    return archive.bytes.begin() + static_cast<std::ptrdiff_t>(archive.places[place]);
  };
  std::rotate(at(record), at(second_record), at(end));
  expect_same_tensors(
      read_npz(bytes_of_archive(archive.bytes)),
      {{"b", Tensor::of<std::uint8_t>({1}, {7})}, {"a", Tensor::of<std::uint8_t>({3}, {1, 2, 3})}});
}

TEST(ArchivesByOthers, may_have_no_members_and_be_of_zip64) {
  EXPECT_TRUE(read_npz(bytes_of_archive(archive_of({}, {.has_zip64_end = true}).bytes)).empty());
}

TEST(ArchivesByOthers, may_have_a_longer_zip64_end_and_flags_that_say_little) {
  ArchiveMember member = deflated({.data = array_of_three});
  member.flags = 1 << 1 | 1 << 2 | 1 << 11;
  Archive archive = archive_of({member}, {.has_zip64_end = true});
  archive.change(zip64_end, 4, 44 + 10, 8);
  archive.bytes.insert(archive.places[locator], "0123456789");
  expect_three(archive.bytes);
}

/// A file of mostly holes: the first member has 5 GiB, and another one follows.
TEST(ArchivesByOthers, may_be_of_more_than_4_gib) {
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
    for (const auto& [place, offset] :
         std::initializer_list<std::pair<Place, std::size_t>>{{local, 18},
                                                              {local, 22},
                                                              {record, 20},
                                                              {record, 24},
                                                              {second_record, 42},
                                                              {end, 16}}) {
      archive.change(place, offset, ~0U, 4);
    }
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

}  // namespace
}  // namespace byre::test
