// SPDX-License-Identifier: BSL-1.0
// Files that save_npy writes: what they replace, what they leave, and what cannot be saved.
#include <unistd.h>

#include <bit>
#include <filesystem>
#include <span>

#include "npy_tensors.hpp"
#include "support/tensor/fake_device.hpp"

namespace byre::test {
namespace {

namespace fs = std::filesystem;

TEST(SavedNpy, may_replace_the_file_it_is_mapped_from) {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.npy";
  save_npy(path, Tensor::of<std::int32_t>({3}, {1, 2, 3}));
  const Tensor before = map_npy(path);
  Tensor changed = before.lazy_clone();
  changed.set_at<std::int32_t>({0}, 9);
  save_npy(path, changed);
  expect_same(before, Tensor::of<std::int32_t>({3}, {1, 2, 3}));
  expect_same(load_npy(path), Tensor::of<std::int32_t>({3}, {9, 2, 3}));
  save_npy(path, before);
  expect_same(load_npy(path), Tensor::of<std::int32_t>({3}, {1, 2, 3}));
}

TEST(SavedNpy, comes_from_any_device) {
  const TemporaryFolder folder;
  const Tensor saved = counted({3, 2}, DType::f32);
  for (const Tensor& view : {saved, saved.t(), saved.slice(1, 1)}) {
    save_npy(folder / "a.npy", view.to(FakeDevice::first().device()));
    expect_same(load_npy(folder / "a.npy"), view);
  }
  save_npy(folder / "a.npy", saved.to(FakeDevice::first().device()).t());
  expect_same(load_npy(folder / "a.npy"), saved.t());
}

TEST(SavedNpy, leaves_what_was_there_if_it_fails_and_nothing_beside_it) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "a.npy");  // which a file cannot replace
  write_file(folder / "a.npy" / "kept", "kept");
  const std::string complaint =
      complaint_of<FileError>([&] { save_npy(folder / "a.npy", counted({4}, DType::f32)); });
  EXPECT_TRUE(says(complaint, (folder / "a.npy").string()));
  EXPECT_EQ(read_file(folder / "a.npy" / "kept"), "kept");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);

  EXPECT_TRUE(says(complaint_of<FileError>(
                       [&] { save_npy(folder / "missing" / "a.npy", counted({4}, DType::f32)); }),
                   "No such file"));
}

TEST(SavedNpy, has_the_permissions_of_the_file_it_replaces) {
  const TemporaryFolder folder;
  const fs::perms only_mine = fs::perms::owner_read | fs::perms::owner_write;
  const Tensor tensor = counted({2, 3}, DType::f32);
  write_file(folder / "secret.npy", "to be replaced");
  fs::permissions(folder / "secret.npy", only_mine);
  save_npy(folder / "secret.npy", tensor);
  EXPECT_EQ(fs::status(folder / "secret.npy").permissions(), only_mine);
  EXPECT_EQ(packed_bytes_of(load_npy(folder / "secret.npy")), packed_bytes_of(tensor));
}

TEST(SavedNpy, takes_the_place_of_what_a_link_leads_to) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "elsewhere");
  write_file(folder / "elsewhere/file.npy", "to be replaced");
  fs::create_symlink("elsewhere/file.npy", folder / "link.npy");
  const Tensor tensor = counted({2, 3}, DType::f32);
  save_npy(folder / "link.npy", tensor);
  EXPECT_TRUE(fs::is_symlink(folder / "link.npy"));
  EXPECT_EQ(packed_bytes_of(load_npy(folder / "elsewhere/file.npy")), packed_bytes_of(tensor));
}

TEST(SavedNpy, is_read_back_whatever_its_format) {
  const TemporaryFolder folder;
  const std::endian other =
      std::endian::native == std::endian::little ? std::endian::big : std::endian::little;
  for (const DType dtype : stored_dtypes) {
    const Tensor tensor = counted({3, 4}, dtype);
    for (const Tensor& ordered : {tensor, tensor.t(), tensor.slice(1, 0, 4, 2)}) {
      for (const unsigned version : {1U, 2U, 3U}) {
        save_npy(folder / "x.npy", ordered, {other, version});
        EXPECT_EQ(packed_bytes_of(load_npy(folder / "x.npy")), packed_bytes_of(ordered))
            << name_of(dtype);
        const std::string bytes = read_file(folder / "x.npy");
        EXPECT_EQ(bytes[6], static_cast<char>(version));
        const NpyHeader header = parse_npy_header(std::as_bytes(std::span(bytes)));
        EXPECT_EQ(header.data_offset % 64, 0U);
        EXPECT_EQ(header.byte_order, itemsize(dtype) == 1 ? std::endian::native : other);
      }
    }
    EXPECT_EQ(packed_bytes_of(tensor), packed_bytes_of(counted({3, 4}, dtype)))
        << "what is written is a copy";
  }
  EXPECT_THROW(save_npy(folder / "x.npy", counted({1}, DType::u8), {other, 4}), InvalidArgument);
}

TEST(SavedNpy, leaves_nothing_beside_it_and_gets_past_what_an_interrupted_one_left) {
  const TemporaryFolder folder;
  const std::string left = ".byre-" + std::to_string(::getpid()) + "-0.part";
  write_file(folder / left, "left");
  save_npy(folder / "a.npy", counted({4}, DType::f32));
  EXPECT_EQ(read_file(folder / left), "left");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 2);
  expect_same(load_npy(folder / "a.npy"), counted({4}, DType::f32));
}

TEST(SavedNpy, is_of_the_order_of_c_if_it_is_contiguous) {
  const TemporaryFolder folder;
  const auto is_in_fortran_order = [&](const Tensor& tensor) {
    save_npy(folder / "a.npy", tensor);
    const std::string file = read_file(folder / "a.npy");
    return parse_npy_header(std::as_bytes(std::span(file))).fortran_order;
  };
  for (const Dims& sizes : {Dims{}, Dims{3}, Dims{1, 3}, Dims{3, 1}, Dims{2, 3}, Dims{0, 2}}) {
    EXPECT_FALSE(is_in_fortran_order(counted(sizes, DType::f32))) << to_string(sizes);
  }
  EXPECT_TRUE(is_in_fortran_order(counted({2, 3}, DType::f32).t()));
}

TEST(SavedNpy, has_a_version_that_there_is) {
  const TemporaryFolder folder;
  for (const unsigned version : {0U, 4U, 257U}) {
    EXPECT_TRUE(says(complaint_of<InvalidArgument>([&] {
                       save_npy(folder / "a.npy", counted({2}, DType::u8), {.version = version});
                     }),
                     "version 1, 2 or 3, and " + std::to_string(version) + " was asked for"));
  }
  EXPECT_FALSE(fs::exists(folder / "a.npy"));
}

TEST(SavedNpy, has_to_be_initialized_and_of_a_dtype_the_format_has) {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.npy";
  const Tensor brain = Tensor::zeros({2}, DType::bf16);
  EXPECT_TRUE(says(complaint_of<DTypeError>([&] { save_npy(path, brain); }), "bf16"));

  Tensor tensor(Device::cpu());
  const auto is_refused = [&] {
    return complaint_of<StateError>([&] { save_npy(path, tensor); }).starts_with("save_npy: ");
  };
  EXPECT_TRUE(is_refused());
  tensor.resize({2});
  EXPECT_TRUE(is_refused());
  tensor.realize<float>().free_memory();
  EXPECT_TRUE(is_refused());
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace byre::test
