// SPDX-License-Identifier: BSL-1.0
/// Tensors and programs on the device, and which operands operators share lazily, write in place,
/// or copy.
#include <gtest/gtest.h>

#include <byre/functional/functionalize/capture.hpp>

#include "device.hpp"
#include "support/at_once.hpp"
#include "tensor_programs/random_calls.hpp"
#include "vulkan/backend/kernels.hpp"

namespace examples::vulkan::test {
namespace {

using namespace byre::functional;
using namespace byre;
using byre::functional::call;
using byre::functional::call_for_one;
using byre::test::are_same;

Tensor counted(const Dims& sizes, int first = 0) {
  Tensor made = Tensor::empty(sizes, DType::f32);
  for (std::int64_t index = 0; index < made.numel(); ++index) {
    made.mutable_data<float>()[index] = static_cast<float>((first + index * 37) % 101 - 50) / 4;
  }
  return made;
}

const Storage& storage_of(const AnyTensor& tensor) {
  return tensor.as<VulkanTensor>()->storage();
}

bool share(const AnyTensor& a, const AnyTensor& b) {
  return storage_of(a).data() == storage_of(b).data();
}

/// A program that halves the inner rows of a grid and adds their neighbors, in place.
Tensors spread(const Tensors& in) {
  const AnyTensor inside = call_for_one("slice", {in[0], 0, 1, -1});
  const AnyTensor around = call_for_one(
      "add", {call_for_one("slice", {in[0], 0, 0, -2}), call_for_one("slice", {in[0], 0, 2})});
  call("mul_.scalar", {inside, 0.5});
  call("add_", {inside, around});
  return {call_for_one("matmul", {inside, from_cpu(counted({17, 3}))})};
}

/// The first use of a shader creates its pipeline, so several threads may create it at once.
TEST(VulkanPrograms, run_on_several_threads_at_once) {
  const Graph graph = capture(spread, {from_cpu(counted({33, 17}))}).graph;
  byre::test::at_once(4, [&](std::size_t thread) {
    for (int round = 0; round < 12; ++round) {
      const Tensor own = counted({33, 17}, static_cast<int>(1000 * thread) + round);
      const Tensors expected = execute(graph, {from_cpu(own)});
      const Tensors computed = execute(graph, {to_vulkan(own)});
      EXPECT_TRUE(are_same(from_vulkan(computed[0]), to_cpu(expected[0])));
      EXPECT_TRUE(are_same(from_vulkan(computed[1]), to_cpu(expected[1])))
          << "expected equal results, because all sums are exact";
    }
  });
}

TEST(VulkanSharing, operators_whose_result_equals_an_operand_share_its_data) {
  const AnyTensor x = to_vulkan(counted({6, 4}));
  const AnyTensor other = to_vulkan(counted({6, 4}));
  const AnyTensor nothing = to_vulkan(counted({0, 4}));
  const Counted queue;
  EXPECT_TRUE(share(call_for_one("to", {x, DType::f32}), x));
  EXPECT_TRUE(share(call_for_one("slice_copy", {x, 0, 0, 6, 1}), x));
  EXPECT_TRUE(share(call_for_one("slice_scatter", {x, other, 0, 0, 6, 1}), other));
  EXPECT_TRUE(share(call_for_one("slice_scatter", {x, nothing, 0, 2, 2, 1}), x));
  EXPECT_EQ(queue.dispatches(), 0U);
  EXPECT_EQ(queue.copies(), 0U);
}

TEST(VulkanSharing, a_scatter_copies_its_base_only_if_the_base_is_shared) {
  for (const bool has_handle : {false, true}) {
    for (const bool has_clone : {false, true}) {
      const Tensor host = counted({600, 4});
      Arguments arguments{to_vulkan(host), to_vulkan(counted({2, 4})), 0, 1, 3, 1};
      const AnyTensor handle = has_handle ? arguments[0].tensor() : AnyTensor();
      const auto& base = *arguments[0].tensor().as<VulkanTensor>();
      const AnyTensor clone = has_clone ? AnyTensor(lazy_clone(base)) : AnyTensor();
      const void* const data = base.storage().data();
      const Counted queue;
      const AnyTensor result = call_for_one("slice_scatter", std::move(arguments));
      EXPECT_EQ(queue.dispatches(), 1U);
      EXPECT_EQ(queue.copies(), has_handle || has_clone ? 1U : 0U);
      EXPECT_EQ(storage_of(result).data() == data, !has_handle && !has_clone);
      for (const AnyTensor& kept : {handle, clone}) {
        EXPECT_TRUE(!kept || are_same(from_vulkan(kept), host));
      }
    }
  }
}

TEST(VulkanTensors, share_the_storage_of_contiguous_whole_device_tensors) {
  const byre::Device device = Gpu::get().device();
  const Tensor host = Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  const Tensor all = host.to(device);
  struct Case {
    Tensor of_device;
    Tensor of_host;
    bool shares;
  };
  for (const auto& [of_device, of_host, shares] :
       {Case{all, host, true},
        {host, host, false},
        {all.slice(0, 1), host.slice(0, 1), false},
        {all.slice(0, 0, 2), host.slice(0, 0, 2), false},
        {all.permute({1, 0}), host.permute({1, 0}), false},
        {all.slice(0, 0, 0), host.slice(0, 0, 0), false},
        {Tensor::empty({0, 3}, DType::f16, device), Tensor::empty({0, 3}, DType::f16), false},
        {Tensor::over(byre::Storage::allocate(0, Gpu::get().memory()), {0, 3}, DType::f32),
         Tensor::empty({0, 3}, DType::f32), false},
        {Tensor::empty({}, DType::u8), Tensor::zeros({}, DType::u8), false}}) {
    const Counted queue;
    const AnyTensor there = to_vulkan(of_device);
    const auto& tensor = *there.as<VulkanTensor>();
    EXPECT_EQ(static_cast<bool>(tensor.storage()), of_host.nbytes() != 0);
    EXPECT_TRUE(!shares || queue.host_copies() == 0);
    EXPECT_EQ(tensor.storage() && tensor.storage().data() == all.storage().data(), shares);
    const Tensor seen = tensor.tensor();
    EXPECT_EQ(seen.device(), device);
    EXPECT_EQ(seen.sizes(), of_host.sizes());
    EXPECT_TRUE(of_host.dtype() == DType::u8 || are_same(from_vulkan(there), of_host));
    EXPECT_TRUE(are_same(seen.to(byre::Device::cpu()), from_vulkan(there)));
  }
}

TEST(VulkanTensors, rebind_to_any_tensor_and_from_vulkan_rejects_other_tensors) {
  const Tensor host = Tensor::of<std::int64_t>({2, 2}, {1, 2, 3, 4});
  for (const AnyTensor& other : {to_vulkan(host), from_cpu(host)}) {
    const AnyTensor x = to_vulkan(Tensor::zeros({3}, DType::f32));
    const AnyTensor prepared = x.impl().to_rebind(other);
    x.impl().rebind(prepared.impl());
    EXPECT_TRUE(are_same(from_vulkan(x), host));
    EXPECT_TRUE(other.as<VulkanTensor>() == nullptr || are_same(from_vulkan(other), host));
  }
  EXPECT_THROW(from_vulkan(AnyTensor()), byre::DeviceError);
  EXPECT_THROW(from_vulkan(from_cpu(host)), byre::DeviceError);
}

}  // namespace
}  // namespace examples::vulkan::test
