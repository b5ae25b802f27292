// SPDX-License-Identifier: BSL-1.0
// Tensors that are saved in .npy files and read again. tests/numpy exchanges files with NumPy, with
// every dtype, shape, byte order and version. files/output_file_test.cpp tests how a file is
// replaced.
#include <byre/storage/foreign.hpp>

#include <bit>
#include <complex>
#include <filesystem>
#include <span>

#include "stored_tensors.hpp"
#include "support/tensor/fake_device.hpp"

namespace byre::test {
namespace {

namespace fs = std::filesystem;

constexpr std::endian other_order = is_little ? std::endian::big : std::endian::little;
std::span<const std::byte> as_bytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// A .npy file of version 1 with the given header.
std::string file_of(const std::string& header, const std::string& data) {
  return std::string("\x93NUMPY\1\0", 8) + little_endian(header.size(), 2) + header + data;
}

class NpyFiles : public testing::Test {
 protected:
  NpyHeader saved_header() const {
    const std::string file = read_file(path_);
    return parse_npy_header(as_bytes(file));
  }

  TemporaryFolder folder_;
  const fs::path path_ = folder_ / "a.npy";
};

TEST_F(NpyFiles, every_way_of_reading_returns_the_saved_tensor) {
  for (const DType dtype : stored_dtypes) {
    const Tensor whole = counted({4, 3, 6}, dtype);
    for (const Tensor& saved :
         {counted({}, dtype), counted({0}, dtype), counted({2, 0, 3}, dtype), whole,
          whole.permute({2, 1, 0}), whole.slice(2, 1, 6, 2), whole.transpose(0, 1),
          whole.select(0, 1).unsqueeze(0).expand({2, 3, 6}), whole.slice(0, 3, 3)}) {
      SCOPED_TRACE(name_of(dtype) + to_string(saved.sizes()) + to_string(saved.strides()));
      save_npy(path_, saved);
      const Tensor mapped = map_npy(path_);
      expect_same(load_npy(path_), saved);
      expect_same(mapped, saved);
      expect_same(read_npy(as_bytes(read_file(path_))), saved);
      EXPECT_EQ(saved_header().data_offset % 64, 0U);
      const bool is_transposed = saved.strides() == whole.permute({2, 1, 0}).strides();
      EXPECT_EQ(saved_header().fortran_order, is_transposed);
      EXPECT_TRUE(!is_transposed || mapped.strides() == saved.strides());
      EXPECT_TRUE(saved.numel() == 0 || mapped.storage().origin() == Origin::mapped);
    }
  }
}

TEST_F(NpyFiles, files_of_swapped_byte_order_are_loaded_but_not_mapped) {
  for (const DType dtype : stored_dtypes) {
    const Tensor tensor = counted({3, 4}, dtype);
    for (const Tensor& ordered : {tensor, tensor.t(), tensor.slice(1, 0, 4, 2)}) {
      for (const unsigned version : {1U, 2U, 3U}) {
        save_npy(path_, ordered, {other_order, version});
        expect_same(load_npy(path_), ordered);
        EXPECT_EQ(read_file(path_)[6], static_cast<char>(version));
        EXPECT_EQ(saved_header().data_offset % 64, 0U);
        if (itemsize(dtype) == 1) {  // single bytes have no byte order
          EXPECT_EQ(saved_header().byte_order, std::endian::native);
          expect_same(map_npy(path_), ordered);
        } else {
          EXPECT_EQ(saved_header().byte_order, other_order);
          EXPECT_TRUE(says(complaint_of<FileError>([&] { map_npy(path_); }), "load_npy"));
        }
      }
    }
    expect_same(tensor, counted({3, 4}, dtype));  // saving did not change the tensor
  }
}

TEST_F(NpyFiles, numbers_are_read_in_the_headers_byte_order) {
  const auto read = [](const std::string& descr, const char* shape, const std::string& data) {
    const std::string text = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape;
    return read_npy(as_bytes(file_of(text + "}", data)));
  };
  const Tensor pair = Tensor::of<std::int32_t>({2}, {1, 512});
  expect_same(read("<i4", "(2,)", std::string("\1\0\0\0\0\2\0\0", 8)), pair);
  expect_same(read(">i4", "(2,)", std::string("\0\0\0\1\0\0\2\0", 8)), pair);
  expect_same(read("=i4", "(2,)", packed_bytes_of(pair)), pair);
  const Tensor complex =
      Tensor::of<std::complex<float>>({}, {{1, 2}});  // two numbers, each in the file's byte order
  expect_same(read("<c8", "()", std::string("\0\0\x80\x3f\0\0\0\x40", 8)), complex);
  expect_same(read(">c8", "()", std::string("\x3f\x80\0\0\x40\0\0\0", 8)), complex);
}

TEST_F(NpyFiles, only_headers_up_to_the_maximum_size_are_read) {
  const auto file_with = [](std::size_t header_nbytes) {
    std::string text = "{'descr': '|u1', 'fortran_order': False, 'shape': (1,)}";
    text.resize(header_nbytes - 12, ' ');
    return std::string("\x93NUMPY\2\0", 8) + little_endian(text.size(), 4) + text + '\5';
  };
  const std::string longest = file_with(npy_header_max_nbytes);
  write_file(path_, longest);
  for (const Tensor& read : {read_npy(as_bytes(longest)), load_npy(path_), map_npy(path_)}) {
    expect_same(read, Tensor::of<std::uint8_t>({1}, {5}));
  }
  const std::string longer = file_with(npy_header_max_nbytes + 1);
  write_file(path_, longer);
  for (const auto& complaint : {complaint_of<FileError>([&] { read_npy(as_bytes(longer)); }),
                                complaint_of<FileError>([&] { load_npy(path_); }),
                                complaint_of<FileError>([&] { map_npy(path_); })}) {
    EXPECT_TRUE(says(complaint, "header has 65525 bytes, more than a plain array needs"));
  }
}

TEST_F(NpyFiles, unusual_key_order_spacing_quotes_and_integers_are_read) {
  const std::string odd = "{\"shape\":(2L,\r\n1L) ,'descr'\t: '|u1','fortran_order':False}\r";
  expect_same(read_npy(as_bytes(file_of(odd, "\1\2"))), Tensor::of<std::uint8_t>({2, 1}, {1, 2}));
  const std::string zeros = "{'descr': '|u1', 'fortran_order': False, 'shape': (00, 2)}";
  expect_same(read_npy(as_bytes(file_of(zeros, ""))), Tensor::zeros({0, 2}, DType::u8));
}

TEST_F(NpyFiles, a_write_copies_mapped_data_and_the_file_never_changes) {
  save_npy(path_, counted({8, 4}, DType::f32));
  const std::string before = read_file(path_);
  const Tensor mapped = map_npy(path_);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mapped.raw_data()) % 64, 0U);
  Tensor overlay = mapped.lazy_clone();
  EXPECT_EQ(overlay.raw_data(), mapped.raw_data());
  overlay.set_at<float>({1, 2}, 42.0F);
  EXPECT_NE(overlay.raw_data(), mapped.raw_data());
  EXPECT_EQ(overlay.at<float>({1, 2}), 42.0F);
  EXPECT_EQ(read_file(path_), before);
  expect_same(mapped, load_npy(path_));
}

