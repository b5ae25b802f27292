// SPDX-License-Identifier: BSL-1.0
/// Names, tensors and helpers that the tests of functionalization share.
#pragma once

#include <byre/functional.hpp>
#include <byre/functional/functionalize/detail/functional_tensor.hpp>

#include <gtest/gtest.h>
#include <concepts>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "support/complaint.hpp"
#include "support/functional/opaque_backend.hpp"
#include "support/random.hpp"

namespace byre::test {

using namespace functional;
using functional::call;
using functional::call_for_one;

/// Returns 0, 1, 2, ... as f32, on the thread's current backend.
template <std::integral Count>  // so that braced sizes select the other overload
AnyTensor ascending(Count count) {
  return call_for_one("arange", {count, DType::f32});
}
inline AnyTensor ascending(const Dims& sizes) {
  return call_for_one("reshape", {ascending(byre::detail::element_count(sizes, "test")), sizes});
}

inline AnyTensor zeros(const Dims& sizes) {
  return from_cpu(Tensor::zeros(sizes, DType::f32));
}

/// The view of x that selects `index` along dimension 0: an element or a row.
inline AnyTensor element(const AnyTensor& x, std::int64_t index) {
  return call_for_one("select", {x, 0, index});
}

/// Requires a tensor of the pass.
inline FunctionalTensor& functional_tensor_of(const AnyTensor& tensor) {
  return *tensor.as<FunctionalTensor>();
}

/// The elements of a tensor of the CPU.
inline std::string text_of(const AnyTensor& tensor) {
  return byre::to_string(to_cpu(tensor));
}
/// The current value of a tensor of the CPU or the opaque backend, also under the pass.
inline std::string text_of_value(const AnyTensor& tensor) {
  const AnyTensor value = from_functional(tensor);
  const bool is_opaque = value.as<OpaqueTensor>() != nullptr;
  return byre::to_string(is_opaque ? from_opaque(value) : to_cpu(value));
}
inline std::string texts_of(const Tensors& tensors) {
  std::string text;
  for (const AnyTensor& tensor : tensors) {
    text += text_of(tensor) + "\n";
  }
  return text;
}

/// A meta rule: the result has the sizes and dtype of the first argument.
inline std::vector<TensorMeta> meta_as_first(const Call& call) {
  const AnyTensor& a = call.arguments[0].tensor();
  return {{a.sizes(), a.dtype()}};
}

// ---- Parameters of tests, and their names

inline constexpr ViewPaths all_paths[] = {ViewPaths::chains, ViewPaths::strides};
inline constexpr FunctionalizeOptions all_options[] = {{true, ViewPaths::chains},
                                                       {true, ViewPaths::strides},
                                                       {false, ViewPaths::chains},
                                                       {false, ViewPaths::strides}};

inline std::string name_of_paths(const testing::TestParamInfo<ViewPaths>& tested) {
  return tested.param == ViewPaths::chains ? "chains" : "strides";
}
inline std::string name_of_options(const testing::TestParamInfo<FunctionalizeOptions>& tested) {
  return std::string(tested.param.reapply_views ? "views_reapplied_by_" : "views_copied_by_") +
         name_of_paths({tested.param.paths, tested.index});
}

/// A named transform of programs.
struct Transform {
  const char* name;
  std::function<Program(const Program&)> apply;

  friend void PrintTo(const Transform& transform, std::ostream* out) { *out << transform.name; }
};

inline Program untransformed(const Program& f) {
  return f;
}
inline Program without_views(const Program& f) {
  return functionalize(f);
}
inline Program on_opaque(const Program& f) {
  return functionalize_on({opaque_backend(), to_opaque, from_opaque}, f);
}
inline Program by_graph(const Program& f) {
  return [f](const Tensors& in) {
    const CapturedProgram program = capture(f, in);
    EXPECT_TRUE(is_functional(program.graph));
    return program(in);
  };
}

inline std::string name_of_transform(const testing::TestParamInfo<Transform>& tested) {
  return tested.param.name;
}

}  // namespace byre::test
