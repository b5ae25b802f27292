// SPDX-License-Identifier: BSL-1.0
/// A handle without a tensor, given to whatever function takes one, is refused.
#include <byre/interop/npy.hpp>
#include <byre/interop/npz.hpp>
#include <byre/interop/safetensors.hpp>
#include <byre/tensor/accessor.hpp>
#include <byre/tensor/elements.hpp>
#include <byre/tensor/print.hpp>
#include <byre/tensor/view_geometry.hpp>

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <tuple>

#include "support/complaint.hpp"

namespace byre::test {
namespace {

struct Function {
  const char* name;
  std::function<void(const Tensor& x, Tensor& none)> call;
};

const std::array functions_of_tensors {
  Function{"fill_", [](const Tensor&, Tensor& none) { fill_(none, 1); }},
      Function{"zero_", [](const Tensor&, Tensor& none) { zero_(none); }},
      Function{"copy_", [](const Tensor& x, Tensor& none) { copy_(none, x); }},
      Function{"copy_",
               [](const Tensor& x, Tensor& none) {
                 Tensor to(x);
                 copy_(to, none);
               }},
      Function{"add", [](const Tensor& x, Tensor& none) { add(x, none); }},
      Function{"add", [](const Tensor& x, Tensor& none) { add(none, x); }},
      Function{"add", [](const Tensor&, Tensor& none) { add(none, 1); }},
      Function{"add", [](const Tensor&, Tensor& none) { add(1, none); }},
      Function{"add_", [](const Tensor& x, Tensor& none) { add_(none, x); }},
      Function{"add_",
               [](const Tensor& x, Tensor& none) {
                 Tensor to(x);
                 add_(to, none);
               }},
      Function{"add_", [](const Tensor&, Tensor& none) { add_(none, 1); }},
      Function{"sub", [](const Tensor& x, Tensor& none) { sub(x, none); }},
      Function{"mul", [](const Tensor& x, Tensor& none) { mul(x, none); }},
      Function{"div", [](const Tensor& x, Tensor& none) { div(x, none); }},
      Function{"neg", [](const Tensor&, Tensor& none) { neg(none); }},
      Function{"neg_", [](const Tensor&, Tensor& none) { neg_(none); }},
      Function{"relu", [](const Tensor&, Tensor& none) { relu(none); }},
      Function{"exp", [](const Tensor&, Tensor& none) { exp(none); }},
      Function{"eq", [](const Tensor& x, Tensor& none) { eq(x, none); }},
      Function{"eq", [](const Tensor&, Tensor& none) { eq(none, 1); }},
      Function{"ge", [](const Tensor& x, Tensor& none) { ge(none, x); }},
      Function{"where", [](const Tensor& x, Tensor& none) { where(none, x, x); }},
      Function{"where", [](const Tensor& x, Tensor& none) { where(eq(x, x), x, none); }},
      Function{"where", [](const Tensor&, Tensor& none) { where(none, 1, 2); }},
      Function{"sum", [](const Tensor&, Tensor& none) { sum(none); }},
      Function{"sum", [](const Tensor&, Tensor& none) { sum(none, Dims{0}); }},
      Function{"matmul", [](const Tensor& x, Tensor& none) { matmul(x, none); }},
      Function{"cat",
               [](const Tensor& x, Tensor& none) {
                 cat({x, none});
               }},
      Function{"cat", [](const Tensor&, Tensor& none) { cat({none}); }},
      Function{"flip", [](const Tensor&, Tensor& none) { flip(none, {0}); }},
      Function{"accessor",
               [](const Tensor&, Tensor& none) { std::ignore = accessor<float, 1>(none); }},
      Function{"mutable_accessor",
               [](const Tensor&, Tensor& none) { std::ignore = mutable_accessor<float, 1>(none); }},
      Function{"geometry_of", [](const Tensor&, Tensor& none) { geometry_of(none); }},
      Function{"view_of", [](const Tensor& x, Tensor& none) { view_of(none, geometry_of(x)); }},
      Function{"packed", [](const Tensor&, Tensor& none) { packed(none); }},
      Function{"share_data", [](const Tensor& x, Tensor& none) { x.clone().share_data(none); }},
      Function{"save_npy", [](const Tensor&, Tensor& none) { save_npy("none.npy", none); }},
#if BYRE_NPZ
      Function{"save_npz",
               [](const Tensor& x, Tensor& none) {
                 save_npz("none.npz", NamedTensors{{"x", x}, {"none", none}});
               }},
#endif
      Function{"save_safetensors of \"none\"", [](const Tensor& x, Tensor& none) {
                 save_safetensors("none.safetensors", NamedTensors{{"x", x}, {"none", none}});
               }},
};

TEST(EmptyHandles, are_refused_by_every_function_of_tensors) {
  const Tensor x = Tensor::of<float>({2}, {1, 2});
  for (const Function& function : functions_of_tensors) {
    Tensor none;
    EXPECT_EQ(complaint_of<StateError>([&] { function.call(x, none); }),
              std::string(function.name) +
                  ": a handle without a tensor was given, Tensor(). Give one that "
                  "Tensor::empty(), or another operation, made.");
    EXPECT_FALSE(none);
  }
  EXPECT_EQ(x.at<float>({1}), 2.0F);
}

TEST(EmptyHandles, share_nothing_and_are_printed) {
  const Tensor x = Tensor::zeros({2}, DType::f32);
  EXPECT_FALSE(x.aliases(Tensor()));
  EXPECT_FALSE(x.is_of_view_family(Tensor()));
  EXPECT_EQ(to_string(Tensor()), "no tensor");
}

}  // namespace
}  // namespace byre::test
