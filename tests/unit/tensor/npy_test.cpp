// SPDX-License-Identifier: BSL-1.0
// Tensors that go into .npy files and come out again. tests/numpy has NumPy do one of the two.
#include <byre/storage/foreign.hpp>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <span>

#include "npy_tensors.hpp"

namespace byre::test {
namespace {

namespace fs = std::filesystem;

std::span<const std::byte> as_bytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// A file of two i32 in either order.
std::string pair_of_i32(char byte_order, const std::string& data) {
  std::string header = npy_header(DType::i32, {2});
  header[header.find("i4") - 1] = byte_order;
  return header + data;
}

class EveryStoredDtype : public testing::TestWithParam<DType> {
 protected:
  TemporaryFolder folder_;
};

std::string name_of_dtype(const testing::TestParamInfo<DType>& info) {
  return name_of(info.param);
}
INSTANTIATE_TEST_SUITE_P(Npy, EveryStoredDtype, testing::ValuesIn(stored_dtypes), name_of_dtype);

TEST_P(EveryStoredDtype, comes_back_as_it_was_from_each_way_of_reading) {
  const fs::path path = folder_ / "a.npy";
  for (const Dims& sizes : {Dims{}, Dims{1}, Dims{5}, Dims{0}, Dims{2, 0, 3}, Dims{3, 4},
                            Dims{2, 3, 4}, Dims{2, 1, 2, 1, 2, 1, 3}}) {
    const Tensor saved = counted(sizes, GetParam());
    save_npy(path, saved);
    const std::string bytes = read_file(path);
    expect_same(load_npy(path), saved);
    expect_same(map_npy(path), saved);
    expect_same(read_npy(as_bytes(bytes)), saved);
    EXPECT_EQ((bytes.size() - saved.nbytes()) % 64, 0U);
  }
}

TEST_P(EveryStoredDtype, keeps_its_fortran_order) {
  const fs::path path = folder_ / "a.npy";
  const Tensor saved = counted({4, 3, 2}, GetParam()).permute({2, 1, 0});
  save_npy(path, saved);
  EXPECT_TRUE(says(read_file(path), "'fortran_order': True, 'shape': (2, 3, 4)"));
  for (const Tensor& read : {load_npy(path), map_npy(path)}) {
    expect_same(read, saved);
    EXPECT_EQ(read.strides(), saved.strides());
  }
}

TEST_P(EveryStoredDtype, is_packed_if_it_is_a_view_that_no_order_describes) {
  const fs::path path = folder_ / "a.npy";
  const Tensor whole = counted({4, 3, 6}, GetParam());
  for (const Tensor& view :
       {whole.slice(2, 1, 6, 2), whole.transpose(0, 1),
        whole.select(0, 1).unsqueeze(0).expand({2, 3, 6}), whole.slice(0, 3, 3).transpose(1, 2)}) {
    save_npy(path, view);
    expect_same(load_npy(path), view);
    expect_same(map_npy(path), view);
  }
}

TEST_P(EveryStoredDtype, is_read_from_the_other_byte_order) {
  const Tensor saved = counted({3, 2}, GetParam());
  const std::size_t number_nbytes = GetParam() == DType::complex64 ? 4 : saved.itemsize();
  std::string header = npy_header(GetParam(), {3, 2});
  const std::size_t order = header.find("'descr': '") + 10;
  header[order] = header[order] == '>' ? '<' : '>';
  std::string data = packed_bytes_of(saved);
  for (std::size_t at = 0; at < data.size(); at += number_nbytes) {
    std::reverse(&data[at], &data[at] + number_nbytes);
  }
  const fs::path path = folder_ / "a.npy";
  write_file(path, header + data);
  expect_same(load_npy(path), saved);
  if (number_nbytes > 1) {
    EXPECT_TRUE(says(complaint_of<FileError>([&] { map_npy(path); }), "load_npy"));
  } else {
    expect_same(map_npy(path), saved);  // single bytes are in no order
  }
}

TEST(Npy, reads_numbers_in_the_order_that_the_header_says) {
  expect_same(read_npy(as_bytes(pair_of_i32('<', std::string("\1\0\0\0\0\2\0\0", 8)))),
              Tensor::of<std::int32_t>({2}, {1, 512}));
  expect_same(read_npy(as_bytes(pair_of_i32('>', std::string("\0\0\0\1\0\0\2\0", 8)))),
              Tensor::of<std::int32_t>({2}, {1, 512}));
  const Tensor of_machine = Tensor::of<std::int32_t>({2}, {1, 512});
  expect_same(read_npy(as_bytes(pair_of_i32('=', packed_bytes_of(of_machine)))), of_machine);
}

TEST(Npy, reads_versions_1_to_3) {
  const std::string text = "{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }       \n";
  const auto size = static_cast<char>(text.size());
  const std::string data("\5\0\0\0", 4);
  for (const std::string& preamble :
       {std::string("\x93NUMPY\1\0", 8) + size + '\0',
        std::string("\x93NUMPY\2\0", 8) + size + std::string(3, '\0'),
        std::string("\x93NUMPY\3\0", 8) + size + std::string(3, '\0')}) {
    expect_same(read_npy(as_bytes(preamble + text + data)), Tensor::of<std::int32_t>({1}, {5}));
  }
}

TEST(Npy, reads_the_longest_header_there_may_be_and_no_longer_one) {
  const auto file_of = [](std::size_t header_nbytes) {
    std::string text = "{'descr': '|u1', 'fortran_order': False, 'shape': (1,)}";
    text.resize(header_nbytes - 12, ' ');
    std::string preamble("\x93NUMPY\2\0", 8);
    for (std::size_t at = 0; at < 4; ++at) {
      preamble += static_cast<char>(text.size() >> 8 * at & 0xFF);
    }
    return preamble + text + '\5';
  };
  const TemporaryFolder folder;
  const Tensor five = Tensor::of<std::uint8_t>({1}, {5});
  write_file(folder / "a.npy", file_of(npy_header_max_nbytes));
  expect_same(read_npy(as_bytes(file_of(npy_header_max_nbytes))), five);
  expect_same(load_npy(folder / "a.npy"), five);
  expect_same(map_npy(folder / "a.npy"), five);

  const std::string longer = file_of(npy_header_max_nbytes + 1);
  write_file(folder / "a.npy", longer);
  for (const auto& complaint : {complaint_of<FileError>([&] { read_npy(as_bytes(longer)); }),
                                complaint_of<FileError>([&] { load_npy(folder / "a.npy"); }),
                                complaint_of<FileError>([&] { map_npy(folder / "a.npy"); })}) {
    EXPECT_TRUE(says(complaint, "header has 65525 bytes, more than a plain array needs"));
  }
}

TEST(Npy, reads_a_header_in_any_order_with_any_spaces_and_quotes_and_the_longs_of_python_2) {
  const std::string text = "{\"shape\":(2L,\r\n1L) ,'descr'\t: '|u1','fortran_order':False}\r";
  const std::string file =
      std::string("\x93NUMPY\1\0", 8) + static_cast<char>(text.size()) + '\0' + text + "\1\2";
  expect_same(read_npy(as_bytes(file)), Tensor::of<std::uint8_t>({2, 1}, {1, 2}));
}

TEST(Npy, reads_a_size_of_several_zeros_as_python_does) {
  const std::string text = "{'descr': '|u1', 'fortran_order': False, 'shape': (00, 2)}";
  const std::string file =
      std::string("\x93NUMPY\1\0", 8) + static_cast<char>(text.size()) + '\0' + text;
  expect_same(read_npy(as_bytes(file)), Tensor::zeros({0, 2}, DType::u8));
}

TEST(MappedNpy, is_not_copied_until_it_is_written_and_the_file_never_changes) {
  const TemporaryFolder folder;
  const fs::path path = folder / "weights.npy";
  save_npy(path, counted({8, 4}, DType::f32));
  const std::string before = read_file(path);
  const Tensor mapped = map_npy(path);
  EXPECT_EQ(mapped.storage().origin(), Origin::mapped);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mapped.raw_data()) % 64, 0U);