TEST_F(NpyFiles, an_empty_tensor_with_large_sizes_is_saved_and_read) {
  const Dims sizes = sizeof(std::size_t) > 4 ? Dims{335, 0, 2'000'000, 0, 23'500, 335, 7}
                                             : Dims{335, 0, 2'000, 0, 335, 7};
  save_npy(path_, Tensor::empty(sizes, DType::i32));
  expect_same(map_npy(path_), load_npy(path_));
  EXPECT_EQ(map_npy(path_).sizes(), sizes);
}

TEST_F(NpyFiles, misaligned_data_are_loaded_but_not_mapped) {
  const std::string text = std::string("{'descr': '") + (is_little ? '<' : '>') +
                           "i4', 'fortran_order': False, 'shape': (1,)}";
  const std::string file = file_of(text, std::string(is_little ? "\7\0\0\0" : "\0\0\0\7", 4));
  ASSERT_NE((file.size() - 4) % 4, 0U);
  write_file(path_, file);
  EXPECT_TRUE(
      says(complaint_of<FileError>([&] { map_npy(path_); }), "required is a multiple", "load_npy"));
  expect_same(load_npy(path_), Tensor::of<std::int32_t>({1}, {7}));
}

TEST_F(NpyFiles, tensors_on_a_device_are_saved) {
  const Tensor saved = counted({3, 2}, DType::f32);
  for (const Tensor& view : {saved, saved.t(), saved.slice(1, 1)}) {
    save_npy(path_, view.to(FakeDevice::first().device()));
    expect_same(load_npy(path_), view);
  }
  save_npy(path_, saved.to(FakeDevice::first().device()).t());
  expect_same(load_npy(path_), saved.t());
}

TEST_F(NpyFiles, a_failed_save_leaves_the_folder_unchanged) {
  const Tensor saved = counted({4}, DType::f32);
  const fs::path none = folder_ / "missing" / "a.npy";
  EXPECT_TRUE(says(complaint_of<FileError>([&] { save_npy(none, saved); }), "No such file"));
  const Tensor brains = Tensor::zeros({2}, DType::bf16);
  EXPECT_TRUE(says(complaint_of<DTypeError>([&] { save_npy(folder_ / "b.npy", brains); }), "bf16"));
  for (const unsigned version : {0U, 4U, 257U}) {
    EXPECT_TRUE(says(complaint_of<InvalidArgument>(
                         [&] { save_npy(folder_ / "b.npy", saved, {.version = version}); }),
                     "version " + std::to_string(version) + ". Pass version 1, 2 or 3."));
  }
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(NpyFiles, contiguous_tensors_are_saved_in_c_order) {
  for (const Dims& sizes : {Dims{}, Dims{3}, Dims{1, 3}, Dims{3, 1}, Dims{2, 3}, Dims{0, 2}}) {
    save_npy(path_, counted(sizes, DType::f32));
    EXPECT_FALSE(saved_header().fortran_order) << to_string(sizes);
  }
}

}  // namespace
}  // namespace byre::test
