// SPDX-License-Identifier: BSL-1.0
/// No tensor has more than max_ndim dimensions, whatever makes it; of as many, all works.
#include <byre/interop/npy.hpp>
#include <byre/interop/safetensors.hpp>
#include <byre/tensor/elements.hpp>
#include <byre/tensor/print.hpp>
#include <byre/tensor/view_geometry.hpp>

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>

#include "support/complaint.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace {

const Dims most_dimensions(max_ndim, 1);
const Dims too_many(max_ndim + 1, 1);

struct Maker {
  const char* operation;
  std::function<void(const Tensor& of_most)> make;
};

TEST(MaxNdim, more_dimensions_are_refused_by_whatever_makes_a_shape) {
  const Tensor x = Tensor::zeros(most_dimensions, DType::f32);
  const Tensor scalar = Tensor::zeros({}, DType::f32);
  const std::array makers{
      Maker{"empty", [](const Tensor&) { Tensor::empty(too_many, DType::f32); }},
      Maker{"empty", [](const Tensor&) { Tensor::zeros(too_many, DType::f32); }},
      Maker{"empty", [](const Tensor&) { Tensor::of<float>(too_many, {1}); }},
      Maker{"Tensor::over", [](const Tensor&) { Tensor::over({}, too_many, DType::f32); }},
      Maker{"resize", [](const Tensor&) { Tensor(Device::cpu()).resize(too_many); }},
      Maker{"reserve", [](const Tensor& t) { t.clone().reserve(too_many); }},
      Maker{"view", [](const Tensor& t) { std::ignore = t.view(too_many); }},
      Maker{"reshape", [](const Tensor& t) { std::ignore = t.reshape(too_many); }},
      Maker{"reshape", [](const Tensor& t) { t.clone().reshape_(too_many); }},
      Maker{"unsqueeze", [](const Tensor& t) { std::ignore = t.unsqueeze(-1); }},
      Maker{"expand", [&](const Tensor&) { std::ignore = scalar.expand(too_many); }},
      Maker{"as_strided", [](const Tensor& t) { std::ignore = t.as_strided(too_many, too_many); }},
      Maker{"unfold", [](const Tensor& t) { std::ignore = t.unfold(0, 1, 1); }},
      Maker{"view_as_real",
            [](const Tensor&) {
              std::ignore = Tensor::zeros(most_dimensions, DType::complex64).view_as_real();
            }},
      Maker{"view", [](const Tensor&) { ViewGeometry::of_all(too_many, DType::f32); }},
      Maker{"npy_header", [](const Tensor&) { npy_header(DType::f32, too_many); }},
  };
  for (const Maker& maker : makers) {
    EXPECT_EQ(complaint_of<ShapeError>([&] { maker.make(x); }),
              std::string(maker.operation) +
                  ": 65 dimensions, and a tensor has at most 64, byre::max_ndim. Make one of "
                  "several: flatten(), view() or reshape() do.");
  }
}

TEST(MaxNdim, as_many_are_computed_with_viewed_saved_and_printed) {
  Tensor x = Tensor::of<float>(most_dimensions, {1});
  add_(x, x);
  EXPECT_EQ(sum(x).at<float>({}), 2.0F);
  EXPECT_EQ(x.transpose(0, -1).squeeze().ndim(), 0U);
  EXPECT_EQ(x.view(DType::u8).view(DType::f32).layout(), x.layout());
  EXPECT_EQ(x.view(DType::u8).sizes().back(), 4);
  EXPECT_EQ(to_string(x, {.type = false}),
            std::string(max_ndim, '[') + "2." + std::string(max_ndim, ']'));
  const TemporaryFolder folder;
  save_npy(folder / "most.npy", x);
  EXPECT_EQ(load_npy(folder / "most.npy").layout(), x.layout());
  EXPECT_EQ(map_npy(folder / "most.npy").sizes(), most_dimensions);
  save_safetensors(folder / "most.safetensors", NamedTensors{{"x", x}});
  EXPECT_EQ(map_safetensors(folder / "most.safetensors").tensors[0].second.sizes(),
            most_dimensions);
}

}  // namespace
}  // namespace byre::test
