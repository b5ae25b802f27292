// SPDX-License-Identifier: BSL-1.0
/// The random programs of the suite `functionalization` on the device, under the pass and as
/// graphs. Results must equal the host's bit by bit. exp and division are replaced by other
/// operators, because their results are only within error bounds (operators_test.cpp) and a
/// comparison magnifies any error. User operators without a kernel for the device are removed. Runs
/// BYRE_FUNCTIONALIZATION_PROGRAMS / 20 programs, from seed BYRE_TEST_SEED on.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../functionalization/targets.hpp"
#include "support/random.hpp"
#include "tensor_programs/generate.hpp"
#include "vulkan/backend/vulkan_tensor.hpp"

namespace byre::test {
namespace {

using examples::vulkan::from_vulkan;
using examples::vulkan::to_vulkan;
using examples::vulkan::vulkan_backend;
using examples::vulkan::VulkanTensor;

void replace(std::string& name, const std::string& part, const std::string& by) {
  if (name.starts_with(part) &&
      (name.size() == part.size() || name[part.size()] == '_' || name[part.size()] == '.')) {
    name = by + name.substr(part.size());
  }
}

/// Returns the program with exact operators only, and without complex numbers of arbitrary bits,
/// because products of infinite complex numbers may differ.
Program exact(Program program) {
  std::erase_if(program.body, [](const Step& step) {
    return step.op.starts_with("proof_") && step.op != "proof_corners";
  });
  for (std::vector<Step>* const steps : {&program.setup, &program.body}) {
    for (Step& step : *steps) {
      replace(step.op, "view_as_complex", "alias");
      for (StepArgument& argument : step.arguments) {
        auto* const dtype = std::get_if<DType>(&argument);
        if (step.op == "view.dtype" && dtype != nullptr && *dtype == DType::complex64) {
          *dtype = DType::f64;
        }
      }
    }
  }
  for (Step& step : program.body) {
    replace(step.op, "exp", "relu");
    replace(step.op, "div", "mul");
  }
  return program;
}

Tensors on_host(const Tensors& tensors) {
  Tensors all;
  for (const AnyTensor& tensor : tensors) {
    all.push_back(tensor.as<VulkanTensor>() == nullptr ? tensor : from_cpu(from_vulkan(tensor)));
  }
  return all;
}

Tensors on_device(const Tensors& tensors) {
  Tensors all;
  for (const AnyTensor& tensor : tensors) {
    all.push_back(to_vulkan(to_cpu(tensor)));
  }
  return all;
}

TEST(VulkanPrograms, compute_the_hosts_results_under_the_pass_and_as_graphs) {
  define_user_operators();
  std::vector<Target> targets;
  for (const ViewPaths paths : {ViewPaths::chains, ViewPaths::strides}) {
    targets.push_back(
        on_backend("vulkan", {vulkan_backend(), to_vulkan, from_vulkan}, {false, paths}));
    targets.push_back(
        on_graph_by("vulkan graph", {false, paths}, [](const Graph& graph, const Tensors& inputs) {
          return on_host(functional::execute(graph, on_device(inputs)));
        }));
  }
  const std::uint64_t first = seed();
  std::size_t done = 0;
  for (std::uint64_t number = 0; number < program_count() / 20; ++number) {
    const Program program = exact(generate(first + number));
    const Outcome expected = run_reference(program);
    done += static_cast<std::size_t>(
        std::ranges::count(expected.trace.results, static_cast<char>(StepResult::done)));
    for (const Target& target : targets) {
      const std::string text = smallest_difference(program, expected, target);
      ASSERT_TRUE(text.empty()) << "BYRE_TEST_SEED=" << first + number << ": " << text;
    }
  }
  EXPECT_GT(done, program_count() / 20);
}

}  // namespace
}  // namespace byre::test
