// SPDX-License-Identifier: BSL-1.0
/// Every pure operator on the device is what it is on the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <vector>

#include "backend.hpp"

namespace examples::vulkan::test {
namespace {

/// In ulps of the result: what is computed by division and exp may differ. All else is the same bit by bit.
double allowed(const std::string& name, DType dtype) {
  const bool is_rounded = name == "div" || name == "div.scalar" || name == "exp";
  return !is_rounded ? 0 : dtype == DType::f16 || dtype == DType::bf16 ? 1 : 3;
}

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
  const double most = allowed(name, expected.dtype());
  ASSERT_TRUE(most == 0 ? are_same(computed, expected) : distance(computed, expected) <= most)
      << name << "\n"
      << byre::to_string(computed, {.type = true}) << "\nand on the CPU\n"
      << byre::to_string(expected, {.type = true});
  // The operands are as they were: the call had other handles to them.
  for (std::size_t index = 0; index < on_cpu.size(); ++index) {
    if (const auto* const tensor = on_cpu[index].get<AnyTensor>()) {
      ASSERT_TRUE(are_same(from_vulkan(arguments[index].tensor()), to_cpu(*tensor))) << name;
    }
  }
}

TEST(VulkanOperators, compute_what_the_cpu_computes) {
  byre::test::RandomCalls random(byre::test::seed());
  for (const std::string& name : random.all_names()) {
    if (name.starts_with("test_")) {
      continue;
    }
    SCOPED_TRACE(name);
    ASSERT_NE(find(name).kernel(vulkan_backend()), nullptr);
    for (int round = 0; round < 100; ++round) {
      expect_as_on_the_cpu(name, random.arguments_of(name));
      if (HasFatalFailure()) {
        return;
      }
    }
  }
}

TEST(VulkanOperators, are_all_that_are_pure) {
  for (const Operator* const op : operators()) {
    const bool is_of_a_test = op->name().starts_with("test_");
    if (op->schema().is_pure() && op->meta() != nullptr && !is_of_a_test) {
      EXPECT_NE(op->kernel(vulkan_backend()), nullptr) << op->name();
    }
  }
}

/// Numbers where conversions and rounding have something to decide.
Tensor edges(DType dtype) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double not_a_number = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> numbers{
      0,        -0.0,      0.5,         -0.5,    1,       -1,        1.5,        2.5,
      127,      128,       -128.5,      -129,    255,     255.9,     256,        32767,
      32768,    -32769,    65504,       65519,   65520,   1e5,       2147483647, 2147483648.0,
      -3e9,     1e10,      9.2e18,      9.3e18,  -9.3e18, 1e-5,      6e-8,       3e-8,
      1e-30,    1e30,      3.4e38,      -3.4e38, 0.1,     1.0 / 3.0, 16777217,   9007199254740993.0,
      infinity, -infinity, not_a_number};
  Tensor all = Tensor::empty({std::ssize(numbers)}, dtype);
  return copy_(all, Tensor::of<double>({std::ssize(numbers)}, std::span<const double>(numbers)));
}

constexpr int dtypes = static_cast<int>(DType::uninitialized);

TEST(VulkanOperators, convert_every_dtype_to_every_other) {
  for (int from = 0; from < dtypes; ++from) {
    for (int to = 0; to < dtypes; ++to) {
      SCOPED_TRACE(name_of(static_cast<DType>(from)));
      SCOPED_TRACE(name_of(static_cast<DType>(to)));
      expect_as_on_the_cpu("to",
                           {from_cpu(edges(static_cast<DType>(from))), static_cast<DType>(to)});
    }
  }
}