  Tensor overlay = mapped.lazy_clone();
  EXPECT_EQ(overlay.raw_data(), mapped.raw_data());
  overlay.set_at<float>({1, 2}, 42.0F);
  EXPECT_NE(overlay.raw_data(), mapped.raw_data());
  EXPECT_EQ(overlay.at<float>({1, 2}), 42.0F);
  EXPECT_EQ(read_file(path), before);
  expect_same(mapped, load_npy(path));
}

TEST(MappedNpy, in_fortran_order_is_a_transposed_view_that_is_not_copied) {
  const TemporaryFolder folder;
  save_npy(folder / "a.npy", counted({5, 3}, DType::i16).t());
  const Tensor mapped = map_npy(folder / "a.npy");
  EXPECT_EQ(mapped.storage().origin(), Origin::mapped);
  EXPECT_EQ(mapped.strides(), (Dims{1, 3}));
  expect_same(mapped, counted({5, 3}, DType::i16).t());
}

TEST(MappedNpy, without_elements_is_empty_whatever_its_other_sizes) {
  const TemporaryFolder folder;
  const Dims sizes = sizeof(std::size_t) > 4 ? Dims{335, 0, 2'000'000, 0, 23'500, 335, 7}
                                             : Dims{335, 0, 2'000, 0, 335, 7};
  save_npy(folder / "a.npy", Tensor::empty(sizes, DType::i32));
  expect_same(map_npy(folder / "a.npy"), load_npy(folder / "a.npy"));
  EXPECT_EQ(map_npy(folder / "a.npy").sizes(), sizes);
}

TEST(MappedNpy, that_is_not_aligned_is_refused_and_can_be_read) {
  const TemporaryFolder folder;
  const bool is_little = std::endian::native == std::endian::little;
  const std::string text = std::string("{'descr': '") + (is_little ? '<' : '>') +
                           "i4', 'fortran_order': False, 'shape': (1,)}";
  const std::string file = std::string("\x93NUMPY\1\0", 8) + static_cast<char>(text.size()) + '\0' +
                           text + std::string(is_little ? "\7\0\0\0" : "\0\0\0\7", 4);
  ASSERT_NE((file.size() - 4) % 4, 0U);
  write_file(folder / "a.npy", file);
  EXPECT_TRUE(
      says(complaint_of<FileError>([&] { map_npy(folder / "a.npy"); }), "no multiple", "load_npy"));
  expect_same(load_npy(folder / "a.npy"), Tensor::of<std::int32_t>({1}, {7}));
}

}  // namespace
}  // namespace byre::test
