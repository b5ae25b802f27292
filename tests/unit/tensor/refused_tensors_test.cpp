// SPDX-License-Identifier: BSL-1.0
/// Tensors that functions reject: empty handles, tensors on a device other than the host, and
/// tensors of more than max_ndim dimensions.
#include <byre/interop/npy.hpp>
#include <byre/interop/npz.hpp>
#include <byre/interop/safetensors.hpp>
#include <byre/tensor/accessor.hpp>
#include <byre/tensor/elements.hpp>
#include <byre/tensor/print.hpp>
#include <byre/tensor/view_geometry.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "support/complaint.hpp"
#include "support/temporary_folder.hpp"
#include "support/tensor/fake_device.hpp"

namespace byre::test {
namespace {

/// A function and its name in messages. `call` passes `x`, the tensor to reject, to the function.
/// It makes all other operands from `fine`, a valid tensor.
struct Use {
  const char* name;
  std::function<void(const Tensor& fine, Tensor& x)> call;
};

const std::vector<Use> computations{
    {"add", [](auto& fine, auto& x) { add(x, fine); }},
    {"add", [](auto& fine, auto& x) { add(fine, x); }},
    {"add", [](auto&, auto& x) { add(x, 1); }},
    {"add", [](auto&, auto& x) { add(1, x); }},
    {"add_", [](auto& fine, auto& x) { add_(x, fine); }},
    {"add_", [](auto& fine, auto& x) { add_(fine.clone(), x); }},
    {"add_", [](auto&, auto& x) { add_(x, 1); }},
    {"sub", [](auto& fine, auto& x) { sub(x, fine); }},
    {"mul", [](auto& fine, auto& x) { mul(x, fine); }},
    {"div", [](auto& fine, auto& x) { div(x, fine); }},
    {"neg", [](auto&, auto& x) { neg(x); }},
    {"neg_", [](auto&, auto& x) { neg_(x); }},
    {"relu", [](auto&, auto& x) { relu(x); }},
    {"relu_", [](auto&, auto& x) { relu_(x); }},
    {"exp", [](auto&, auto& x) { exp(x); }},
    {"exp_", [](auto&, auto& x) { exp_(x); }},
    {"eq", [](auto& fine, auto& x) { eq(fine, x); }},
    {"eq", [](auto&, auto& x) { eq(x, 1); }},
    {"ge", [](auto& fine, auto& x) { ge(x, fine); }},
    {"where", [](auto& fine, auto& x) { where(eq(fine, fine), fine, x); }},
    {"where", [](auto& fine, auto& x) { where(eq(fine, fine), x, fine); }},
    {"where", [](auto& fine, auto& x) { where(x, fine, fine); }},
    {"where", [](auto&, auto& x) { where(x, 1, 2); }},
    {"sum", [](auto&, auto& x) { sum(x); }},
    {"sum", [](auto&, auto& x) { sum(x, Dims{0}); }},
    {"matmul", [](auto& fine, auto& x) { matmul(x, fine); }},
    {"matmul", [](auto& fine, auto& x) { matmul(fine, x); }},
    {"cat",
     [](auto& fine, auto& x) {
       cat(std::vector{fine, x});
     }},
    {"cat", [](auto&, auto& x) { cat(std::vector{x}); }},
    {"flip", [](auto&, auto& x) { flip(x, {0}); }},
};

const std::vector<Use> other_functions {
  {"fill_", [](auto&, auto& x) { fill_(x, 1); }}, {"zero_", [](auto&, auto& x) { zero_(x); }},
      {"copy_", [](auto& fine, auto& x) { copy_(x, fine); }},
      {"copy_", [](auto& fine, auto& x) { copy_(fine.clone(), x); }},
      {"accessor", [](auto&, auto& x) { std::ignore = accessor<float, 1>(x); }},
      {"mutable_accessor", [](auto&, auto& x) { std::ignore = mutable_accessor<float, 1>(x); }},
      {"geometry_of", [](auto&, auto& x) { geometry_of(x); }},
      {"view_of", [](auto& fine, auto& x) { view_of(x, geometry_of(fine)); }},
      {"packed", [](auto&, auto& x) { packed(x); }},
      {"share_data", [](auto& fine, auto& x) { fine.clone().share_data(x); }},
      {"save_npy", [](auto&, auto& x) { save_npy("none.npy", x); }},
#if BYRE_NPZ
      {"save_npz",
       [](auto&, auto& x) {
         save_npz("none.npz", NamedTensors{{"none", x}});
       }},
#endif
      {"save_safetensors of \"none\"", [](auto&, auto& x) {
         save_safetensors("none.safetensors", NamedTensors{{"none", x}});
       }},
};

TEST(RefusedTensors, an_empty_handle_is_rejected_by_every_function) {
  const Tensor fine = Tensor::of<float>({2}, {1, 2});
  for (const std::vector<Use>* const uses : {&computations, &other_functions}) {
    for (const auto& [name, use] : *uses) {
      Tensor none;
      EXPECT_EQ(complaint_of<StateError>([&, &call = use] { call(fine, none); }),
                std::string(name) +
                    ": the tensor handle is empty, as Tensor() is. Pass a tensor, for example from "
                    "Tensor::empty().");
      EXPECT_FALSE(none);
    }
  }
  EXPECT_FALSE(fine.aliases(Tensor()));
  EXPECT_FALSE(fine.is_of_view_family(Tensor()));
}

TEST(RefusedTensors, operands_on_a_device_are_rejected_by_computations) {
  const Tensor fine = Tensor::zeros({4}, DType::f32);
  Tensor there = fine.to(FakeDevice::first().device());
  for (const auto& [name, use] : computations) {
    const std::string text = complaint_of<DeviceError>([&, &call = use] { call(fine, there); });
    if (name != std::string("where")) {  // where() may check the dtype of the condition first
      EXPECT_EQ(text, std::string(name) +
                          ": the tensor is on device 1:1 (fake), required is the host. Copy it by "
                          "to(Device::cpu()).");
    }
  }
}

const Dims most_dimensions(max_ndim, 1);
const Dims too_many(max_ndim + 1, 1);

const std::vector<Use> makers_of_shapes{
    {"empty", [](auto&, auto&) { Tensor::empty(too_many, DType::f32); }},
    {"empty", [](auto&, auto&) { Tensor::zeros(too_many, DType::f32); }},
    {"empty", [](auto&, auto&) { Tensor::of<float>(too_many, {1}); }},
    {"Tensor::over", [](auto&, auto&) { Tensor::over({}, too_many, DType::f32); }},
    {"resize", [](auto&, auto&) { Tensor(Device::cpu()).resize(too_many); }},
    {"reserve", [](auto&, auto& x) { x.reserve(too_many); }},
    {"view", [](auto&, auto& x) { std::ignore = x.view(too_many); }},
    {"reshape", [](auto&, auto& x) { std::ignore = x.reshape(too_many); }},
    {"reshape", [](auto&, auto& x) { x.reshape_(too_many); }},
    {"unsqueeze", [](auto&, auto& x) { std::ignore = x.unsqueeze(-1); }},
    {"expand", [](auto& scalar, auto&) { std::ignore = scalar.expand(too_many); }},
    {"as_strided", [](auto&, auto& x) { std::ignore = x.as_strided(too_many, too_many); }},
    {"unfold", [](auto&, auto& x) { std::ignore = x.unfold(0, 1, 1); }},
    {"view_as_real",
     [](auto&, auto&) { Tensor::zeros(most_dimensions, DType::complex64).view_as_real(); }},
    {"view", [](auto&, auto&) { ViewGeometry::of_all(too_many, DType::f32); }},
    {"npy_header", [](auto&, auto&) { npy_header(DType::f32, too_many); }},
};

TEST(MaxNdim, more_than_max_ndim_dimensions_are_rejected_by_every_function) {
  const Tensor scalar = Tensor::zeros({}, DType::f32);
  Tensor x = Tensor::zeros(most_dimensions, DType::f32);
  for (const auto& [name, use] : makers_of_shapes) {
    EXPECT_EQ(complaint_of<ShapeError>([&, &make = use] { make(scalar, x); }),
              std::string(name) +
                  ": 65 dimensions, allowed are at most 64 (byre::max_ndim). Merge some of them by "
                  "flatten(), "
                  "view() or reshape().");
  }
}

TEST(MaxNdim, tensors_of_max_ndim_dimensions_are_supported) {
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
