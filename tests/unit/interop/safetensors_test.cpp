// SPDX-License-Identifier: BSL-1.0
// Tensors of .safetensors files, read and mapped.
#include <byre/storage/foreign.hpp>

#include <cstdint>
#include <filesystem>
#include <span>

#include "safetensors_files.hpp"

namespace byre::test {
namespace {

namespace fs = std::filesystem;

struct Code {
  DType dtype;
  const char* code;
};
/// Larger elements come first, as in saved files.
constexpr Code dtypes_by_size[] = {
    {DType::i64, "I64"}, {DType::f64, "F64"},   {DType::complex64, "C64"}, {DType::f32, "F32"},
    {DType::i32, "I32"}, {DType::bf16, "BF16"}, {DType::f16, "F16"},       {DType::i16, "I16"},
    {DType::i8, "I8"},   {DType::u8, "U8"},     {DType::boolean, "BOOL"}};

SafetensorsHeader header_in(const std::string& file) {
  return parse_safetensors_header(std::as_bytes(std::span(file)), file.size());
}

TEST(Safetensors, every_way_of_reading_returns_every_saved_dtype_and_shape) {
  const TemporaryFolder folder;
  for (const Dims& sizes :
       {Dims{}, Dims{1}, Dims{5}, Dims{0}, Dims{2, 0, 3}, Dims{3, 4}, Dims{2, 1, 2, 1, 2, 1, 3}}) {
    NamedTensors saved;
    for (const auto& [dtype, code] : dtypes_by_size) {
      saved.emplace_back(code, counted(sizes, dtype));
    }
    save_safetensors(folder / "a.safetensors", saved);
    expect_model(folder / "a.safetensors", saved);
    const std::string file = read_file(folder / "a.safetensors");
    for (const auto& [code, tensor] : saved) {
      EXPECT_TRUE(says(file, "\"" + code + "\":{\"dtype\":\"" + code + "\""));
    }
    for (const auto& [name, tensor] : map_safetensors(folder / "a.safetensors").tensors) {
      EXPECT_TRUE(tensor.is_contiguous());
      EXPECT_EQ(tensor.sizes(), sizes);
    }
  }
}

TEST(Safetensors, empty_tensors_keep_the_order_of_the_header) {
  std::string header = "{";
  NamedTensors expected;
  for (int number = 0; number < 100; ++number) {
    const std::string name = std::to_string(number * 37 % 100);
    header += (number == 0 ? "" : ",") + entry_of(name, "F32", "[0]", "[0,0]");
    expected.emplace_back(name, Tensor::empty({0}, DType::f32));
  }
  expect_same_tensors(read_model(model_of(header + "}")).tensors, expected);
}

TEST(Safetensors, tensors_are_read_in_the_order_of_their_data_in_the_file) {
  const std::string file = model_of("{" + entry_of("last", "U8", "[]", "[3,4]") + "," +
                                        entry_of("none", "F64", "[0,7]", "[2,2]") +
                                        ",\"__metadata__\":{\"z\":\"1\",\"a\":\"\"}," +
                                        entry_of("first", "BOOL", "[2]", "[0,2]") + "," +
                                        entry_of("middle", "I8", "[1,1]", "[2,3]") + "," +
                                        entry_of("also none", "F32", "[0]", "[2,2]") + "}",
                                    std::string("\0\1\xff\x09", 4));
  const SafetensorsFile read = read_model(file);
  expect_same_tensors(read.tensors, {{"first", Tensor::of<bool>({2}, {false, true})},
                                     {"none", Tensor::empty({0, 7}, DType::f64)},
                                     {"also none", Tensor::empty({0}, DType::f32)},
                                     {"middle", Tensor::of<std::int8_t>({1, 1}, {-1})},
                                     {"last", Tensor::of<std::uint8_t>({}, {9})}});
  EXPECT_EQ(read.metadata, (Notes{{"z", "1"}, {"a", ""}}));
}

TEST(Safetensors, files_without_tensors_are_read) {
  for (const char* const header : {"{}", "{ }   ", "{\"__metadata__\":{}}"}) {
    const SafetensorsFile read = read_model(model_of(header));
    EXPECT_TRUE(read.tensors.empty());
    EXPECT_TRUE(read.metadata.empty());
  }
  EXPECT_EQ(read_model(model_of("{\"__metadata__\":{\"format\":\"pt\"}}")).metadata,
            (Notes{{"format", "pt"}}));
}

TEST(Safetensors, names_and_metadata_may_be_any_text) {
  const TemporaryFolder folder;
  const NamedTensors saved{{"", counted({1}, DType::u8)},
                           {"\"quoted\\\"\n\t", counted({2}, DType::u8)},
                           {"model.layers.0.weight", counted({3}, DType::u8)},
                           {std::string("z\0ero", 5), counted({4}, DType::u8)},
                           {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x84", counted({5}, DType::u8)}};
  const Notes metadata{
      {"__metadata__", "{\"nested\": 1}"}, {"", "\xc3\xa4"}, {"dtype", "\x7f\x01"}};
  save_safetensors(folder / "a.safetensors", saved, metadata);
  expect_model(folder / "a.safetensors", saved, metadata);
}

TEST(Safetensors, keys_may_be_in_any_order_and_have_escapes) {
  const std::string file = model_of(
      "{ \"x\" : {\"data_offsets\" : [ 0 , 2 ], \"sh\\u0061pe\":[2],\n\"dtype\":\"U8\" } }",
      "\1\2");
  expect_same_tensors(read_model(file).tensors, {{"x", Tensor::of<std::uint8_t>({2}, {1, 2})}});
}

TEST(SafetensorsHeaders, give_the_offsets_of_each_tensors_data) {
  const std::string header = "{" + entry_of("b", "F16", "[3]", "[0,6]") + "," +
                             entry_of("a", "U8", "[2,1]", "[6,8]") + "}";
  const std::string file = model_of(header, std::string(8, '\1'));
  const std::size_t begin = 8 + header.size();
  const SafetensorsHeader expected{
      {{"b", DType::f16, {3}, begin, 6}, {"a", DType::u8, {2, 1}, begin + 6, 2}}, {}, {}};
  EXPECT_EQ(header_in(file), expected);
  // Only the header and the size of the file are needed.
  const auto start = std::as_bytes(std::span(file)).first(begin);
  EXPECT_EQ(parse_safetensors_header(start, file.size()), expected);
  EXPECT_TRUE(says(complaint_of<InvalidArgument>(
                       [&] { parse_safetensors_header(start.first(begin - 1), file.size()); }),
                   "parse_safetensors_header", std::to_string(begin - 1), std::to_string(begin),
                   "Read more"));
}

TEST(SafetensorsHeaders, the_data_offset_is_the_end_of_the_header) {
  const auto offset = [](std::uint64_t length, std::size_t file_nbytes) {
    const std::string start = little_endian(length, 8);
    return safetensors_data_offset(std::as_bytes(std::span(start)), file_nbytes, "a file");
  };
  EXPECT_EQ(offset(0, 8), 8U);
  EXPECT_EQ(offset(0x01'02'03, 1'000'000), 8U + 0x01'02'03);
  EXPECT_EQ(offset(100'000'000, 100'000'008), 100'000'008U);
  EXPECT_TRUE(says(complaint_of<FileError>([&] { offset(3, 10); }), "a file",
                   "has 3 bytes, but 2 are present", "cut short"));
  const std::string start = little_endian(2, 8);
  EXPECT_TRUE(says(complaint_of<InvalidArgument>([&] {
                     safetensors_data_offset(std::as_bytes(std::span(start)).first(7), 10);
                   }),
                   "safetensors_data_offset: got 7 bytes", "required 8", "Read more"));
}

class MappedSafetensors : public testing::Test {
 protected:
  MappedSafetensors() { save_safetensors(path_, saved_); }

  const Tensor& mapped(std::size_t number) { return file_.tensors[number].second; }

  TemporaryFolder folder_;
  fs::path path_ = folder_ / "model.safetensors";
  // Elements of one byte, which have no byte order.
  NamedTensors saved_{{"weights", counted({80, 40}, DType::i8)},
                      {"bias", counted({40}, DType::u8)},
                      {"mask", counted({80}, DType::boolean)}};
  SafetensorsFile file_;
};

TEST_F(MappedSafetensors, tensors_share_one_mapping_and_have_separate_storages) {
  file_ = map_safetensors(path_);
  expect_same_tensors(file_.tensors, saved_);
  for (const auto& [name, tensor] : file_.tensors) {
    EXPECT_EQ(tensor.storage().origin(), Origin::mapped);
    EXPECT_EQ(tensor.storage().handle_count(), 1U);
    EXPECT_EQ(tensor.storage().use_count(), 3U);
    EXPECT_TRUE(tensor.storage().shares_data_with(mapped(0).storage()));
  }
  EXPECT_FALSE(mapped(0).aliases(mapped(1)));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mapped(0).raw_data()) % 64, 0U);
  if (mappings_of(folder_.path()) >= 0) {
    EXPECT_EQ(mappings_of(folder_.path()), 1);
    file_.tensors.resize(1);
    EXPECT_EQ(mappings_of(folder_.path()), 1);
    file_.tensors.clear();
    EXPECT_EQ(mappings_of(folder_.path()), 0);
  }
}

TEST_F(MappedSafetensors, a_write_changes_neither_other_tensors_nor_the_file) {
  const std::string before = read_file(path_);
  file_ = map_safetensors(path_);
  Tensor weights = mapped(0);
  const void* const bias = mapped(1).raw_data();
  weights.set_at<std::int8_t>({3, 4}, 42);
  EXPECT_EQ(mapped(0).at<std::int8_t>({3, 4}), 42);
  EXPECT_FALSE(mapped(0).storage().shares_data_with(mapped(1).storage()));
  EXPECT_EQ(mapped(1).raw_data(), bias);
  expect_same(mapped(1), saved_[1].second);
  expect_same(mapped(2), saved_[2].second);
  EXPECT_EQ(read_file(path_), before);
  expect_same_tensors(map_safetensors(path_).tensors, saved_);
}

TEST_F(MappedSafetensors, empty_tensors_are_not_mapped) {
  save_safetensors(path_, NamedTensors{{"none", Tensor::empty({3, 0}, DType::f64)}});
  file_ = map_safetensors(path_);
  EXPECT_EQ(mapped(0).storage().origin(), Origin::allocated);
  EXPECT_EQ(mapped(0).sizes(), (Dims{3, 0}));
}

TEST_F(MappedSafetensors, misaligned_tensors_are_loaded_and_all_others_are_mapped) {
  std::string header = "{" + entry_of("bytes", "U8", "[3]", "[0,3]") + "," +
                       entry_of("odd", "I32", "[1]", "[3,7]") + "," +
                       entry_of("more", "I8", "[1]", "[7,8]") + "," +
                       entry_of("even", "I32", "[1]", "[8,12]") + "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  write_file(path_, model_of(header, std::string("\1\2\3\7\0\0\0\4\5\1\0\0", 12)));
  expect_model(path_, {{"bytes", Tensor::of<std::uint8_t>({3}, {1, 2, 3})},
                       {"odd", Tensor::of<std::int32_t>({1}, {7})},
                       {"more", Tensor::of<std::int8_t>({1}, {4})},
                       {"even", Tensor::of<std::int32_t>({1}, {261})}});
  file_ = map_safetensors(path_);
  EXPECT_EQ(mapped(0).storage().origin(), Origin::mapped);
  EXPECT_EQ(mapped(1).storage().origin(), Origin::allocated);
  EXPECT_EQ(mapped(2).storage().origin(), Origin::mapped);
  EXPECT_EQ(mapped(3).storage().origin(), is_little ? Origin::mapped : Origin::allocated);
}

}  // namespace
}  // namespace byre::test
