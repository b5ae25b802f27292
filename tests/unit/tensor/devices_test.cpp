// SPDX-License-Identifier: BSL-1.0
// Tensors on devices with memory that the host cannot access: an operation that accesses such
// memory on the host aborts the test.
#include <byre/tensor/devices.hpp>
#include <byre/tensor/elements.hpp>
#include <byre/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "support/complaint.hpp"
#include "support/tensor/fake_device.hpp"

namespace byre::test {
namespace {

std::vector<float> floats_of(const Tensor& tensor) {
  const Tensor on_host = tensor.to(Device::cpu()).contiguous();
  const float* const first = on_host.data<float>();
  return {first, first + on_host.numel()};
}

class Devices : public ::testing::Test {
 protected:
  FakeDevice& fake_ = FakeDevice::first();
  const Tensor on_host_ = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor there_ = on_host_.to(fake_.device());
};

TEST_F(Devices, a_tensor_is_copied_to_a_device_and_back) {
  EXPECT_EQ(there_.device(), fake_.device());
  EXPECT_EQ(&there_.storage().allocator(), &fake_.allocator());
  EXPECT_EQ(floats_of(there_), floats_of(on_host_));
  EXPECT_EQ(floats_of(on_host_.t().to(fake_.device())), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  const Tensor clone = there_.to(fake_.device());
  EXPECT_FALSE(clone.aliases(there_));
  EXPECT_TRUE(clone.storage().shares_data_with(there_.storage()));
  EXPECT_EQ(floats_of(Tensor::zeros({2}, DType::f32, fake_.device())), (std::vector<float>{0, 0}));
  EXPECT_EQ(floats_of(there_.select(0, 1).select(0, 2)), (std::vector<float>{6}));
}

TEST_F(Devices, a_copy_between_two_devices_goes_through_the_host) {
  FakeDevice& second = FakeDevice::second();
  const int downloads = fake_.downloads;
  const int uploads = second.uploads;
  const Tensor moved = there_.t().to(second.device());
  EXPECT_EQ(moved.device(), second.device());
  EXPECT_EQ(floats_of(moved), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_GT(fake_.downloads, downloads);
  EXPECT_GT(second.uploads, uploads);
}

TEST_F(Devices, clones_are_made_on_the_device_of_their_source) {
  const int copies = fake_.copies();
  EXPECT_EQ(floats_of(there_.clone()), floats_of(on_host_));
  EXPECT_GT(fake_.copies(), copies) << "a contiguous tensor must not be copied through the host";
  const Tensor packed = there_.t().contiguous();
  EXPECT_EQ(packed.device(), fake_.device());
  EXPECT_TRUE(packed.is_contiguous());
  EXPECT_EQ(floats_of(packed), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(floats_of(there_.select(1, 2).clone()), (std::vector<float>{3, 6}));
}

TEST_F(Devices, copies_within_a_device_equal_copies_on_the_host) {
  const std::vector<Tensor (*)(const Tensor&)> views{
      [](const Tensor& x) { return x.alias(); },
      [](const Tensor& x) { return x.select(0, 1); },
      [](const Tensor& x) { return x.select(1, 1); },
      [](const Tensor& x) { return x.slice(1, 1); },
      [](const Tensor& x) { return x.slice(1, 1).t(); },
      [](const Tensor& x) { return x.view({6}).slice(0, 0, 2); }};
  for (const auto target_of : views) {
    for (const auto source_of : views) {
      const auto copied = [&](const Tensor& source) {
        const Tensor target = source.clone();
        std::string complaint = complaint_of([&] { copy_(target_of(target), source_of(source)); });
        return std::pair(floats_of(target), complaint);
      };
      EXPECT_EQ(copied(there_), copied(on_host_));
    }
  }
}

TEST_F(Devices, a_written_lazy_clone_is_copied_by_its_device) {
  Tensor clone = there_.reshape({3, 2});
  EXPECT_TRUE(clone.storage().shares_data_with(there_.storage()));
  const Tensor row = clone.select(0, 1);
  const int copies = fake_.copies();
  float* const place = clone.mutable_data<float>();
  EXPECT_EQ(fake_.copies(), copies + 1);
  const std::vector<float> other{7, 8};
  fake_.copy_from_host(place + 2, other.data(), sizeof(float) * other.size());
  EXPECT_EQ(floats_of(row), other);
  EXPECT_EQ(floats_of(there_), floats_of(on_host_));
}

TEST_F(Devices, device_memory_can_grow_be_freed_and_be_reallocated) {
  Tensor x = there_.clone();
  x.extend(1);
  EXPECT_EQ(floats_of(x.slice(0, 0, 2)), floats_of(on_host_));
  EXPECT_EQ(&x.storage().allocator(), &fake_.allocator());
  const std::size_t blocks = fake_.blocks_out();
  x.free_memory();
  EXPECT_EQ(fake_.blocks_out(), blocks - 1);
  EXPECT_NE(x.mutable_data<float>(), nullptr);
  EXPECT_EQ(fake_.blocks_out(), blocks);
  Tensor fresh(fake_.device());
  fresh.resize({4}).realize<double>();
  EXPECT_EQ(&fresh.storage().allocator(), &fake_.allocator());
}

TEST_F(Devices, foreign_device_memory_is_copied_on_its_device) {
  const Tensor lender = there_.clone();
  Tensor x = Tensor(fake_.device()).resize({2, 3});
  int deletions = 0;
  x.share_external(const_cast<float*>(lender.data<float>()), DType::f32,
                   [&deletions](void*) { ++deletions; });
  EXPECT_EQ(floats_of(x), floats_of(on_host_));
  Tensor clone = x.lazy_clone();
  EXPECT_NE(clone.mutable_data<float>(), nullptr);
  EXPECT_EQ(&clone.storage().allocator(), &fake_.allocator());
  EXPECT_EQ(floats_of(clone), floats_of(on_host_));
  x.free_memory();
  EXPECT_EQ(deletions, 1);
}

TEST_F(Devices, reading_or_writing_an_element_on_a_device_is_rejected) {
  Tensor x = there_.clone();
  const auto get = [&] { std::ignore = x.at<float>({0, 0}); };
  const auto set = [&] { x.set_at<float>({0, 0}, 1); };
  for (const std::string& text : {complaint_of<DeviceError>(get), complaint_of<DeviceError>(set)}) {
    EXPECT_TRUE(
        says(text, "is on device 1:1 (fake), required is the host. Copy it by to(Device::cpu())"));
  }
  EXPECT_THROW(x.share_data(on_host_), DeviceError);
  EXPECT_EQ(floats_of(x), floats_of(on_host_));
}

TEST_F(Devices, tensors_without_elements_change_device_without_a_copy) {
  const int uploads = fake_.uploads;
  const Tensor none = Tensor::empty({0, 3}, DType::f32).to(fake_.device());
  EXPECT_EQ(none.device(), fake_.device());
  EXPECT_EQ(none.clone().to(Device::cpu()).numel(), 0);
  EXPECT_EQ(Tensor(fake_.device()).clone().device(), fake_.device());
  EXPECT_EQ(fake_.uploads, uploads);
}

TEST_F(Devices, copy_converts_and_broadcasts_between_devices) {
  const Tensor source = Tensor::of<float>({3}, {1.5F, -2.5F, 3});
  const Tensor source_there = source.to(fake_.device());
  const std::vector<float> converted{1, -2, 3, 1, -2, 3};
  const auto as_floats = [](const Tensor& tensor) {
    return floats_of(add(tensor.to(Device::cpu()), 0.0));
  };
  Tensor target = Tensor::zeros({2, 3}, DType::i32, fake_.device());
  EXPECT_EQ(as_floats(copy_(target, source)), converted) << "host to device";
  EXPECT_EQ(as_floats(copy_(zero_(target), source_there)), converted) << "within the device";
  EXPECT_EQ(as_floats(copy_(Tensor::zeros({2, 3}, DType::i32), source_there)), converted);
  EXPECT_EQ(as_floats(copy_(Tensor::empty({2, 3}, DType::i32, fake_.device()), target)), converted)
      << "within the device, without conversion";
}

TEST_F(Devices, a_failed_transfer_leaves_the_target_unchanged) {
  Tensor neither = Tensor(Device::cpu()).resize({2, 3});
  Tensor no_memory = Tensor::empty({2, 3}, DType::i32, fake_.device()).free_memory();
  Tensor full = Tensor::zeros({2, 3}, DType::f32, fake_.device());
  fake_.fails_to_transfer = true;
  EXPECT_THROW(copy_(neither, there_), DeviceError);
  EXPECT_FALSE(neither.is_dtype_initialized());
  EXPECT_FALSE(neither.is_storage_initialized());
  EXPECT_THROW(copy_(no_memory, on_host_), DeviceError);
  EXPECT_THROW(copy_(no_memory, there_), DeviceError);
  EXPECT_FALSE(no_memory.is_storage_initialized());
  EXPECT_THROW(copy_(full, on_host_), DeviceError);
  fake_.fails_to_transfer = false;
  EXPECT_EQ(floats_of(full), std::vector<float>(6, 0));
  EXPECT_EQ(floats_of(copy_(neither, there_)), floats_of(on_host_));
}

TEST_F(Devices, writing_a_view_larger_than_host_memory_throws_out_of_memory) {
  if constexpr (sizeof(std::size_t) == 4) {
    GTEST_SKIP() << "the host may have as much memory as 32 bits can count";
  }
  Tensor vast = Tensor(fake_.device()).resize({2, static_cast<std::int64_t>(max_nbytes / 32)});
  vast.share_external(const_cast<float*>(there_.data<float>()), DType::f32, [](void*) {});
  EXPECT_THROW(fill_(vast.select(1, 0), 1), OutOfMemory);
}

TEST_F(Devices, a_write_to_a_device_view_preserves_other_elements) {
  Tensor there = Tensor::zeros({4, 6}, DType::f32, fake_.device());
  const Tensor before = there.lazy_clone();
  fill_(there.slice(0, 1, 4, 2).slice(1, 0, 6, 3), 5);
  std::vector<float> expected(24, 0);
  for (const std::size_t at : {6U, 9U, 18U, 21U}) {
    expected[at] = 5;
  }
  EXPECT_EQ(floats_of(there), expected);
  EXPECT_EQ(floats_of(before), std::vector<float>(24, 0));
  EXPECT_THROW(copy_(there.narrow(0, 0, 3), there.narrow(0, 1, 3)), ShapeError);
  EXPECT_EQ(zero_(Tensor::empty({0}, DType::f32, fake_.device())).numel(), 0);
}

TEST(DeviceDeathTest, a_host_device_with_an_index_other_than_0_aborts) {
  EXPECT_DEATH(Device(0, static_cast<std::uint16_t>(FakeDevice::first().device().index())),
               "a device of kind 0 is the host and must have index 0");
}

TEST(DeviceRegistry, an_unregistered_device_is_rejected_by_every_function) {
  const Device nowhere(900, 7);
  const Tensor x = Tensor::of<float>({1}, {1});
  for (const std::string& text :
       {complaint_of<DeviceError>([&] { Tensor{nowhere}; }),
        complaint_of<DeviceError>([&] { Tensor::empty({1}, DType::f32, nowhere); }),
        complaint_of<DeviceError>([&] { Tensor::zeros({1}, DType::f32, nowhere); }),
        complaint_of<DeviceError>([&] { Tensor{Device::cpu()}.to(nowhere); }),
        complaint_of<DeviceError>([&] { x.to(nowhere); })}) {
    EXPECT_TRUE(says(text, "device 900:7 is not registered. Call register_device()"));
  }
  EXPECT_STREQ(describe(nowhere).chars.data(), "device 900:7 (not registered)");
  EXPECT_STREQ(describe(Device::cpu()).chars.data(), "cpu");
}

TEST(DeviceRegistry, register_device_rejects_duplicates_and_mismatched_allocators) {
  FakeDevice& fake = FakeDevice::first();
  EXPECT_TRUE(says(complaint_of<DeviceError>([&] { register_device(fake.device(), fake); }),
                   "cannot register device 1:1: it is registered already"));
  EXPECT_TRUE(says(complaint_of<DeviceError>([&] { register_device(Device(901, 1), fake); }),
                   "allocates on device 1:1"));
  EXPECT_TRUE(says(
      complaint_of<DeviceError>([] { register_device(Device::cpu(), support_of(Device::cpu())); }),
      "kind 0 is the host"));
}

}  // namespace
}  // namespace byre::test
