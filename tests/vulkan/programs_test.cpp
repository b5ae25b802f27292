// SPDX-License-Identifier: BSL-1.0
/// The random programs of the suite `functionalization` on the device, under the pass and as graphs: results have to be
/// the host's bit by bit. exp and division have error bounds only (operators_test.cpp), and a comparison magnifies any
/// error, so other operators replace them. BYRE_FUNCTIONALIZATION_PROGRAMS / 20 programs, from seed BYRE_TEST_SEED on.
#include <byre/functional/dispatch/detail/functional_variant.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "../functionalization/generate.hpp"
#include "../functionalization/shrink.hpp"
#include "../functionalization/targets.hpp"
#include "../functionalization/user_operators.hpp"
#include "support/random.hpp"
#include "vulkan/backend/vulkan_tensor.hpp"

namespace byre::test {
namespace {

using namespace examples::vulkan;
using functional::AnyTensor;
using functional::Call;
using functional::call_for_one;

void replace(std::string& name, const std::string& part, const std::string& by) {
  if (name.starts_with(part) &&
      (name.size() == part.size() || name[part.size()] == '_' || name[part.size()] == '.')) {
    name = by + name.substr(part.size());
  }
}

/// No complex numbers of any bits, as products of infinite ones may differ.
void see_no_bits_as_complex(Step& step) {
  replace(step.op, "view_as_complex", "alias");
  for (StepArgument& argument : step.arguments) {
    auto* const dtype = std::get_if<DType>(&argument);
    if (step.op == "view.dtype" && dtype != nullptr && *dtype == DType::complex64) {
      *dtype = DType::f64;
    }
  }
}

/// The same program, of operators that are exact.
Program exact(Program program) {
  for (Step& step : program.setup) {
    see_no_bits_as_complex(step);
  }
  for (Step& step : program.body) {
    see_no_bits_as_complex(step);
    replace(step.op, "exp", "relu");
    replace(step.op, "div", "mul");
  }
  return program;
}

/// Users' operators have kernels for the CPU, and none for the device: these are made of others.
void define_user_operators_on_vulkan() {
  define_user_operators();
  static const bool once = [] {
    const functional::Key key = vulkan_backend();
    functional::extend("proof_halves").kernel(key, [](const Call& call) {
      const AnyTensor& whole = call.arguments[0].tensor();
      const std::int64_t count = whole.numel();
      const AnyTensor flat = call_for_one("reshape", {whole, {count}});
      return Tensors{call_for_one("slice_copy", {flat, 0, 0, count / 2}),
                     call_for_one("slice_copy", {flat, 0, count / 2, count})};
    });
    const auto written_by = [](const char* name) {
      return functional::detail::functional_variant_of(functional::find(name)).name();
    };
    functional::extend(written_by("proof_double_")).kernel(key, [](const Call& call) {
      const AnyTensor& self = call.arguments[0].tensor();
      return Tensors{call_for_one("clone", {self}), call_for_one("mul.scalar", {self, 2})};
    });
    functional::extend(written_by("proof_exchange_")).kernel(key, [](const Call& call) {
      const AnyTensor& a = call.arguments[0].tensor();
      const AnyTensor& b = call.arguments[1].tensor();
      if (a.sizes() != b.sizes() || a.dtype() != b.dtype()) {
        throw ShapeError(
            format_text("exchange: the tensors have elements in common, or are not alike"));
      }
      return Tensors{call_for_one("clone", {b}), call_for_one("clone", {a})};
    });
    return true;
  }();
  static_cast<void>(once);
}

Target on_vulkan(ViewPaths paths) {
  return on_backend("vulkan", {vulkan_backend(), to_vulkan, from_vulkan}, {false, paths});
}

Target on_vulkan_graph(ViewPaths paths) {
  return on_graph_by("vulkan graph", {false, paths}, [](const Graph& graph, const Tensors& inputs) {
    Tensors on_device;
    for (const AnyTensor& input : inputs) {
      on_device.push_back(to_vulkan(functional::to_cpu(input)));
    }
    Tensors values = functional::execute(graph, on_device);
    for (AnyTensor& value : values) {
      value = from_cpu(value.as<VulkanTensor>() == nullptr ? functional::to_cpu(value)
                                                           : from_vulkan(value));
    }
    return values;
  });
}

void expect_all_agree(std::size_t programs, const std::vector<Target>& targets) {
  define_user_operators_on_vulkan();
  const std::uint64_t first = seed();
  std::size_t done = 0;
  for (std::uint64_t number = 0; number < programs; ++number) {
    const Program program = exact(generate(first + number));
    const Outcome expected = run_reference(program);
    for (const char happened : expected.trace.happened) {
      done += happened == static_cast<char>(Happened::done) ? 1 : 0;
    }
    for (const Target& target : targets) {
      if (!difference(expected, target.run(program)).empty()) {
        const Program smallest = shrunk(
            program, [&](const Program& smaller) { return !difference(smaller, target).empty(); });
        FAIL() << "BYRE_TEST_SEED=" << first + number << ": " << difference(smallest, target)
               << "\n"
               << to_string(smallest);
      }
    }
  }
  std::printf("%zu programs, %zu steps\n", programs, done);
  EXPECT_GT(done, programs);
}

TEST(VulkanPrograms, are_the_hosts_operator_by_operator) {
  expect_all_agree(program_count() / 20,
                   {on_vulkan(ViewPaths::chains), on_vulkan(ViewPaths::strides),
                    on_vulkan_graph(ViewPaths::chains), on_vulkan_graph(ViewPaths::strides)});
}

}  // namespace
}  // namespace byre::test
