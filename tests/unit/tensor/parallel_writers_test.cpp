// SPDX-License-Identifier: BSL-1.0
// Parallel loops whose threads call mutable_data_in_parallel() in the loop body.
#include <byre/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "support/at_once.hpp"
#include "support/complaint.hpp"
#include "support/failing_allocator.hpp"

namespace byre::test {
namespace {

TEST(ParallelWritersOfTensors, may_use_the_tensor_or_views_made_before_or_during_the_loop) {
  constexpr std::int64_t rows = 16;
  constexpr std::int64_t columns = 5;
  FailingAllocator allocator;
  Tensor x = Tensor::empty({rows, columns}, DType::f32, allocator);
  std::fill_n(x.mutable_data<float>(), rows * columns, 1.0F);
  const Tensor clone = x.lazy_clone();
  std::vector<Tensor> parts = x.split(1);
  at_once(4, [&](std::size_t thread) {
    for (auto row = static_cast<std::int64_t>(thread); row < rows; row += 4) {
      Tensor view = row % 2 == 0 ? x.select(0, row) : x.narrow(0, row, 1).view({columns});
      EXPECT_EQ(view.sizes(), Dims({columns}));
      Tensor& part = parts[static_cast<std::size_t>(row)];
      float* const first = row % 3 == 0   ? x.mutable_data_in_parallel<float>() + row * columns
                           : row % 3 == 1 ? view.mutable_data_in_parallel<float>()
                                          : part.mutable_data_in_parallel<float>();
      std::fill_n(first, columns, static_cast<float>(row));
      EXPECT_EQ(view.data<float>()[0], static_cast<float>(row));
    }
  });
  EXPECT_EQ(allocator.copies(), 1);
  for (std::int64_t at = 0; at < rows * columns; ++at) {
    ASSERT_EQ(x.data<float>()[at], static_cast<float>(at / columns));
    ASSERT_EQ(clone.data<float>()[at], 1.0F);
  }
}

TEST(ParallelWritersOfTensors, a_tensor_without_memory_or_of_another_dtype_is_rejected) {
  Tensor x(Device::cpu());
  const auto request = [&] { x.mutable_data_in_parallel<float>(); };
  x.resize({3});
  EXPECT_TRUE(
      says(complaint_of<StateError>(request), "mutable_data_in_parallel", "dtype-uninitialized"));
  x.realize(DType::f32).free_memory();
  EXPECT_TRUE(says(complaint_of<StateError>(request),
                   "mutable_data_in_parallel: the tensor [3] of f32",
                   "Call realize(dtype) before the loop"));
  EXPECT_FALSE(x.is_storage_initialized());
  x.realize(DType::i32);
  const Tensor clone = x.lazy_clone();
  EXPECT_TRUE(says(complaint_of<DTypeError>(request), "mutable_data_in_parallel", "i32"));
  EXPECT_TRUE(x.storage().shares_data_with(clone.storage()));
}

TEST(ParallelWritersOfTensors, a_tensor_without_elements_may_return_a_null_pointer) {
  Tensor none = Tensor::empty({0, 3}, DType::f32);
  none.mutable_data_in_parallel<float>();
  Tensor without_storage(Device::cpu());
  without_storage.realize(DType::f32).free_memory();
  EXPECT_EQ(without_storage.mutable_data_in_parallel<float>(), nullptr);
}

TEST(ParallelWritersOfTensors, a_writer_that_may_not_wait_for_a_copier_makes_a_copy) {
  FailingAllocator allocator;
  Tensor x = Tensor::empty({4}, DType::f32, allocator);
  Tensor clone = x.lazy_clone();
  Halt copy;
  allocator.halt_copy(copy);
  std::thread copier([&] { clone.mutable_data<float>(); });
  copy.await_entry();
  x.mutable_data_in_parallel<float>(Wait::never)[0] = 1;
  EXPECT_EQ(allocator.copies(), 2);
  copy.let_go();
  copier.join();
}

}  // namespace
}  // namespace byre::test