TEST(VulkanOperators, promote_every_pair_of_dtypes) {
  for (int first = 0; first < dtypes; ++first) {
    for (int second = 0; second < dtypes; ++second) {
      const Tensor a = edges(static_cast<DType>(first));
      const Tensor b = flip(edges(static_cast<DType>(second)), {0});
      for (const std::string name : {"add", "sub", "mul", "eq", "ge", "where", "div"}) {
        const bool is_complex = a.dtype() == DType::complex64 || b.dtype() == DType::complex64;
        if ((name == "sub" && first + second == 0) ||
            (is_complex && (name == "ge" || name == "div" || name == "mul"))) {
          continue;
        }
        SCOPED_TRACE(name);
        SCOPED_TRACE(name_of(a.dtype()));
        SCOPED_TRACE(name_of(b.dtype()));
        Arguments arguments{from_cpu(a), from_cpu(b)};
        if (name == "where") {
          arguments.insert(arguments.begin(),
                           from_cpu(ge(Tensor::zeros({1}, DType::f32), edges(DType::f32))));
        }
        expect_as_on_the_cpu(name, arguments);
        if (HasFatalFailure()) {
          return;
        }
      }
    }
  }
}

TEST(VulkanOperators, take_numbers_beside_tensors_of_every_dtype) {
  for (int dtype = 0; dtype < dtypes; ++dtype) {
    const Tensor a = edges(static_cast<DType>(dtype));
    const bool is_complex = a.dtype() == DType::complex64;
    for (const std::string name : {"add", "sub", "mul", "div", "eq", "ge"}) {
      for (const Scalar number :
           {Scalar(3), Scalar(-1), Scalar(0.1), Scalar(true), Scalar(70000)}) {
        SCOPED_TRACE(name + " " + byre::functional::to_string(number) + " " + name_of(a.dtype()));
        if ((name == "ge" && is_complex) ||
            (name != "eq" && name != "ge" && !number.fits(a.dtype())) ||
            (name == "sub" && a.dtype() == DType::boolean &&
             number.dtype_alone() == DType::boolean)) {
          continue;
        }
        expect_as_on_the_cpu(name + ".scalar", {from_cpu(a), number});
      }
    }
  }
}

TEST(VulkanOperators, keep_exp_within_its_bound) {
  std::vector<float> numbers;
  for (int step = -12000; step <= 12000; ++step) {
    numbers.push_back(static_cast<float>(step) / 128.0F);
  }
  const Tensor single = Tensor::of<float>({std::ssize(numbers)}, std::span<const float>(numbers));
  Tensor twofold = Tensor::empty(single.sizes(), DType::f64);
  copy_(twofold, single);
  for (const Tensor& x : {single, twofold, mul(twofold, 7.3)}) {
    const AnyTensor y = call_for_one("exp", {to_vulkan(x)});
    Tensor exact = Tensor::empty(x.sizes(), DType::f64);
    copy_(exact, x);
    exact = exp(exact);
    Tensor rounded = Tensor::empty(x.sizes(), x.dtype());
    EXPECT_LE(distance(from_vulkan(y), copy_(rounded, exact)), 2) << name_of(x.dtype());
  }
}

TEST(VulkanOperators, sum_and_multiply_large_tensors) {
  byre::test::RandomCalls random(byre::test::seed());
  const Tensor whole = random.elements({3, 70, 1100}, DType::i64);
  expect_as_on_the_cpu("sum", {from_cpu(whole)});
  for (const Dims& axes : {Dims{0}, Dims{1}, Dims{2}, Dims{0, 1}, Dims{1, 2}, Dims{0, 2}}) {
    expect_as_on_the_cpu("sum.axes", {from_cpu(whole), axes, false});
  }
  expect_as_on_the_cpu("sum", {from_cpu(random.elements({1 << 21}, DType::f32))});
  expect_as_on_the_cpu("sum", {from_cpu(random.elements({20000}, DType::f16))});
  expect_as_on_the_cpu("sum", {from_cpu(random.elements({20000}, DType::complex64))});
  for (const DType dtype : {DType::boolean, DType::u8, DType::i64, DType::f16, DType::f32,
                            DType::f64, DType::complex64}) {
    expect_as_on_the_cpu("matmul", {from_cpu(random.elements({2, 1, 33, 41}, dtype)),
                                    from_cpu(random.elements({3, 41, 19}, dtype))});
  }
}

