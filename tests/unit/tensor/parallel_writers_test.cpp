// SPDX-License-Identifier: BSL-1.0
// Parallel loops over tensors, whose threads ask for write access in the body.
#include <byre/tensor/tensor.hpp>

#include <gtest/gtest.h>
#include <boost/thread/thread.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/at_once.hpp"
#include "support/complaint.hpp"
#include "support/failing_allocator.hpp"

namespace byre::test {
namespace {

constexpr std::size_t thread_count = 4;
constexpr std::int64_t row_count = 16;
constexpr std::int64_t column_count = 5;

/// Calls `body(row)` for every row, on several threads.
void parallel_for_rows(FunctionRef<void(std::int64_t)> body) {
  at_once(thread_count, [&](std::size_t thread) {
    for (auto row = static_cast<std::int64_t>(thread); row < row_count;
         row += std::int64_t{thread_count}) {
      body(row);
    }
  });
}

/// Two tensors of ones that share their data, and how often it was copied.
class LoopOverTensor : public testing::Test {
 protected:
  LoopOverTensor() {
    std::fill_n(x_.mutable_data<float>(), row_count * column_count, 1.0F);
    clone_ = x_.lazy_clone();
  }

  void expect_rows_written() const {
    EXPECT_EQ(allocator_.copies(), 1);
    for (std::int64_t at = 0; at < row_count * column_count; ++at) {
      ASSERT_EQ(x_.data<float>()[at], static_cast<float>(at / column_count));
      ASSERT_EQ(clone_.data<float>()[at], 1.0F);
    }
  }

  FailingAllocator allocator_;
  Tensor x_ = Tensor::empty({row_count, column_count}, DType::f32, allocator_);
  Tensor clone_;
};

TEST_F(LoopOverTensor, asks_the_tensor_for_each_row) {
  parallel_for_rows([&](std::int64_t row) {
    float* const first = x_.mutable_data_in_parallel<float>() + row * column_count;
    std::fill_n(first, column_count, static_cast<float>(row));
  });
  expect_rows_written();
}

TEST_F(LoopOverTensor, asks_views_that_its_threads_make_meanwhile) {
  parallel_for_rows([&](std::int64_t row) {
    Tensor written = row % 2 == 0 ? x_.select(0, row) : x_.narrow(0, row, 1).view({column_count});
    EXPECT_EQ(written.sizes(), Dims({column_count}));
    std::fill_n(written.mutable_data_in_parallel<float>(), column_count, static_cast<float>(row));
    EXPECT_EQ(written.data<float>()[0], static_cast<float>(row));
  });
  expect_rows_written();
}

TEST_F(LoopOverTensor, asks_views_of_before_the_loop) {
  std::vector<Tensor> parts = x_.split(1);
  parallel_for_rows([&](std::int64_t row) {
    Tensor& part = parts[static_cast<std::size_t>(row)];
    std::fill_n(part.mutable_data_in_parallel<float>(), column_count, static_cast<float>(row));
  });
  expect_rows_written();
}

TEST(ParallelWritersOfTensors, that_have_no_memory_or_another_dtype_are_refused_and_unchanged) {
  Tensor x(Device::cpu());
  const auto ask = [&] { x.mutable_data_in_parallel<float>(); };
  x.resize({3});
  EXPECT_TRUE(
      says(complaint_of<StateError>(ask), "mutable_data_in_parallel", "dtype-uninitialized"));
  x.realize(DType::f32).free_memory();
  EXPECT_TRUE(says(complaint_of<StateError>(ask), "mutable_data_in_parallel: the tensor [3] of f32",
                   "Call realize(dtype) before the loop"));
  EXPECT_FALSE(x.is_storage_initialized());
  x.realize(DType::i32);
  const Tensor clone = x.lazy_clone();
  EXPECT_TRUE(says(complaint_of<DTypeError>(ask), "mutable_data_in_parallel", "i32"));
  EXPECT_TRUE(x.storage().shares_data_with(clone.storage()));
}

TEST(ParallelWritersOfTensors, without_elements_write_none) {
  Tensor none = Tensor::empty({0, 3}, DType::f32);
  none.mutable_data_in_parallel<float>();
  Tensor without_storage(Device::cpu());
  without_storage.realize(DType::f32).free_memory();
  EXPECT_EQ(without_storage.mutable_data_in_parallel<float>(), nullptr);
}

TEST(ParallelWritersOfTensors, that_may_not_wait_copy) {
  FailingAllocator allocator;
  Tensor x = Tensor::empty({4}, DType::f32, allocator);
  Tensor clone = x.lazy_clone();
  Halt copy;
  allocator.halt_copy(copy);
  boost::thread copier([&] { clone.mutable_data<float>(); });
  copy.await_entry();
  x.mutable_data_in_parallel<float>(Wait::never)[0] = 1;
  EXPECT_EQ(allocator.copies(), 2);
  copy.let_go();
  copier.join();
}

}  // namespace
}  // namespace byre::test
