// SPDX-License-Identifier: BSL-1.0
// The data that another library receives by DLPack: the bytes of the tensor, which byre does not
// write later.
#include <byre/interop/dlpack.hpp>
#include <byre/tensor/elements.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "support/complaint.hpp"
#include "support/counted.hpp"
#include "support/failing_allocator.hpp"
#include "support/tensor/fake_device.hpp"

namespace byre::test {
namespace {

using dlpack::DLManagedTensor;
using dlpack::DLManagedTensorVersioned;
using dlpack::DLTensor;

struct CallDeleter {
  template <class Managed>
  void operator()(Managed* managed) const {
    managed->deleter(managed);
  }
};
template <class Managed>
using Held = std::unique_ptr<Managed, CallDeleter>;
using Versioned = Held<DLManagedTensorVersioned>;
using Older = Held<DLManagedTensor>;

std::vector<std::int64_t> numbers(const std::int64_t* first, std::int32_t count) {
  return {first, first + count};
}

float* floats(const DLTensor& tensor) {
  return static_cast<float*>(tensor.data);
}

/// A tensor of the values 1 to 6.
Tensor two_by_three() {
  return Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
}

TEST(DLPackExport, has_the_tensors_layout_device_and_flags) {
  const Tensor tensor = two_by_three().t().slice(0, 1);
  const Versioned held(to_dlpack(tensor));
  EXPECT_EQ(held->version.major, 1U);
  EXPECT_EQ(held->version.minor, 1U);
  EXPECT_EQ(held->flags, dlpack::DLPACK_FLAG_BITMASK_READ_ONLY);
  const DLTensor& seen = held->dl_tensor;
  EXPECT_EQ(seen.data, tensor.data<float>());
  EXPECT_EQ(seen.byte_offset, 0U);
  EXPECT_EQ(seen.device.device_type, dlpack::kDLCPU);
  EXPECT_EQ(seen.device.device_id, 0);
  ASSERT_EQ(seen.ndim, 2);
  EXPECT_EQ(numbers(seen.shape, 2), (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(numbers(seen.strides, 2), (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(floats(seen)[0], 2);
}

TEST(DLPackExport, every_dtype_is_exported) {
  struct Expected {
    DType dtype;
    unsigned code;
    unsigned bits;
  };
  for (const auto& [dtype, code, bits] :
       {Expected{DType::boolean, 6, 8}, Expected{DType::u8, 1, 8}, Expected{DType::i8, 0, 8},
        Expected{DType::i16, 0, 16}, Expected{DType::i32, 0, 32}, Expected{DType::i64, 0, 64},
        Expected{DType::f16, 2, 16}, Expected{DType::bf16, 4, 16}, Expected{DType::f32, 2, 32},
        Expected{DType::f64, 2, 64}, Expected{DType::complex64, 5, 64}}) {
    const Versioned held(to_dlpack(Tensor::zeros({2}, dtype)));
    EXPECT_EQ(held->dl_tensor.dtype.code, code) << name_of(dtype);
    EXPECT_EQ(held->dl_tensor.dtype.bits, bits) << name_of(dtype);
    EXPECT_EQ(held->dl_tensor.dtype.lanes, 1U);
    EXPECT_EQ(from_dlpack(to_dlpack(Tensor::zeros({2}, dtype))).dtype(), dtype);
  }
  EXPECT_THROW(dlpack_dtype(DType::uninitialized), DTypeError);
}

TEST(DLPackExport, an_export_for_reading_copies_nothing_and_is_a_snapshot) {
  FailingAllocator allocator;
  Tensor tensor = Tensor::empty({2}, DType::f32, allocator);
  fill_(tensor, 1);
  const Tensor clone = tensor.lazy_clone();
  Versioned held(to_dlpack(tensor));
  EXPECT_EQ(allocator.copies(), 0);
  EXPECT_EQ(floats(held->dl_tensor), clone.data<float>());
  fill_(tensor, 2);
  EXPECT_EQ(floats(held->dl_tensor)[0], 1);
  EXPECT_TRUE(tensor.lazy_clone().storage().shares_data_with(tensor.storage()));
  tensor = Tensor();
  EXPECT_EQ(floats(held->dl_tensor)[1], 1);
}

TEST(DLPackExport, writes_through_an_export_change_the_tensor_and_its_views) {
  Tensor tensor = two_by_three();
  const Tensor view = tensor.select(0, 1);
  const Tensor clone = tensor.lazy_clone();
  Versioned held(to_dlpack(view, DLPackAccess::write));
  EXPECT_EQ(held->flags, 0U);
  EXPECT_TRUE(tensor.storage().is_pinned());
  floats(held->dl_tensor)[0] = 40;
  const Tensor later = tensor.lazy_clone();
  floats(held->dl_tensor)[1] = 50;
  EXPECT_EQ(tensor.at<float>({1, 0}), 40);
  EXPECT_EQ(view.at<float>({1}), 50);
  EXPECT_EQ(clone.at<float>({1, 0}), 4);
  EXPECT_EQ(later.at<float>({1, 0}), 40);
  EXPECT_EQ(later.at<float>({1, 1}), 5);
  held.reset();
  EXPECT_FALSE(tensor.storage().is_pinned());
  EXPECT_EQ(tensor.at<float>({1, 1}), 50);
}

TEST(DLPackExport, an_export_for_writing_allocates_freed_memory) {
  Tensor tensor = two_by_three();
  tensor.free_memory();
  const Versioned held(to_dlpack(tensor, DLPackAccess::write));
  EXPECT_TRUE(tensor.is_storage_initialized());
  EXPECT_EQ(held->dl_tensor.data, tensor.data<float>());
}

TEST(DLPackExport, with_access_copy_the_export_is_an_unshared_copy) {
  const Tensor tensor = two_by_three().t();
  const Versioned held(to_dlpack(tensor, DLPackAccess::copy));
  EXPECT_EQ(held->flags, dlpack::DLPACK_FLAG_BITMASK_IS_COPIED);
  EXPECT_NE(held->dl_tensor.data, tensor.raw_data());
  EXPECT_EQ(numbers(held->dl_tensor.strides, 2), (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(floats(held->dl_tensor)[1], 4);
  floats(held->dl_tensor)[1] = 0;
  EXPECT_EQ(tensor.at<float>({0, 1}), 4);
  EXPECT_FALSE(tensor.storage().is_pinned());
}

TEST(DLPackExport, the_data_pointer_of_a_tensor_without_elements_is_null) {
  for (const auto access : {DLPackAccess::read, DLPackAccess::write, DLPackAccess::copy}) {
    const Versioned held(to_dlpack(Tensor::zeros({0, 3}, DType::i32), access));
    EXPECT_EQ(held->dl_tensor.data, nullptr);
    EXPECT_EQ(numbers(held->dl_tensor.shape, 2), (std::vector<std::int64_t>{0, 3}));
  }
}

TEST(DLPackExport, writes_through_an_older_dlpack_export_change_the_tensor) {
  Tensor tensor = two_by_three();
  const Tensor clone = tensor.lazy_clone();
  Older held(to_older_dlpack(tensor));
  floats(held->dl_tensor)[0] = 9;
  EXPECT_EQ(tensor.at<float>({0, 0}), 9);
  EXPECT_EQ(clone.at<float>({0, 0}), 1);
  held.reset();
  EXPECT_FALSE(tensor.storage().is_pinned());
  const Older copy(to_older_dlpack(tensor, DLPackAccess::copy));
  EXPECT_NE(copy->dl_tensor.data, tensor.raw_data());
}

TEST(DLPackExport, older_dlpack_rejects_an_export_for_reading) {
  Tensor tensor = two_by_three();
  const Tensor clone = tensor.lazy_clone();
  const auto complaint = complaint_of<InvalidArgument>(
      [&] { static_cast<void>(to_older_dlpack(tensor, DLPackAccess::read)); });
  EXPECT_TRUE(says(complaint, "has no read-only tensors", "DLPackAccess::write"));
  EXPECT_TRUE(tensor.storage().shares_data_with(clone.storage()));
}

TEST(DLPackExport, a_tensor_without_dtype_or_memory_is_rejected) {
  EXPECT_TRUE(says(complaint_of<StateError>([] { static_cast<void>(to_dlpack(Tensor())); }),
                   "to_dlpack: the tensor handle is empty"));
  EXPECT_TRUE(
      says(complaint_of<StateError>([] { static_cast<void>(to_dlpack(Tensor(Device::cpu()))); }),
           "dtype-uninitialized"));
  Tensor freed = two_by_three();
  freed.free_memory();
  EXPECT_THROW(static_cast<void>(to_dlpack(freed)), StateError);
}

/// A tensor whose only other owner is copying the data.
class CopyUnderWay : public ::testing::Test {
 protected:
  CopyUnderWay() {
    fill_(tensor_, 1);
    clone_ = tensor_.lazy_clone();
    allocator_.halt_copy(copy_);
    copier_ = std::thread([this] { static_cast<void>(clone_.mutable_data<float>()); });
    copy_.await_entry();
  }
  ~CopyUnderWay() override {
    copy_.let_go();
    copier_.join();
  }

  FailingAllocator allocator_;
  Tensor tensor_ = Tensor::empty({2}, DType::f32, allocator_);
  Tensor clone_;
  Halt copy_;
  std::thread copier_;
};

TEST_F(CopyUnderWay, an_export_with_wait_never_copies_instead_of_waiting) {
  const Versioned held(to_dlpack(tensor_, DLPackAccess::write, Wait::never));
  EXPECT_EQ(allocator_.copies(), 2);
}

TEST_F(CopyUnderWay, an_older_export_with_wait_never_copies_instead_of_waiting) {
  const Older held(to_older_dlpack(tensor_, DLPackAccess::write, Wait::never));
  EXPECT_EQ(allocator_.copies(), 2);
}

TEST(DLPackExport, a_copy_is_recorded_at_the_line_that_calls_the_export) {
  if (!BYRE_STATS) {
    GTEST_SKIP() << "built without stats";
  }
  Tensor tensor = two_by_three();
  const Tensor clone = tensor.lazy_clone();
  const Recorder recorder;
  const unsigned line = __LINE__ + 1;
  const Versioned held(to_dlpack(tensor, DLPackAccess::write));
  const Tensor other = clone.lazy_clone();
  const Older older(to_older_dlpack(clone.lazy_clone()));
  const auto events = recorder.events();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].site.line, line);
  EXPECT_STREQ(events[0].site.file, __FILE__);
  EXPECT_EQ(events[1].site.line, line + 2);
}

TEST(DLPackExport, a_failed_allocation_leaves_the_tensor_shared_and_unpinned) {
  FailingAllocator allocator;
  Tensor tensor = Tensor::empty({2}, DType::f32, allocator);
  fill_(tensor, 1);
  const Tensor clone = tensor.lazy_clone();
  allocator.fail_allocation(0);
  EXPECT_THROW(static_cast<void>(to_dlpack(tensor, DLPackAccess::write)), OutOfMemory);
  EXPECT_TRUE(tensor.storage().shares_data_with(clone.storage()));
  EXPECT_FALSE(tensor.storage().is_pinned());
}

/// A device of kind `Kind`. Kind 1 and kind 12 both have DLPack's number 12.
template <std::uint16_t Kind>
class OtherDevice final : public DeviceSupport {
 public:
  OtherDevice() { register_device(Device(Kind, 3), *this); }
  Allocator& allocator() noexcept override { return allocator_; }
  void copy_to_host(void*, const void*, std::size_t) override {}
  void copy_from_host(void*, const void*, std::size_t) override {}
  const char* name() const noexcept override { return "other"; }

 private:
  FailingAllocator allocator_{Device(Kind, 3)};
};

TEST(DLPackExport, a_device_is_exported_with_its_dlpack_type_and_index) {
  static OtherDevice<2> second;
  static OtherDevice<12> extension;
  EXPECT_EQ(dlpack_device(Device(2, 3)).device_type, 2);
  EXPECT_EQ(dlpack_device(Device(2, 3)).device_id, 3);
  EXPECT_EQ(dlpack_device(Device(12, 3)).device_type, 12);
  EXPECT_EQ(from_dlpack(to_dlpack(Tensor::empty({2}, DType::f32, Device(12, 3)))).device(),
            Device(12, 3));
  EXPECT_THROW(dlpack_device(Device(2, 4)), DeviceError);
  static OtherDevice<1> of_same_number;
  EXPECT_EQ(dlpack_device(Device(1, 3)).device_type, 12);
  const Versioned held(to_dlpack(Tensor::empty({2}, DType::f32, Device(12, 3))));
  DLManagedTensorVersioned foreign = *held;
  foreign.deleter = nullptr;  // so that byre does not recognize its own export
  EXPECT_EQ(from_dlpack(&foreign).device(), Device(12, 3));
}

TEST(DLPackExport, a_tensor_on_a_device_is_exported_and_imported) {
  FakeDevice& fake = FakeDevice::first();
  const Tensor there = two_by_three().to(fake.device()).select(0, 1);
  DLManagedTensorVersioned* const managed = to_dlpack(there);
  EXPECT_EQ(managed->dl_tensor.data, there.raw_data());
  EXPECT_EQ(managed->dl_tensor.device.device_type, dlpack::kDLExtDev);
  EXPECT_EQ(managed->dl_tensor.device.device_id, std::int32_t{fake.device().index()});
  const Tensor back = from_dlpack(managed);
  EXPECT_EQ(back.device(), fake.device());
  EXPECT_EQ(back.to(Device::cpu()).at<float>({2}), 6);
}

}  // namespace
}  // namespace byre::test
