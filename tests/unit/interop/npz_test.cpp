// SPDX-License-Identifier: BSL-1.0
// Tensors that are saved in .npz files and read again. tests/numpy exchanges files with NumPy.
#include <byre/interop/npz.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <thread>

#include "stored_tensors.hpp"
#include "support/sanitized.hpp"

namespace byre::test {
namespace {

namespace fs = std::filesystem;

/// Tensors of each dtype and layout, under unsorted names.
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
  /// Saves the tensors. Expects that each way of reading returns equal tensors.
  void expect_kept(const NamedTensors& saved) {
    save_npz(path_, saved, GetParam());
    expect_same_tensors(load_npz(path_), saved);
    expect_same_tensors(map_npz(path_), saved);
    const std::string file = read_file(path_);
    expect_same_tensors(read_npz(std::as_bytes(std::span(file))), saved);
  }

  TemporaryFolder folder_;
  const fs::path path_ = folder_ / "a.npz";
};
INSTANTIATE_TEST_SUITE_P(Npz, EitherCompression,
                         testing::Values(NpzCompression::stored, NpzCompression::deflated),
                         name_of_compression);

TEST_P(EitherCompression, keeps_dtypes_layouts_and_the_order_of_tensors) {
  const NamedTensors saved = many_tensors();
  expect_kept(saved);
  const NamedTensors loaded = load_npz(path_);
  EXPECT_EQ(loaded[1].second.strides(), saved[1].second.strides())
      << "expected strides of Fortran order";
}

TEST_P(EitherCompression, keeps_an_archive_without_tensors) {
  expect_kept({});
  EXPECT_EQ(fs::file_size(path_), 98U);
}

TEST_P(EitherCompression, keeps_tensor_names_of_any_characters) {
  NamedTensors saved;
  for (const std::string name : {"", "a", "a.npy", ".", "/etc/passwd", "../above", "back\\slash",
                                 "zwölf", "\xff\xfe", "a b\n", "\x01", "\u00e4\x1f"}) {
    saved.emplace_back(name, counted({2}, DType::i32));
  }
  saved.emplace_back(std::string(65531, 'x'), counted({1}, DType::u8));
  expect_kept(saved);
}

TEST_P(EitherCompression, keeps_large_and_incompressible_data) {
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
  // Names that need different numbers of padding bytes.
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

TEST_P(EitherCompression, gives_equal_files_for_equal_tensors) {
  save_npz(path_, many_tensors(), GetParam());
  save_npz(folder_ / "b.npz", many_tensors(), GetParam());
  EXPECT_EQ(read_file(path_), read_file(folder_ / "b.npz"));
}

TEST_P(EitherCompression, can_be_written_to_a_pipe) {
  const NamedTensors saved = many_tensors();
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { received = read_file(pipe); });
  save_npz(pipe, saved, GetParam());
  reader.join();
  expect_same_tensors(read_npz(std::as_bytes(std::span(received))), saved);
}

TEST(Npz, deflated_archives_are_smaller) {
  const TemporaryFolder folder;
  const NamedTensors saved{{"zeros", Tensor::zeros({100'000}, DType::f32)}};
  save_npz(folder / "stored.npz", saved);
  save_npz(folder / "deflated.npz", saved, NpzCompression::deflated);
  EXPECT_GT(fs::file_size(folder / "stored.npz"), 400'000U);
  EXPECT_LT(fs::file_size(folder / "deflated.npz"), 2'000U);
}

TEST(Npz, more_than_65535_tensors_are_read_back) {
  if (is_sanitized) {
    GTEST_SKIP() << "takes minutes with a sanitizer, and covers no other code";
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

TEST(SavedNpz, uninitialized_and_unsupported_tensors_are_rejected) {
  const TemporaryFolder folder;
  const auto save = [&](const Tensor& bad) {
    save_npz(folder / "a.npz", NamedTensors{{"good", counted({2}, DType::f32)}, {"bad", bad}});
  };
  EXPECT_TRUE(says(complaint_of<StateError>([&] { save(Tensor(Device::cpu())); }),
                   "save_npz: the tensor [0] is dtype-uninitialized"));
  EXPECT_TRUE(
      says(complaint_of<DTypeError>([&] { save(Tensor::zeros({2}, DType::bf16)); }), "bf16"));
  EXPECT_FALSE(fs::exists(folder / "a.npz"));
}

TEST(SavedNpz, the_utf8_flag_is_set_for_utf8_names_only) {
  const TemporaryFolder folder;
  const auto is_said = [&](const std::string& name) {
    save_npz(folder / "a.npz", NamedTensors{{name, counted({1}, DType::u8)}});
    return (static_cast<unsigned char>(read_file(folder / "a.npz")[7]) & 8) != 0;
  };
  for (const std::string name : {"", "plain\x7f", "\u00e4", "\xf4\x8f\xbf\xbf", "a\u20acb"}) {
    EXPECT_TRUE(is_said(name)) << name;
  }
  for (const std::string name :
       {"a\xbf", "\xc3(", "\xf4\x90\x80\x80", "\xff", "\x1f", "\u00e4\x01"}) {
    EXPECT_FALSE(is_said(name)) << name;
  }
}

TEST(SavedNpz, repeated_and_unsupported_names_are_rejected) {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.npz";
  const Tensor tensor = counted({2}, DType::f32);
  const auto refuse = [&](const NamedTensors& tensors) {
    return complaint_of<InvalidArgument>([&] { save_npz(path, tensors); });
  };
  EXPECT_TRUE(says(refuse({{"x", tensor}, {"y", tensor}, {"x", tensor}}),
                   "save_npz: the name \"x\" occurs twice", "Rename the tensor"));
  for (const std::string& name : {std::string("x\0y", 3), std::string(65532, 'x')}) {
    EXPECT_TRUE(says(refuse({{name, tensor}}), "save_npz: the name \"x", "more than 65531 bytes",
                     "a zero byte"));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(MappedNpz, all_tensors_are_lazy_clones_of_one_mapping) {
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

TEST(MappedNpz, the_file_is_unmapped_when_its_last_tensor_is_destroyed) {
  const TemporaryFolder folder;
  save_npz(folder / "a.npz", many_tensors());
  map_npz(folder / "a.npz");
  EXPECT_EQ(mappings_of(folder.path()), 0);
  save_npz(folder / "a.npz", many_tensors(), NpzCompression::deflated);
  const NamedTensors loaded = map_npz(folder / "a.npz");
  EXPECT_EQ(mappings_of(folder.path()), 0) << "expected deflated data in memory, not mapped";
}

}  // namespace
}  // namespace byre::test
