// SPDX-License-Identifier: BSL-1.0
#include <set>

#include "../unit/functional/random_calls.hpp"
#include "texture_backend/texture_backend.hpp"

namespace byre::test {
namespace {

using namespace examples::texture;

AnyTensor counted_on_texture(std::int64_t count) {
  return to_texture(to_cpu(counted(count)));
}

std::string downloaded_text_of(const AnyTensor& tensor) {
  return byre::to_string(from_texture(tensor));
}

/// What happened since it was made.
class Counted {
 public:
  std::uint64_t uploads() const { return texture_stats().uploads - before_.uploads; }
  std::uint64_t downloads() const { return texture_stats().downloads - before_.downloads; }
  std::uint64_t drawn() const { return texture_stats().drawn - before_.drawn; }

 private:
  const TextureStats before_ = texture_stats();
};

TEST(Textures, give_back_the_elements_of_any_dtype_and_number) {
  test::RandomCalls random(test::seed());
  for (int dtype = 0; dtype < static_cast<int>(DType::uninitialized); ++dtype) {
    for (const std::int64_t count : {0, 1, 3, 4, 5, 16, 63, 1023, 1024, 1025, 4099, 10'000}) {
      const Tensor elements = random.elements({count}, static_cast<DType>(dtype));
      const Texture texture = Texture::upload(elements);
      EXPECT_LE(texture.width(), Texture::max_width);
      EXPECT_TRUE(are_same(texture.download({count}), elements)) << name_of(elements.dtype());
    }
  }
}

TEST(Textures, have_their_texels_where_x_and_y_say) {
  Tensor numbered = Tensor::of<std::int64_t>({4099}, std::vector<std::int64_t>(4099, 7));
  for (std::int64_t index = 0; index < 4099; ++index) {
    numbered.set_at<std::int64_t>({index}, index);
  }
  Texture::upload(numbered.as_strided({4100}, {0}, 4098));  // leaves memory that is not 0
  const Texture texture = Texture::upload(numbered);
  ASSERT_EQ(texture.width(), 256);
  ASSERT_EQ(texture.height(), 5);
  EXPECT_EQ(texture.texel<std::int64_t>(0, 0), (Texel<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(texture.texel<std::int64_t>(255, 0), (Texel<std::int64_t>{1020, 1021, 1022, 1023}));
  EXPECT_EQ(texture.texel<std::int64_t>(0, 1), (Texel<std::int64_t>{1024, 1025, 1026, 1027}));
  EXPECT_EQ(texture.texel<std::int64_t>(0, 4), (Texel<std::int64_t>{4096, 4097, 4098, 0}));
}

TEST(Textures, are_copies_of_strided_and_lazily_shared_tensors_alike) {
  Tensor square = Tensor::of<float>({2, 3}, {0, 1, 2, 3, 4, 5});
  const AnyTensor transposed = to_texture(square.t());
  fill_(square, 9);
  EXPECT_EQ(downloaded_text_of(transposed), "[[0. 3.]\n [1. 4.]\n [2. 5.]]");
}

TEST(Textures, refuse_tensors_that_have_no_memory_and_those_that_are_in_no_texture) {
  EXPECT_THROW(to_texture(Tensor(Device::cpu())), StateError);
  EXPECT_THROW(from_texture(from_cpu(Tensor::zeros({2}, DType::f32))), DeviceError);
  EXPECT_THROW(from_texture(AnyTensor()), DeviceError);
}

TEST(TextureOperators, with_a_shader_neither_upload_nor_download) {
  const AnyTensor x = counted_on_texture(1500);
  const Counted now;
  const AnyTensor y = call_for_one("add", {call_for_one("neg", {x}), x});
  EXPECT_EQ(now.drawn(), 2U);
  EXPECT_EQ(now.uploads() + now.downloads(), 0U);
  EXPECT_TRUE(are_same(from_texture(y), Tensor::zeros({1500}, DType::f32)));
}

TEST(TextureOperators, without_a_shader_go_over_the_cpu) {
  const AnyTensor x = counted_on_texture(3);
  const Counted now;
  EXPECT_EQ(downloaded_text_of(call_for_one("sum", {x})), "3.");
  EXPECT_EQ(now.drawn(), 0U);
  EXPECT_EQ(now.uploads(), 1U);
  EXPECT_EQ(now.downloads(), 2U) << "the operand, and what is printed here";
}

TEST(TextureOperators, broadcast_and_promote) {
  const AnyTensor x = counted_on_texture(3);
  const AnyTensor one = to_texture(Tensor::of<float>({2, 1}, {1, 2}));
  EXPECT_EQ(downloaded_text_of(call_for_one("mul", {x, one})), "[[0. 1. 2.]\n [0. 2. 4.]]");
  const AnyTensor whole = to_texture(Tensor::of<std::int64_t>({3}, {5, 6, 7}));
  EXPECT_EQ(downloaded_text_of(call_for_one("add", {whole, whole})), "[10 12 14]");
}

TEST(TextureOperators, upload_what_is_on_the_cpu) {
  const AnyTensor on_cpu = from_cpu(Tensor::of<float>({3}, {10, 20, 30}));
  EXPECT_EQ(downloaded_text_of(call_for_one("add", {counted_on_texture(3), on_cpu})),
            "[10. 21. 32.]");
  EXPECT_EQ(downloaded_text_of(call_for_one("cat", {Tensors{on_cpu, counted_on_texture(2)}})),
            "[10. 20. 30.  0.  1.]");
}

TEST(TextureOperators, of_users_need_a_cpu_kernel_only) {
  define("test_texture_scale(Tensor[] all, Scalar by) -> Tensor[]")
      .cpu([](const Tensors& all, const Scalar& by) {
        Tensors scaled;
        for (const AnyTensor& each : all) {
          scaled.push_back(from_cpu(mul(to_cpu(each), by)));
        }
        return scaled;
      });
  const Tensors scaled =
      call("test_texture_scale", {Tensors{counted_on_texture(2), counted_on_texture(3)}, 3});
  ASSERT_EQ(scaled.size(), 2U);
  EXPECT_EQ(downloaded_text_of(scaled[1]), "[0. 3. 6.]");
}

TEST(TextureOperators, that_view_or_write_are_refused_by_name) {
  const auto refused = [](const char* name, Arguments arguments) {
    try {
      call(name, std::move(arguments));
      ADD_FAILURE() << name << " was computed";
    } catch (const DispatchError& error) {
      const std::string text = error.what();
      EXPECT_EQ(text.rfind(name, 0), 0U) << text;
      EXPECT_TRUE(says(text, "functionalize"));
    }
  };
  refused("select", {counted_on_texture(3), 0, 1});
  refused("unbind", {counted_on_texture(3)});
  refused("add_", {counted_on_texture(3), counted_on_texture(3)});
  refused("transpose_", {counted_on_texture(3), 0, 0});
  refused("resize_", {counted_on_texture(3), {2}});
  refused("copy_", {from_cpu(Tensor::zeros({3}, DType::f32)), counted_on_texture(3)});
}

TEST(TextureOperators, compute_what_the_cpu_computes) {
  test::RandomCalls random(test::seed());
  for (const std::string& name : random.all_names()) {
    SCOPED_TRACE(name);
    const bool has_shader = find(name).kernel(texture_backend()) != nullptr;
    const std::set<std::string> by_the_cpu{"arange", "matmul", "sum", "sum.axes",
                                           "view_copy.dtype"};
    ASSERT_NE(has_shader, by_the_cpu.contains(name));
    for (int round = 0; round < 100; ++round) {
      const Arguments on_cpu = random.arguments_of(name);
      Arguments on_texture = on_cpu;
      for (Argument& argument : on_texture) {
        argument.for_each_tensor([](AnyTensor& tensor) { tensor = to_texture(to_cpu(tensor)); });
      }
      const Counted now;
      const AnyTensor result = [&] {
        const IncludeKeys also_of_numbers(texture_backend());
        return call_for_one(name, on_texture);
      }();
      ASSERT_TRUE(!has_shader || now.uploads() + now.downloads() == 0);
      ASSERT_EQ(result.keys(), KeySet(texture_backend()));
      ASSERT_TRUE(are_same(from_texture(result), to_cpu(call_for_one(name, on_cpu))))
          << downloaded_text_of(result);
    }
  }
}

TEST(TextureOperators, are_tried_for_all_that_are_pure) {
  const std::vector<std::string> tried = test::RandomCalls(0).names();
  for (const Operator* const op : operators()) {
    const bool takes_tensors =
        std::any_of(op->schema().parameters.begin(), op->schema().parameters.end(),
                    [](const Parameter& each) { return each.is_tensor(); });
    const bool is_of_a_test = op->name().starts_with("test_");
    if (op->schema().is_pure() && op->meta() != nullptr && takes_tensors && !is_of_a_test) {
      EXPECT_NE(std::find(tried.begin(), tried.end(), op->name()), tried.end()) << op->name();
    }
  }
}

}  // namespace
}  // namespace byre::test
