// SPDX-License-Identifier: BSL-1.0
/// Every pure operator computes the same results on the device as on the CPU, within the documented
/// bounds.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "device.hpp"
#include "support/complaint.hpp"
#include "tensor_programs/random_calls.hpp"
#include "vulkan/backend/vulkan_tensor.hpp"

namespace examples::vulkan::test {
namespace {

using namespace byre::functional;
using namespace byre;
using byre::functional::call;
using byre::functional::call_for_one;
using byre::test::are_same;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// The largest difference of elements in ulps. Infinity if sizes or dtypes differ, or if only one
/// of two elements is infinite or NaN.
double distance(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.sizes() != b.sizes()) {
    return HUGE_VAL;
  }
  const auto as_f64 = [](const Tensor& tensor) {
    const bool is_complex = tensor.dtype() == DType::complex64;
    const Tensor real = is_complex ? tensor.contiguous().view_as_real() : tensor;
    Tensor wide = Tensor::empty(real.sizes(), DType::f64);
    return copy_(wide, real);
  };
  const DType dtype = a.dtype();
  const int digits = dtype == DType::f64    ? 53
                     : dtype == DType::f16  ? 11
                     : dtype == DType::bf16 ? 8
                                            : 24;
  const int least = dtype == DType::f64 ? -1022 : dtype == DType::f16 ? -14 : -126;
  const Tensor x = as_f64(a);
  const Tensor y = as_f64(b);
  double most = 0;
  for (std::int64_t index = 0; index < x.numel(); ++index) {
    const double first = x.data<double>()[index];
    const double second = y.data<double>()[index];
    if (first != second && !(std::isnan(first) && std::isnan(second))) {
      const int exponent = std::max(second == 0 ? least : std::ilogb(second), least);
      const double apart = std::abs(first - second) / std::ldexp(1.0, exponent + 1 - digits);
      most = std::isnan(apart) ? HUGE_VAL : std::max(most, apart);
    }
  }
  return most;
}

Arguments on_device(Arguments arguments) {
  for (Argument& argument : arguments) {
    argument.for_each_tensor([](AnyTensor& tensor) { tensor = to_vulkan(to_cpu(tensor)); });
  }
  return arguments;
}

/// Compares bit by bit, except results of division and exp: within 3 ulps, or 1 ulp for f16 and
/// bf16.
void expect_as_on_the_cpu(const std::string& name, const Arguments& on_cpu) {
  const Tensor expected = to_cpu(call_for_one(name, on_cpu));
  Arguments arguments = on_device(on_cpu);
  const Counted queue;
  const AnyTensor result = [&] {
    const IncludeKeys also_of_numbers(vulkan_backend());
    return call_for_one(name, arguments);
  }();
  ASSERT_EQ(queue.host_copies(), 0U) << name;
  ASSERT_EQ(result.keys(), KeySet(vulkan_backend()));
  const Tensor computed = from_vulkan(result);
  const bool is_rounded = name == "div" || name == "div.scalar" || name == "exp";
  const bool is_half = expected.dtype() == DType::f16 || expected.dtype() == DType::bf16;
  ASSERT_TRUE(is_rounded ? distance(computed, expected) <= (is_half ? 1 : 3)
                         : are_same(computed, expected))
      << name << "\n"
      << byre::to_string(computed, {.type = true}) << "\nand on the CPU\n"
      << byre::to_string(expected, {.type = true});
  // The operands are unchanged, because the call did not have their only handles.
  for (std::size_t index = 0; index < on_cpu.size(); ++index) {
    if (const auto* const tensor = on_cpu[index].get<AnyTensor>()) {
      ASSERT_TRUE(are_same(from_vulkan(arguments[index].tensor()), to_cpu(*tensor))) << name;
    }
  }
}

TEST(VulkanOperators, compute_the_same_results_as_the_cpu) {
  byre::test::RandomCalls random(byre::test::seed());
  for (const Operator* const op : operators()) {
    if (op->schema().is_pure() && op->meta() != nullptr && !op->name().starts_with("test_")) {
      SCOPED_TRACE(op->name());
      ASSERT_NE(op->kernel(vulkan_backend()), nullptr);
      for (int round = 0; round < 100 && !HasFatalFailure(); ++round) {
        expect_as_on_the_cpu(op->name(), random.arguments_of(op->name()));
      }
    }
  }
}

/// Numbers that are difficult to convert and to round.
Tensor edges(DType dtype) {
  const std::vector<double> numbers{
      0,        -0.0,      0.5,         -0.5,    1,       -1,        1.5,        2.5,
      127,      128,       -128.5,      -129,    255,     255.9,     256,        32767,
      32768,    -32769,    65504,       65519,   65520,   1e5,       2147483647, 2147483648.0,
      -3e9,     1e10,      9.2e18,      9.3e18,  -9.3e18, 1e-5,      6e-8,       3e-8,
      1e-30,    1e30,      3.4e38,      -3.4e38, 0.1,     1.0 / 3.0, 16777217,   9007199254740993.0,
      infinite, -infinite, not_a_number};
  Tensor all = Tensor::empty({std::ssize(numbers)}, dtype);
  return copy_(all, Tensor::of<double>({std::ssize(numbers)}, std::span(numbers)));
}

TEST(VulkanOperators, convert_and_promote_dtypes_and_numbers_like_the_cpu) {
  constexpr int dtypes = static_cast<int>(DType::uninitialized);
  const std::vector<Scalar> numbers{3, -1, 0.1, true, 70000};
  const Argument condition = from_cpu(ge(Tensor::zeros({1}, DType::f32), edges(DType::f32)));
  for (int pair = 0; pair < dtypes * (dtypes + 5) && !HasFatalFailure(); ++pair) {
    const Argument a = from_cpu(edges(static_cast<DType>(pair % dtypes)));
    const int other = pair / dtypes;
    const Scalar* const number =
        other < dtypes ? nullptr : &numbers[static_cast<std::size_t>(other - dtypes)];
    const DType dtype = a.tensor().dtype();
    const DType other_dtype = number == nullptr ? static_cast<DType>(other) : number->dtype_alone();
    const Argument b =
        number == nullptr ? Argument(from_cpu(flip(edges(other_dtype), {0}))) : *number;
    SCOPED_TRACE(std::string(name_of(dtype)) + " and " +
                 (number == nullptr ? name_of(other_dtype) : byre::functional::to_string(*number)));
    if (number == nullptr) {
      expect_as_on_the_cpu("to", {a, other_dtype});
      expect_as_on_the_cpu("where", {condition, a, b});
    }
    const bool subtracts_flags = dtype == DType::boolean && other_dtype == DType::boolean;
    const bool is_complex = dtype == DType::complex64 || other_dtype == DType::complex64;
    for (const std::string name : {"add", "sub", "mul", "div", "eq", "ge"}) {
      const bool compares = name == "eq" || name == "ge";
      // Complex numbers cannot be ordered. Products and quotients of infinite complex numbers may
      // differ from the CPU's.
      const bool is_out = (name == "sub" && subtracts_flags) || (name == "ge" && is_complex) ||
                          (is_complex && number == nullptr && (name == "div" || name == "mul")) ||
                          (number != nullptr && !compares && !number->fits(dtype));
      if (!is_out) {
        expect_as_on_the_cpu(name + (number == nullptr ? "" : ".scalar"), {a, b});
      }
    }
  }
}

TEST(VulkanOperators, compute_exp_within_2_ulps) {
  Tensor doubles = Tensor::empty({24001}, DType::f64);
  for (std::int64_t step = 0; step <= 24000; ++step) {
    doubles.mutable_data<double>()[step] = static_cast<double>(step - 12000) / 128;
  }
  Tensor floats = Tensor::empty(doubles.sizes(), DType::f32);
  copy_(floats, doubles);
  for (const Tensor& x : {floats, doubles, mul(doubles, 7.3)}) {
    Tensor exact = Tensor::empty(x.sizes(), DType::f64);
    Tensor rounded = Tensor::empty(x.sizes(), x.dtype());
    copy_(rounded, exp(copy_(exact, x)));
    EXPECT_LE(distance(from_vulkan(call_for_one("exp", {to_vulkan(x)})), rounded), 2)
        << name_of(x.dtype());
  }
}

TEST(VulkanOperators, compute_large_tensors_like_the_cpu) {
  byre::test::RandomCalls random(byre::test::seed());
  const Argument whole = from_cpu(random.elements({3, 70, 1100}, DType::i64));
  expect_as_on_the_cpu("sum", {whole});
  for (const Dims& axes : {Dims{0}, Dims{1}, Dims{2}, Dims{0, 1}, Dims{1, 2}, Dims{0, 2}}) {
    expect_as_on_the_cpu("sum.axes", {whole, axes, false});
  }
  for (const auto& [count, dtype] :
       {std::pair{1 << 21, DType::f32}, {20000, DType::f16}, {20000, DType::complex64}}) {
    expect_as_on_the_cpu("sum", {from_cpu(random.elements({count}, dtype))});
  }
  for (const DType dtype : {DType::boolean, DType::u8, DType::i64, DType::f16, DType::f32,
                            DType::f64, DType::complex64}) {
    expect_as_on_the_cpu("matmul", {from_cpu(random.elements({2, 1, 33, 41}, dtype)),
                                    from_cpu(random.elements({3, 41, 19}, dtype))});
    const Argument all = random.tensor({3, 5, 7, 2, 6, 11}, dtype);
    const Argument some = random.tensor({3, 1, 7, 1, 6, 1}, dtype);
    const Argument plane = random.tensor({300, 1100}, dtype);
    expect_as_on_the_cpu("permute_copy", {all, {5, 2, 0, 4, 1, 3}});
    expect_as_on_the_cpu("flip", {all, {0, 2, 3, 5}});
    expect_as_on_the_cpu("expand_copy", {some, {3, 5, 7, 2, 6, 11}});
    expect_as_on_the_cpu("add", {some, random.tensor({5, 1, 2, 1, 11}, dtype)});
    expect_as_on_the_cpu("slice_copy", {plane, 1, 3, 900, 2});
    expect_as_on_the_cpu("slice_scatter", {plane, random.tensor({300, 449}, dtype), 1, 3, 900, 2});
  }
}

TEST(VulkanOperators, are_rejected_by_name_if_they_view_or_write_or_lack_a_kernel) {
  define("test_vulkan_twice(Tensor a) -> Tensor").cpu([](const Tensor& a) { return add(a, a); });
  const AnyTensor x = to_vulkan(Tensor::zeros({3}, DType::f32));
  const AnyTensor on_cpu = from_cpu(Tensor::zeros({3}, DType::f32));
  struct Case {
    const char* name;
    Arguments arguments;
    const char* reason;
    const char* advice;
  };
  for (const auto& [name, arguments, reason, advice] :
       {Case{"select", {x, 0, 1}, "makes a view", "functionalize"},
        {"unbind", {x}, "makes a view", "functionalize"},
        {"add_", {x, x}, "writes to an operand", "functionalize"},
        {"resize_", {x, {2}}, "writes to an operand", "functionalize"},
        {"add.out", {x, x, x}, "writes to an operand", "functionalize"},
        {"copy_", {on_cpu, x}, "writes to an operand", "functionalize"},
        {"test_vulkan_twice", {x}, "it lacks a kernel", "extend(\"test_vulkan_twice\").kernel"}}) {
    const Counted queue;
    const std::string text =
        byre::test::complaint_of<DispatchError>([&] { call(name, arguments); });
    EXPECT_TRUE(text.starts_with(std::string("cannot run ") + name + " ")) << text;
    EXPECT_TRUE(byre::test::says(text, reason, advice));
    EXPECT_EQ(queue.dispatches() + queue.host_copies(), 0U);
  }
  extend("test_vulkan_twice").kernel(vulkan_backend(), [](const Call& call) {
    const AnyTensor a = call.arguments[0].tensor();
    return Tensors{call_for_one("add", {a, a})};
  });
  EXPECT_TRUE(are_same(from_vulkan(call_for_one("test_vulkan_twice", {x})), from_vulkan(x)));
}

TEST(VulkanOperators, reject_the_arguments_that_the_cpu_rejects) {
  const AnyTensor flags = to_vulkan(Tensor::zeros({3}, DType::boolean));
  const AnyTensor bytes = to_vulkan(Tensor::zeros({3}, DType::u8));
  const AnyTensor complex = to_vulkan(Tensor::zeros({3}, DType::complex64));
  EXPECT_THROW(call("sub", {flags, flags}), DTypeError);
  EXPECT_THROW(call("add.scalar", {bytes, 300}), DTypeError);
  EXPECT_THROW(call("ge", {complex, complex}), DTypeError);
  EXPECT_THROW(call("where", {bytes, bytes, bytes}), DTypeError);
  EXPECT_THROW(call("view_copy.dtype", {bytes, DType::boolean}), DTypeError);
  EXPECT_THROW(call("add", {bytes, to_vulkan(Tensor::zeros({2}, DType::u8))}), ShapeError);
}

}  // namespace
}  // namespace examples::vulkan::test