TEST(VulkanOperators, move_large_tensors_of_many_dimensions) {
  byre::test::RandomCalls random(byre::test::seed());
  for (const DType dtype : {DType::u8, DType::f16, DType::f32, DType::complex64}) {
    const Argument all = random.tensor({3, 5, 7, 2, 6, 11}, dtype);
    expect_as_on_the_cpu("permute_copy", {all, {5, 2, 0, 4, 1, 3}});
    expect_as_on_the_cpu("flip", {all, {0, 2, 3, 5}});
    expect_as_on_the_cpu("expand_copy",
                         {random.tensor({3, 1, 7, 1, 6, 1}, dtype), {3, 5, 7, 2, 6, 11}});
    expect_as_on_the_cpu("slice_copy", {random.tensor({300, 1100}, dtype), 1, 3, 900, 2});
    expect_as_on_the_cpu(
        "add", {random.tensor({3, 1, 7, 1, 6, 1}, dtype), random.tensor({5, 1, 2, 1, 11}, dtype)});
    expect_as_on_the_cpu("slice_scatter", {random.tensor({300, 1100}, dtype),
                                           random.tensor({300, 449}, dtype), 1, 3, 900, 2});
  }
}

TEST(VulkanTensors, are_byres_tensors_of_the_device) {
  const byre::Device device = Gpu::get().device();
  for (const Tensor& host : {Tensor::of<float>({2, 2}, {1, 2, 3, 4}),
                             Tensor::empty({0, 3}, DType::f16), Tensor::empty({}, DType::u8)}) {
    const AnyTensor there = to_vulkan(host);
    const Tensor seen = there.as<VulkanTensor>()->tensor();
    EXPECT_EQ(seen.device(), device);
    EXPECT_EQ(seen.sizes(), host.sizes());
    EXPECT_EQ(seen.dtype(), host.dtype());
    EXPECT_TRUE(are_same(seen.to(byre::Device::cpu()), from_vulkan(there)));
  }
}

TEST(VulkanTensors, have_no_storage_without_elements) {
  const byre::Device device = Gpu::get().device();
  for (const Tensor& none :
       {Tensor::empty({0, 3}, DType::f32), Tensor::empty({0, 3}, DType::f32, device),
        Tensor::empty({0, 3}, DType::f32).to(device),
        Tensor::over(byre::Storage::allocate(0, Gpu::get().memory()), {0, 3}, DType::f32)}) {
    const AnyTensor there = to_vulkan(none);
    EXPECT_FALSE(there.as<VulkanTensor>()->storage());
    EXPECT_EQ(text_of(call_for_one("sum", {there})), "0.");
  }
}

TEST(VulkanTensors, are_read_back_alone) {
  EXPECT_THROW(from_vulkan(AnyTensor()), byre::DeviceError);
  EXPECT_THROW(from_vulkan(from_cpu(Tensor::zeros({2}, DType::f32))), byre::DeviceError);
}

TEST(VulkanTensors, become_others_which_stay_what_they_are) {
  const Tensor host = Tensor::of<std::int64_t>({2, 2}, {1, 2, 3, 4});
  for (const AnyTensor& other : {to_vulkan(host), from_cpu(host)}) {
    const AnyTensor x = to_vulkan(Tensor::zeros({3}, DType::f32));
    const AnyTensor prepared = x.impl().to_rebind(other);
    x.impl().rebind(prepared.impl());
    EXPECT_TRUE(are_same(from_vulkan(x), host));
    EXPECT_TRUE(other.as<VulkanTensor>() == nullptr || are_same(from_vulkan(other), host));
  }
}

TEST(VulkanTensors, share_what_byres_tensors_have_on_the_device_if_that_is_all_and_in_order) {
  const Tensor host = Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  const Tensor all = host.to(Gpu::get().device());
  const auto address = [](const AnyTensor& tensor) {
    return tensor.as<VulkanTensor>()->storage().data();
  };
  const Counted queue;
  EXPECT_EQ(address(to_vulkan(all)), all.storage().data());
  EXPECT_EQ(queue.host_copies(), 0U);
  EXPECT_TRUE(are_same(from_vulkan(to_vulkan(all)), host));
  for (const auto& [of_device, of_host] : {std::pair(all.slice(0, 1), host.slice(0, 1)),
                                           std::pair(all.slice(0, 0, 2), host.slice(0, 0, 2)),
                                           std::pair(all.permute({1, 0}), host.permute({1, 0})),
                                           std::pair(all.slice(0, 0, 0), host.slice(0, 0, 0))}) {
    const AnyTensor there = to_vulkan(of_device);
    EXPECT_NE(address(there), all.storage().data());
    EXPECT_TRUE(are_same(from_vulkan(there), of_host.contiguous()));
    EXPECT_TRUE(are_same(from_vulkan(to_vulkan(of_host)), of_host.contiguous()));
  }
}

