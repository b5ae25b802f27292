// SPDX-License-Identifier: BSL-1.0
// .safetensors files that save_safetensors writes: their contents, the files that they replace, and
// errors.
#include <byre/interop/detail/safetensors_format.hpp>
#include <byre/memory/allocator.hpp>

#include <filesystem>
#include <string>

#include "safetensors_files.hpp"
#include "support/tensor/fake_device.hpp"

namespace byre::test {
namespace {

namespace fs = std::filesystem;

class SavedSafetensors : public testing::Test {
 protected:
  /// The text of the error of saving `tensors`. Expects that nothing was written.
  template <class Expected>
  std::string refusal_of(const NamedTensors& tensors, const Notes& metadata = {}) {
    const std::string refusal =
        complaint_of<Expected>([&] { save_safetensors(path_, tensors, metadata); });
    EXPECT_TRUE(fs::is_empty(folder_.path()));
    return refusal;
  }

  TemporaryFolder folder_;
  fs::path path_ = folder_ / "model.safetensors";
};

TEST_F(SavedSafetensors, tensors_are_ordered_by_element_size_then_by_name) {
  save_safetensors(path_, NamedTensors{{"b", Tensor::of<std::uint8_t>({2}, {7, 8})},
                                       {"z", Tensor::of<std::int32_t>({1, 2}, {1, 512})},
                                       {"a", Tensor::of<std::uint8_t>({}, {9})}});
  std::string header = R"({"z":{"dtype":"I32","shape":[1,2],"data_offsets":[0,8]},)"
                       R"("a":{"dtype":"U8","shape":[],"data_offsets":[8,9]},)"
                       R"("b":{"dtype":"U8","shape":[2],"data_offsets":[9,11]}})";
  header.resize(192 - 8, ' ');
  EXPECT_EQ(read_file(path_), model_of(header, std::string("\1\0\0\0\0\2\0\0\x09\x07\x08", 11)));
}

TEST_F(SavedSafetensors, metadata_come_first_in_the_given_order) {
  save_safetensors(path_, NamedTensors{{"a", Tensor::of<bool>({1}, {true})}},
                   Notes{{"z", "1"}, {"a", "\"2\""}});
  std::string header = R"({"__metadata__":{"z":"1","a":"\"2\""},)"
                       R"("a":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}})";
  header.resize(128 - 8, ' ');
  EXPECT_EQ(read_file(path_), model_of(header, "\1"));
}

TEST_F(SavedSafetensors, a_file_without_tensors_is_saved) {
  save_safetensors(path_, {});
  EXPECT_EQ(read_file(path_), model_of("{}" + std::string(54, ' ')));
  save_safetensors(path_, {}, Notes{{"a", "b"}});
  expect_model(path_, {}, {{"a", "b"}});
}

TEST_F(SavedSafetensors, data_begin_at_multiples_of_64_bytes) {
  for (std::size_t length = 0; length <= 64; ++length) {
    const NamedTensors saved{{std::string(length, 'n'), counted({3}, DType::f64)}};
    save_safetensors(path_, saved);
    const std::string file = read_file(path_);
    EXPECT_EQ((file.size() - 24) % 64, 0U);
    EXPECT_LT(file.size() - 24 - (file.rfind("}}") + 2), 64U);  // no more spaces than necessary
    expect_model(path_, saved);
  }
}

TEST_F(SavedSafetensors, views_on_host_and_device_are_saved_as_contiguous_data) {
  const Tensor whole = counted({4, 3, 6}, DType::i16);
  NamedTensors saved;
  for (const Tensor& view :
       {whole, whole.slice(2, 1, 6, 2), whole.transpose(0, 1), whole.permute({2, 1, 0}),
        whole.select(0, 1).unsqueeze(0).expand({2, 3, 6}), whole.select(0, 3)}) {
    saved.emplace_back("host " + std::to_string(saved.size()), view);
  }
  NamedTensors moved = saved;
  for (auto& [name, tensor] : moved) {
    tensor = tensor.to(FakeDevice::first().device());
  }
  moved[2].second = whole.to(FakeDevice::first().device()).transpose(0, 1);
  for (const NamedTensors& each : {saved, moved}) {
    save_safetensors(path_, each);
    expect_model(path_, saved);
  }
}

TEST_F(SavedSafetensors, tensors_that_share_data_are_saved_separately) {
  const Tensor tied = counted({3}, DType::f32);
  const NamedTensors saved{{"embedding", tied}, {"head", tied}};
  save_safetensors(path_, saved);
  expect_model(path_, saved);
}

