// SPDX-License-Identifier: BSL-1.0
// The memory of elements: its alignment and allocator, valid bools, and how often growth moves
// elements.
#include <byre/observe/recording.hpp>
#include <byre/tensor/elements.hpp>
#include <byre/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "support/complaint.hpp"
#include "support/counted.hpp"
#include "support/failing_allocator.hpp"
#include "support/temporary_folder.hpp"
#include "support/tensor/fake_device.hpp"

namespace byre::test {
namespace {

void ignore(void*) {}

std::vector<std::uint8_t> raw_bytes_of(const Tensor& tensor) {
  const Tensor dense = tensor.to(Device::cpu()).contiguous();
  const auto* const first = static_cast<const std::uint8_t*>(dense.raw_data());
  return {first, first + dense.nbytes()};
}

TEST(Bools, a_view_of_another_dtype_as_bool_is_rejected) {
  const Tensor bytes = Tensor::of<std::uint8_t>({3}, {0, 1, 2});
  const std::string text = complaint_of<DTypeError>([&] { bytes.view(DType::boolean); });
  EXPECT_EQ(
      text,
      "view: cannot view u8 as bool: only the bytes 0 and 1 are bools. Convert by copy_() to a "
      "tensor of bool: all but 0 become true.");
  EXPECT_THROW(Tensor::zeros({2}, DType::i8).view(DType::boolean), DTypeError);
  Tensor bools = Tensor::empty({3}, DType::boolean);
  copy_(bools, bytes);
  EXPECT_EQ(raw_bytes_of(bools), (std::vector<std::uint8_t>{0, 1, 1}));
  EXPECT_TRUE(bools.view(DType::boolean).aliases(bools));
  EXPECT_EQ(bools.view(DType::u8).at<std::uint8_t>({2}), 1);
}

TEST(Bools, foreign_bool_bytes_other_than_0_and_1_are_rejected) {
  std::uint8_t foreign[] = {1, 0, 2};
  const std::string text = complaint_of<DTypeError>(
      [&] { Tensor::over(Storage(Buffer::borrow(foreign, 3)), {3}, DType::boolean); });
  EXPECT_TRUE(says(text, "bool number 2 is the byte 2, allowed are 0 and 1"));
  EXPECT_TRUE(Tensor::over(Storage(Buffer::borrow(foreign, 3)), {2}, DType::boolean).at<bool>({0}));
  Tensor x = Tensor(Device::cpu()).resize({3});
  EXPECT_THROW(x.share_external(foreign, DType::boolean, ignore), DTypeError);
  EXPECT_FALSE(x.is_dtype_initialized());
  foreign[2] = 1;
  EXPECT_TRUE(x.share_external(foreign, DType::boolean, ignore).at<bool>({2}));
}

TEST(Bools, bools_in_new_memory_are_false) {
  FailingAllocator on_host;
  for (Allocator* const allocator :
       std::initializer_list<Allocator*>{&on_host, &FakeDevice::first().allocator()}) {
    const std::vector<std::uint8_t> zeros(100, 0);
    Tensor x = Tensor::empty({100}, DType::boolean, *allocator);
    EXPECT_EQ(raw_bytes_of(x), zeros);
    x.free_memory().realize<bool>();
    EXPECT_EQ(raw_bytes_of(x), zeros);
    x.free_memory().reserve({200}).realize<bool>();
    x.resize({200});
    x.extend(300);
    EXPECT_EQ(raw_bytes_of(x), std::vector<std::uint8_t>(500, 0));
    Tensor y = Tensor::empty({100}, DType::f32, *allocator);
    y.realize<bool>();
    EXPECT_EQ(raw_bytes_of(y), zeros);
    Tensor clone = y.lazy_clone();
    clone.extend(1, 0);
    EXPECT_EQ(raw_bytes_of(clone), std::vector<std::uint8_t>(101, 0));
    EXPECT_EQ(raw_bytes_of(y), zeros);
  }
}

TEST(Alignment, misaligned_memory_is_rejected) {
  alignas(8) std::uint8_t memory[64] = {};
  Tensor x = Tensor(Device::cpu()).resize({2});
  const std::string text =
      complaint_of<InvalidArgument>([&] { x.share_external(memory + 1, DType::f32, ignore); });
  EXPECT_EQ(
      text,
      "share_external: memory is misaligned for f32: its address is 1 more than a multiple of 4. "
      "Copy it to aligned memory.");
  if constexpr (alignof(double) == 8) {  // 4 on 32-bit x86
    EXPECT_THROW(x.share_external(memory + 4, DType::f64, ignore), InvalidArgument);
  }
  x.share_external(memory + 4, DType::complex64, ignore);
  EXPECT_THROW(Tensor::over(Storage(Buffer::borrow(memory + 2, 8)), {2}, DType::i32),
               InvalidArgument);
  EXPECT_THROW(Tensor::over(Storage(Buffer::borrow(memory, 7)), {2}, DType::i32), ShapeError);
  EXPECT_THROW(Tensor::over(Storage(Buffer::borrow(memory + 2, 8)), {0}, DType::i32),
               InvalidArgument);
  Tensor bytes = Tensor::over(Storage(Buffer::borrow(memory + 1, 8)), {8}, DType::u8);
  EXPECT_THROW(bytes.view(DType::i16), InvalidArgument);
  EXPECT_EQ(bytes.view(DType::i8).at<std::int8_t>({7}), 0);
  EXPECT_EQ(bytes.clone().view(DType::i64).at<std::int64_t>({0}), 0);
}

TEST(Allocators, a_tensor_takes_all_memory_from_its_allocator) {
  FailingAllocator allocator;
  {
    Tensor x = Tensor::empty({4}, DType::f32, allocator);
    EXPECT_EQ(&x.clone().storage().allocator(), &allocator);
    EXPECT_EQ(&x.expand({2, 4}).contiguous().storage().allocator(), &allocator);
    x.resize({100}).realize<float>();
    EXPECT_EQ(&x.storage().allocator(), &allocator);
    x.free_memory().realize<double>();
    EXPECT_EQ(&x.storage().allocator(), &allocator);
    x.resize({0}, OnShrink::free_memory);
    Tensor view = x.alias();
    Tensor clone = x.lazy_clone();
    Tensor expanded = x.expand({0});
    for (Tensor* const none : {&view, &clone, &expanded}) {
      none->resize({3}).realize<double>();
      EXPECT_EQ(&none->storage().allocator(), &allocator);
    }
    x.resize({3}).realize<double>();
    x.lazy_clone().reserve({100});
    copy_(x.free_memory(), Tensor::zeros({3}, DType::f64));
    EXPECT_EQ(&x.storage().allocator(), &allocator);
    EXPECT_EQ(allocator.wrong_releases(), 0);
  }
  EXPECT_EQ(allocator.blocks_out(), 0U);
  EXPECT_EQ(&Tensor(Device::cpu()).allocator(), &default_allocator());
  EXPECT_EQ(&Tensor(FakeDevice::first().device()).allocator(), &FakeDevice::first().allocator());
}

TEST(Growing, copies_shared_data_once) {
  FailingAllocator allocator;
  std::optional<trace::Recording> recording;
  if (BYRE_STATS) {
    recording.emplace();
  }
  const Tensor x = zero_(Tensor::empty({4}, DType::f32, allocator));
  Tensor clone = x.lazy_clone({"model.cpp", 1});
  const Counted counted;
  std::size_t nbytes = 0;
  const stats::InstalledSink sink(
      [&](const stats::CopyEvent&) { nbytes = clone.storage().nbytes(); });
  const int allocations = allocator.allocations();
  clone.reserve({50}, {"model.cpp", 2});
  EXPECT_EQ(allocator.allocations(), allocations + 1);
  EXPECT_FALSE(clone.storage().shares_data_with(x.storage()));
  EXPECT_TRUE(x.storage().is_unique());
  EXPECT_EQ(clone.at<float>({3}), 0);
  if (BYRE_STATS) {
    EXPECT_EQ(counted.since().copies, 1) << counted.text();
    EXPECT_EQ(nbytes, 50 * sizeof(float)) << "the sink must observe the tensor in its new memory";
    EXPECT_TRUE(says(recording->summary(),
                     "\n1. 1 copy of 16 bytes (shared)\n"
                     "  written at model.cpp:2\n"
                     "  cloned at model.cpp:1\n"));
  }
  clone.resize({50});
  EXPECT_EQ(clone.size(0), 50);
}

TEST(Growing, copies_a_mapped_file_once) {
  const TemporaryFolder folder;
  write_file(folder / "bytes", "meadow");
  FailingAllocator allocator;
  {
    Tensor x = Tensor::over(Storage::map_file(folder / "bytes", allocator), {6}, DType::u8);
    const Recorder recorder;
    x.extend(2, 0);
    if (BYRE_STATS) {
      ASSERT_EQ(recorder.events().size(), 1U);
      EXPECT_STREQ(to_string(recorder.events()[0].cause), "read_only");
    }
    EXPECT_EQ(allocator.allocations(), 1);
    EXPECT_EQ(x.at<std::uint8_t>({5}), 'w');
    EXPECT_FALSE(x.storage().is_read_only());
  }
  EXPECT_EQ(allocator.blocks_out(), 0U);
}

TEST(Growing, extend_allocates_the_exact_size_if_extra_memory_is_lacking) {
  FailingAllocator allocator;
  Tensor x = Tensor::empty({4}, DType::u8, allocator);
  std::memset(x.mutable_raw_data(), 7, 4);
  allocator.fail_allocation(0);
  x.extend(1000);
  EXPECT_EQ(x.storage().nbytes(), 1004U);
  EXPECT_EQ(x.at<std::uint8_t>({3}), 7);
  allocator.fail_allocation(0);
  EXPECT_THROW(x.extend(1000, 0), OutOfMemory);
  EXPECT_EQ(x.size(0), 1004);
  allocator.fail_allocation(FailingAllocator::never);
}

TEST(Pointers, a_pointer_for_reading_is_valid_until_the_next_write) {
  Tensor x = Tensor::of<float>({4}, {1, 2, 3, 4});
  const float* const read = x.data<float>();
  const Tensor view = x.slice(0, 1);
  x.lazy_clone().set_at<float>({0}, 9);  // writes to another storage
  EXPECT_EQ(x.data<float>(), read);
  const Tensor kept = x.lazy_clone();
  x.set_at<float>({0}, 8);  // moves the data of x and of view
  EXPECT_NE(x.data<float>(), read);
  EXPECT_EQ(view.data<float>(), x.data<float>() + 1);
  EXPECT_EQ(kept.data<float>(), read) << "the lazy clone must retain the data that was read";
  EXPECT_EQ(*read, 1);
}

}  // namespace
}  // namespace byre::test