TEST(VulkanOperators, upload_what_is_on_the_cpu) {
  const AnyTensor x = to_vulkan(Tensor::of<float>({3}, {0, 1, 2}));
  const AnyTensor on_cpu = from_cpu(Tensor::of<float>({3}, {10, 20, 30}));
  EXPECT_EQ(text_of(call_for_one("add", {x, on_cpu})), "[10. 21. 32.]");
  EXPECT_EQ(text_of(call_for_one("cat", {Tensors{on_cpu, x}})), "[10. 20. 30.  0.  1.  2.]");
  EXPECT_EQ(byre::to_string(to_cpu(on_cpu)), "[10. 20. 30.]");
}

void expect_refused(const std::string& name, Arguments arguments, const char* reason,
                    const char* advice) {
  const Counted queue;
  try {
    call(name, std::move(arguments));
    ADD_FAILURE() << name << " was computed";
  } catch (const DispatchError& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.rfind(name, 0), 0U) << text;
    EXPECT_NE(text.find(reason), std::string::npos) << text;
    EXPECT_NE(text.find(advice), std::string::npos) << text;
  }
  EXPECT_EQ(queue.now().dispatches + queue.host_copies(), 0U);
}

TEST(VulkanOperators, that_view_or_write_are_refused_by_name) {
  const AnyTensor x = to_vulkan(Tensor::zeros({3}, DType::f32));
  expect_refused("select", {x, 0, 1}, "makes a view", "functionalize");
  expect_refused("unbind", {x}, "makes a view", "functionalize");
  expect_refused("add_", {x, x}, "writes to what it is given", "functionalize");
  expect_refused("transpose_", {x, 0, 0}, "writes to what it is given", "functionalize");
  expect_refused("resize_", {x, {2}}, "writes to what it is given", "functionalize");
  expect_refused("add.out", {x, x, x}, "writes to what it is given", "functionalize");
  expect_refused("copy_", {from_cpu(Tensor::zeros({3}, DType::f32)), x},
                 "writes to what it is given", "functionalize");
}

TEST(VulkanOperators, of_users_are_refused_until_they_have_a_kernel) {
  define("test_vulkan_twice(Tensor a) -> Tensor").cpu([](const Tensor& a) { return add(a, a); });
  const AnyTensor x = to_vulkan(Tensor::of<float>({2}, {1, 2}));
  expect_refused("test_vulkan_twice", {x}, "has no kernel for vulkan",
                 "extend(\"test_vulkan_twice\").kernel");
  extend("test_vulkan_twice").kernel(vulkan_backend(), [](const Call& call) {
    const AnyTensor a = call.arguments[0].tensor();
    return Tensors{call_for_one("add", {a, a})};
  });
  EXPECT_EQ(text_of(call_for_one("test_vulkan_twice", {x})), "[2. 4.]");
}

TEST(VulkanOperators, refuse_what_the_cpu_refuses) {
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

TEST(VulkanOperators, exponentiate_infinite_complex_numbers) {
  using Complex = std::complex<float>;
  constexpr float infinite = std::numeric_limits<float>::infinity();
  constexpr float none = std::numeric_limits<float>::quiet_NaN();
  std::vector<Complex> numbers;
  for (const float real : {infinite, -infinite, none, 0.0F}) {
    for (const float imaginary : {infinite, -infinite, none, 1.0F, -2.0F, 0.0F, -0.0F}) {
      numbers.emplace_back(real, imaginary);
    }
  }
  Tensor x = Tensor::empty({std::ssize(numbers)}, DType::complex64);
  std::copy(numbers.begin(), numbers.end(), x.mutable_data<Complex>());
  expect_as_on_the_cpu("exp", {from_cpu(x)});
}

}  // namespace
}  // namespace examples::vulkan::test
