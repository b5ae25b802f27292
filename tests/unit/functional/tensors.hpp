// SPDX-License-Identifier: BSL-1.0
/// Tensors to compute with, and what they hold.
#pragma once

#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/tensor/print.hpp>

#include <concepts>
#include <string>

namespace byre::test {

/// 0, 1, 2, ... as f32, where factories make tensors now.
template <std::integral Count>  // which braces are none of
functional::AnyTensor counted(Count count) {
  return functional::call_for_one("arange", {count, DType::f32});
}
inline functional::AnyTensor counted(const Dims& sizes) {
  return functional::call_for_one("reshape",
                                  {counted(byre::detail::element_count(sizes, "test")), sizes});
}

inline functional::AnyTensor zeros(const Dims& sizes) {
  return functional::from_cpu(Tensor::zeros(sizes, DType::f32));
}

/// A view.
inline functional::AnyTensor element(const functional::AnyTensor& x, std::int64_t index) {
  return functional::call_for_one("select", {x, 0, index});
}

/// What a tensor of the CPU holds.
inline std::string text_of(const functional::AnyTensor& tensor) {
  return byre::to_string(functional::to_cpu(tensor));
}

}  // namespace byre::test
