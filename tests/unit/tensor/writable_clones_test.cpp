// SPDX-License-Identifier: BSL-1.0
/// Writable clones of storages and tensors: what they keep, copy and leave alone.
#include <byre/memory/host_allocators.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/tensor/elements.hpp>
#include <byre/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "support/counted.hpp"
#include "support/tensor/fake_device.hpp"

namespace byre::test {
namespace {

constexpr std::int64_t side = 512;  // of i32: 1 MiB

/// Zeros in pages.
Tensor in_pages() {
  Tensor x = Tensor::empty({side, side}, DType::i32, paged_allocator());
  zero_(x);
  return x;
}

class WritableTensors : public WithStats {};

TEST_F(WritableTensors, keep_layout_and_address_and_copy_nothing) {
  Tensor x = in_pages();
  std::int32_t* const pointer = x.mutable_data<std::int32_t>();
  for (Tensor source : {x, x.t(), x.slice(0, 100), x.slice(1, 0, side, 2)}) {
    const Counted counted;
    Tensor clone = source.writable_clone();
    EXPECT_EQ(counted.since().bytes_copied, 0);
    EXPECT_EQ(clone.sizes(), source.sizes());
    EXPECT_EQ(clone.strides(), source.strides());
    EXPECT_EQ(clone.storage_offset(), source.storage_offset());
    EXPECT_EQ(clone.dtype(), DType::i32);
    EXPECT_EQ(std::as_const(x).data<std::int32_t>(), pointer);
    EXPECT_FALSE(clone.aliases(x));
  }
}

TEST_F(WritableTensors, and_all_views_of_their_source_are_written_by_pointers_apart) {
  Tensor x = in_pages();
  const Tensor row = x.select(0, 3);
  std::int32_t* const pointer = x.mutable_data<std::int32_t>();
  Tensor clone = x.writable_clone();
  std::int32_t* const other = clone.mutable_data<std::int32_t>();
  pointer[3 * side] = 1;
  other[3 * side + 1] = 2;
  EXPECT_EQ(row.at<std::int32_t>({0}), 1);
  EXPECT_EQ(row.at<std::int32_t>({1}), 0);
  EXPECT_EQ(clone.at<std::int32_t>({3, 0}), 0);
  EXPECT_EQ(clone.at<std::int32_t>({3, 1}), 2);
}

TEST_F(WritableTensors, of_a_small_part_are_copied_now_and_keep_no_pages) {
  const Tensor x = in_pages();
  Tensor column = x.select(1, 5).slice(0, 0, side, 2);
  const Counted counted;
  Tensor clone = column.writable_clone();
  EXPECT_EQ(clone.storage().nbytes(), clone.nbytes());
  EXPECT_EQ(clone.sizes(), column.sizes());
  EXPECT_EQ(x.storage().origin(), Origin::paged) << "the storage is not cloned";
  EXPECT_EQ(counted.since().overlays, 0);
  clone.set_at<std::int32_t>({0}, 7);
  EXPECT_EQ(column.at<std::int32_t>({0}), 0);
}

TEST_F(WritableTensors, of_a_lazily_cloned_tensor_leave_the_lazy_clone_alone) {
  Tensor x = in_pages();
  const Tensor lazy = x.lazy_clone();
  Tensor clone = x.writable_clone();
  fill_(x, 1);
  fill_(clone, 2);
  EXPECT_EQ(sum(lazy).at<std::int64_t>({}), 0);
  EXPECT_EQ(sum(x).at<std::int64_t>({}), side * side);
  EXPECT_EQ(sum(clone).at<std::int64_t>({}), 2 * side * side);
}

TEST_F(WritableTensors, on_a_device_are_copies) {
  Tensor there = Tensor::zeros({2, 3}, DType::f32, FakeDevice::first().device());
  const Counted counted;
  Tensor clone = there.writable_clone();
  EXPECT_EQ(counted.since().copies, 1);
  fill_(clone, 2);
  EXPECT_EQ(there.to(Device::cpu()).at<float>({1, 2}), 0);
  EXPECT_EQ(clone.to(Device::cpu()).at<float>({1, 2}), 2);
}

TEST(WritableStorages, of_memory_that_others_write_stay_where_it_is) {
  std::array<std::byte, 100> lent{};
  Storage storage = Storage(Buffer::borrow(lent.data(), lent.size()));
  Storage clone = storage.writable_clone();
  EXPECT_EQ(std::as_const(storage).data(), lent.data());
  lent[0] = std::byte{1};
  EXPECT_EQ(std::as_const(storage).data()[0], std::byte{1});
  EXPECT_EQ(std::as_const(clone).data()[0], std::byte{0});
}

TEST_F(WritableTensors, of_read_only_memory_leave_it_and_are_copies) {
  const std::array<std::byte, 100> lent{};
  Storage storage = Storage(Buffer::borrow(lent.data(), lent.size()));
  const Counted counted;
  Storage clone = storage.writable_clone();
  EXPECT_EQ(counted.since().copies, 2);
  EXPECT_NE(std::as_const(storage).data(), lent.data());
  EXPECT_FALSE(storage.is_read_only());
  EXPECT_FALSE(clone.is_read_only());
  EXPECT_FALSE(clone.shares_data_with(storage));
}

TEST(WritableStorages, of_an_alias_see_what_no_other_handle_of_the_source_writes) {
  Storage storage = Storage::allocate(least_paged_nbytes, paged_allocator());
  const Storage alias = storage;
  storage.mutable_data()[0] = std::byte{1};
  Storage clone = storage.writable_clone();
  EXPECT_NE(clone, storage);
  storage.mutable_data()[0] = std::byte{2};
  EXPECT_EQ(alias.data()[0], std::byte{2});
  EXPECT_EQ(std::as_const(clone).data()[0], std::byte{1});
}

}  // namespace
}  // namespace byre::test