TEST_F(SavedSafetensors, a_file_may_be_replaced_while_it_is_mapped) {
#if defined(_WIN32)
  GTEST_SKIP() << "Windows does not replace mapped files";
#endif
  const NamedTensors saved{{"a", counted({300}, DType::f32)}, {"b", counted({5}, DType::u8)}};
  save_safetensors(path_, saved);
  const SafetensorsFile before = map_safetensors(path_);
  SafetensorsFile changed = map_safetensors(path_);
  changed.tensors[0].second.set_at<float>({0}, 9);
  changed.tensors[0].first = "z";
  save_safetensors(path_, changed.tensors);
  expect_same_tensors(before.tensors, saved);
  expect_model(path_, changed.tensors);
  save_safetensors(path_, before.tensors);
  expect_model(path_, saved);
}

TEST_F(SavedSafetensors, uninitialized_tensors_are_rejected) {
  const auto refusal = [&](const Tensor& tensor) {
    return refusal_of<StateError>({{"good", counted({1}, DType::u8)}, {"bad", tensor}});
  };
  EXPECT_TRUE(says(refusal(Tensor()), "save_safetensors of \"bad\": the tensor handle is empty"));
  Tensor tensor(Device::cpu());
  tensor.resize({2});
  EXPECT_TRUE(
      says(refusal(tensor), "save_safetensors of \"bad\": the tensor [2] is dtype-uninitialized"));
  tensor.realize<float>().free_memory();
  EXPECT_TRUE(says(refusal(tensor),
                   "save_safetensors of \"bad\": the tensor [2] of f32 is storage-uninitialized"));
}

TEST_F(SavedSafetensors, names_must_be_unique_and_utf_8) {
  const Tensor x = counted({1}, DType::u8);
  const Tensor y = counted({1}, DType::f32);
  const auto expect_refused = [&](const NamedTensors& tensors, const Notes& metadata,
                                  const char* said) {
    EXPECT_TRUE(says(refusal_of<InvalidArgument>(tensors, metadata),
                     "save_safetensors: the name or key \"", said));
  };
  expect_refused({{"same", x}, {"other", x}, {"same", y}}, {},
                 "same\" occurs twice. Make it unique.");
  expect_refused({{"a", x}}, {{"key", "1"}, {"b", ""}, {"key", "2"}}, "key\" occurs twice");
  expect_refused({{"__metadata__", x}}, {},
                 "__metadata__\" is reserved for metadata. Rename the tensor.");
  for (const char* const text : {"a\xff", "a\xc3", "a\xc0\xaf", "a\xed\xa0\x80"}) {
    expect_refused({{text, x}}, {}, "is not UTF-8. Encode it as UTF-8.");
    expect_refused({{"a", x}}, {{text, "b"}}, "is not UTF-8");
    expect_refused({{"a", x}}, {{"b", text}}, "is not UTF-8");
  }
}

TEST(SafetensorsWriting, more_data_than_a_file_can_hold_are_rejected) {
  const Dims sizes{7};
  const detail::SafetensorsPart most{"most", DType::u8, sizes, max_nbytes};
  const detail::SafetensorsPart nothing{"nothing", DType::u8, sizes, 0};
  const detail::SafetensorsPart more{"more", DType::u8, sizes, 1};
  const auto header_of = [](std::initializer_list<detail::SafetensorsPart> parts) {
    return detail::safetensors_header({parts.begin(), parts.size()}, {});
  };
  const std::string end = std::to_string(max_nbytes);
  EXPECT_TRUE(says(header_of({most, nothing}), "[0," + end + "]", "[" + end + "," + end + "]"));
  EXPECT_TRUE(says(complaint_of<InvalidArgument>([&] {
                     header_of({most, more});
                   }),
                   "the tensors up to \"more\" exceed the largest file", "fewer"));
}

TEST(SafetensorsWriting, the_header_size_limit_includes_the_padding) {
  const auto header_nbytes = [](std::size_t most_nbytes) {
    return detail::safetensors_header({}, Notes{{"key", std::string(100, 'x')}}, most_nbytes)
        .size();
  };
  EXPECT_EQ(header_nbytes(184), 192U);
  EXPECT_TRUE(says(complaint_of<InvalidArgument>([&] { header_nbytes(183); }),
                   "save_safetensors: the header needs 184 bytes, allowed are 183",
                   "Save fewer tensors or less metadata per file."));
}

}  // namespace
}  // namespace byre::test
