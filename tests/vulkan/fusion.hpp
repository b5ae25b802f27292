// SPDX-License-Identifier: BSL-1.0
/// What tests of fused kernels have in common.
#pragma once

#include <gtest/gtest.h>
#include <byre/functional/functionalize/capture.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <variant>
#include <vector>

#include "backend.hpp"
#include "vulkan/fusion/fusible.hpp"

namespace examples::vulkan::test {
inline Tensor counted(const Dims& sizes, double first = -3.25) {
  Tensor tensor = Tensor::empty(sizes, DType::f32);
  for (std::int64_t index = 0; index < tensor.numel(); ++index) {
    tensor.mutable_data<float>()[index] =
        static_cast<float>(first + static_cast<double>(index) / 4);
  }
  return tensor;
}

/// Runs a program as a fused graph, and on the host: outputs, and what was written, are the same bit by bit.
inline VulkanGraph expect_same(const Program& program, const std::vector<Tensor>& inputs,
                               FunctionalizeOptions options = {}) {
  Tensors on_host;
  Tensors on_vulkan;
  for (const Tensor& input : inputs) {
    on_host.push_back(from_cpu(input.clone()));
    on_vulkan.push_back(to_vulkan(input));
  }
  const CapturedProgram captured = capture(program, on_host, options);
  VulkanGraph fused(captured.graph);
  const Tensors expected = execute(captured.graph, on_host);
  const Tensors kept = fused.run(on_vulkan);
  const Tensors handed_over = fused.run(std::move(on_vulkan));
  for (std::size_t index = 0; index < expected.size(); ++index) {
    EXPECT_TRUE(are_same(from_vulkan(kept[index]), to_cpu(expected[index]))) << index;
    EXPECT_TRUE(are_same(from_vulkan(handed_over[index]), to_cpu(expected[index])))
        << index << ", with inputs that may be written";
  }
  return fused;
}

/// What a run does: an operator's name, or "fused:" and how many values a kernel makes.
inline std::string steps_of(const VulkanGraph& graph) {
  std::string all;
  for (const Step& step : graph.steps()) {
    const auto* const node = std::get_if<std::size_t>(&step);
    all +=
        (all.empty() ? "" : " ") +
        (node != nullptr ? graph.graph().nodes[*node].op->name()
                         : "fused:" + std::to_string(std::get<FusedKernel>(step).outputs.size()));
  }
  return all;
}

inline std::string operations_of(const FusedKernel& kernel) {
  constexpr std::array names{"none", "load", "number", "window", "select", "add", "sub",  "mul",
                             "div",  "neg",  "relu",   "exp",    "ge",     "eq",  "store"};
  std::string all;
  for (const Instruction& instruction : kernel.instructions) {
    all += (all.empty() ? "" : " ") + std::string(names.at(instruction.operation));
  }
  return all;
}

/// The register, and one, of the window that each load is within, or 0.
inline std::string windows_of_loads(const FusedKernel& kernel) {
  std::string all;
  for (const Instruction& instruction : kernel.instructions) {
    if (instruction.operation == Instruction::load) {
      all += (all.empty() ? "" : " ") + std::to_string(instruction.b);
    }
  }
  return all;
}

inline std::ptrdiff_t kernels_of(const VulkanGraph& graph) {
  return std::ranges::count_if(
      graph.steps(), [](const Step& step) { return std::holds_alternative<FusedKernel>(step); });
}

inline AnyTensor part(const AnyTensor& x, std::int64_t axis, std::int64_t first,
                      std::int64_t last) {
  return call_for_one("slice", {x, axis, first, last});
}

}  // namespace examples::vulkan::test
