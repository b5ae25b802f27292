// SPDX-License-Identifier: BSL-1.0
// The memory of tensors: growth, shrinking, foreign memory and failures; and counts of handles.
#include <byre/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "support/at_once.hpp"
#include "support/complaint.hpp"
#include "support/failing_allocator.hpp"

namespace byre::test {
namespace {

std::vector<float> copied_floats_of(const Tensor& tensor) {
  const Tensor dense = tensor.contiguous();
  const float* const first = dense.data<float>();
  return {first, first + dense.numel()};
}

TEST(TensorMemory, growing_a_view_past_the_end_of_its_storage_is_rejected) {
  const Tensor x = Tensor::of<float>({6}, {1, 2, 3, 4, 5, 6});
  Tensor tail = x.slice(0, 2, 4);
  tail.resize({2, 2});
  EXPECT_TRUE(
      says(complaint_of<StateError>([&] { tail.resize({5}); }), "1 other tensors or handles"));
  EXPECT_THROW(tail.resize({-1}), ShapeError);
  EXPECT_THROW(tail.resize({std::int64_t{1} << 61, 2}), ShapeError);
  EXPECT_THROW(tail.resize({std::int64_t{1} << 61}), ShapeError);
  EXPECT_EQ(tail.sizes(), (Dims{2, 2}));
  EXPECT_EQ(copied_floats_of(tail), (std::vector<float>{3, 4, 5, 6}));
}

TEST(TensorMemory, growth_within_reserved_memory_does_not_move_elements) {
  Tensor x = Tensor::of<float>({2}, {1, 2});
  x.reserve({100});
  const float* const place = x.data<float>();
  EXPECT_EQ(copied_floats_of(x), (std::vector<float>{1, 2}));
  x.extend(50);
  EXPECT_EQ(x.data<float>(), place);
  EXPECT_EQ(x.size(0), 52);
  x.reserve({10});
  EXPECT_EQ(x.data<float>(), place) << "a smaller reserve() moved the data";
  x.free_memory().reserve({10});
  EXPECT_EQ(x.storage().nbytes(), 52 * sizeof(float))
      << "must have memory for all elements, although fewer were reserved";
  EXPECT_THROW(x.reserve({-1}), ShapeError);
  EXPECT_THROW(x.reserve({std::int64_t{1} << 61}), ShapeError);
}

TEST(TensorMemory, extend_moves_elements_only_if_reserved_memory_is_used_up) {
  Tensor x = Tensor::of<float>({1, 2}, {0, 0});
  int moves = 0;
  const float* place = x.data<float>();
  for (std::int64_t row = 1; row < 1000; ++row) {
    x.extend(1);
    moves += x.data<float>() == place ? 0 : 1;
    place = x.data<float>();
  }
  EXPECT_LT(moves, 40);
  Tensor exact = Tensor::of<float>({2}, {1, 2});
  exact.extend(3, 0);
  EXPECT_EQ(exact.storage().nbytes(), 5 * sizeof(float));
  exact.extend(5);
  EXPECT_EQ(exact.storage().nbytes(), 14 * sizeof(float))
      << "must reserve 40 percent more elements";
}

TEST(TensorMemory, extend_rejects_noncontiguous_tensors_and_overflow) {
  Tensor x = Tensor::of<float>({2, 2}, {1, 2, 3, 4});
  EXPECT_THROW(x.extend(-1), ShapeError);
  EXPECT_TRUE(says(complaint_of<ShapeError>([&] { x.extend(INT64_MAX); }), "overflows 64 bits"));
  EXPECT_THROW(x.extend(std::int64_t{1} << 61), ShapeError);
  EXPECT_THROW(Tensor::of<float>({}, {1}).extend(1), ShapeError);
  EXPECT_THROW((void)Tensor::of<float>({}, {1}).size(0), ShapeError);
  EXPECT_EQ(copied_floats_of(x), (std::vector<float>{1, 2, 3, 4}));
}

TEST(TensorMemory, a_failed_allocation_or_copy_changes_nothing) {
  FailingAllocator allocator;
  Tensor original = Tensor::empty({2, 2}, DType::f32, allocator);
  const std::vector<float> before{1, 2, 3, 4};
  std::ranges::copy(before, original.mutable_data<float>());
  static const Dims more{50, 2};
  using Step = void (*)(const Tensor&, Tensor&);
  const std::vector<Step> steps{
      [](const Tensor&, Tensor& x) { x.reserve(more); },
      [](const Tensor&, Tensor& x) { x.extend(9, 0); },
      [](const Tensor&, Tensor& x) { x.realize<double>(); },
      [](const Tensor&, Tensor& x) { (void)x.mutable_data<double>(); },
      [](const Tensor&, Tensor& x) { (void)x.clone(); },
      [](const Tensor&, Tensor& x) { (void)x.t().reshape({4}); },
      [](const Tensor&, Tensor& x) { (void)x.t().contiguous(); },
      [](const Tensor& shared, Tensor&) { (void)shared.lazy_clone().mutable_data<float>(); },
      [](const Tensor& shared, Tensor&) { shared.lazy_clone().reserve(more); },
  };
  for (const Step step : steps) {
    Tensor x = original.clone();
    allocator.fail_allocation(0);
    EXPECT_THROW(step(original, x), OutOfMemory);
    allocator.fail_allocation(FailingAllocator::never);
    EXPECT_EQ(copied_floats_of(x), before);
    EXPECT_EQ(x.dtype(), DType::f32);
    EXPECT_EQ(copied_floats_of(original), before);
    EXPECT_TRUE(original.storage().is_unique());
  }
  Tensor clone = original.lazy_clone();
  allocator.fail_copy(0);
  EXPECT_THROW(clone.mutable_data<float>(), FailingAllocator::CopyFailed);
  allocator.fail_copy(FailingAllocator::never);
  EXPECT_EQ(copied_floats_of(clone), before);
  Tensor freed = original.clone().free_memory();
  allocator.fail_allocation(0);
  EXPECT_THROW(freed.realize<float>(), OutOfMemory);
  EXPECT_THROW(Tensor(Device::cpu()).resize({4}).reserve({9}), StateError);
  EXPECT_FALSE(freed.is_storage_initialized());
  allocator.fail_allocation(FailingAllocator::never);
  EXPECT_NE(freed.mutable_data<float>(), nullptr);
}

TEST(TensorMemory, share_data_rejects_a_different_number_of_elements) {
  const Tensor source = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor target = Tensor(Device::cpu()).resize({5});
  EXPECT_TRUE(says(complaint_of<ShapeError>([&] { target.share_data(source); }),
                   "share_data: sizes [5] do not match the 6 elements"));
  EXPECT_THROW(target.resize({6}).share_data(source.t()), ShapeError);
  target.resize({3, 2}).share_data(source);
  target.share_data(target);
  EXPECT_EQ(target.at<float>({1, 1}), 4);
}

TEST(TensorMemory, foreign_memory_is_deleted_exactly_once) {
  int deletions = 0;
  float foreign[4] = {1, 2, 3, 4};
  const auto count = [&deletions](void*) { ++deletions; };
  {
    Tensor x = Tensor(Device::cpu()).resize({4});
    x.share_external(foreign, DType::f32, count);
    const Tensor clone = x.lazy_clone();
    EXPECT_EQ(x.data<float>(), foreign);
    x.free_memory();
    EXPECT_EQ(deletions, 0) << "deleted although a lazy clone retains the memory";
    EXPECT_EQ(clone.at<float>({3}), 4);
  }
  EXPECT_EQ(deletions, 1);
  Tensor x = Tensor(Device::cpu()).resize({4});
  EXPECT_THROW(x.share_external(foreign, DType::uninitialized, count), DTypeError);
  EXPECT_EQ(deletions, 2);
  EXPECT_THROW(x.share_external(nullptr, DType::f32, count), InvalidArgument);
  EXPECT_EQ(deletions, 3);
  x.resize({static_cast<std::int64_t>(byre::max_nbytes)});
  EXPECT_THROW(x.share_external(foreign, DType::f32, count), ShapeError);
  EXPECT_EQ(deletions, 4);
  void (*no_deleter)(void*) = nullptr;
  EXPECT_THROW(x.share_external(foreign, DType::f32, no_deleter), InvalidArgument);
  EXPECT_FALSE(x.is_dtype_initialized());
}

TEST(TensorHandles, handles_share_a_tensor_and_release_preserves_handle_count) {
  Tensor x = Tensor::of<float>({4}, {1, 2, 3, 4});
  const Tensor same = x;
  x.resize({2});
  EXPECT_EQ(to_string(same.sizes()), "[2]");
  x.realize<double>();
  EXPECT_EQ(same.dtype(), DType::f64);
  Tensor moved = std::move(x);
  TensorBase* const raw = moved.release();
  EXPECT_FALSE(moved);
  EXPECT_EQ(same.handle_count(), 2U);
  EXPECT_EQ(Tensor::reclaim(raw).dtype(), DType::f64);
  EXPECT_EQ(same.handle_count(), 1U);
  EXPECT_EQ(Tensor().release(), nullptr);
  EXPECT_FALSE(Tensor::reclaim(nullptr));
}

TEST(TensorHandles, threads_that_copy_view_clone_and_write_do_not_interfere) {
  FailingAllocator allocator;
  {
    const Tensor x = Tensor::empty({8, 8}, DType::i32, allocator);
    Tensor(x).mutable_data<std::int32_t>()[9] = 7;
    at_once(4, [&](std::size_t) {
      for (int round = 0; round < 2000; ++round) {
        const Tensor handle = x;
        const Tensor row = handle.select(0, 1);
        const Tensor clone = round % 3 == 0 ? row.lazy_clone() : handle.lazy_clone().select(0, 1);
        const Tensor clone_of_clone = clone.lazy_clone();
        Tensor written = clone.slice(0, 1, 3);
        ASSERT_EQ(row.at<std::int32_t>({1}), 7);
        written.set_at<std::int32_t>({0}, round);
        ASSERT_EQ(clone.at<std::int32_t>({1}), round);
        ASSERT_EQ(clone_of_clone.at<std::int32_t>({1}), 7);
      }
    });
    EXPECT_EQ(x.handle_count(), 1U);
    EXPECT_EQ(x.storage().handle_count(), 1U);
    EXPECT_TRUE(x.storage().is_unique());
    EXPECT_EQ(x.at<std::int32_t>({1, 1}), 7);
  }
  EXPECT_EQ(allocator.blocks_out(), 0U);
  EXPECT_EQ(allocator.wrong_releases(), 0);
}

}  // namespace
}  // namespace byre::test
