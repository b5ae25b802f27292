// SPDX-License-Identifier: BSL-1.0
/// Operations on tensors that are not initialized, or not on the host.
#include "elements_support.hpp"
#include "support/tensor/fake_device.hpp"

#include <cstring>
#include <functional>
#include <utility>

namespace byre::test {
namespace {

using byre::Device;

/// Every operation with `x` in each place, and a proper tensor in the others.
std::vector<std::pair<std::string, std::function<void()>>> every_use_as_operand(
    Tensor x, const Tensor& fine) {
  const Tensor mask = eq(fine, fine);
  return {{"add", [=] { add(x, fine); }},
          {"add", [=] { add(fine, x); }},
          {"add", [=] { add(x, 1); }},
          {"add_", [=]() mutable { add_(x, fine); }},
          {"add_", [=] { add_(*std::make_unique<Tensor>(fine.clone()), x); }},
          {"add_", [=]() mutable { add_(x, 1); }},
          {"sub", [=] { sub(x, fine); }},
          {"mul", [=] { mul(x, fine); }},
          {"div", [=] { div(x, fine); }},
          {"neg", [=] { neg(x); }},
          {"neg_", [=]() mutable { neg_(x); }},
          {"relu", [=] { relu(x); }},
          {"relu_", [=]() mutable { relu_(x); }},
          {"exp", [=] { exp(x); }},
          {"exp_", [=]() mutable { exp_(x); }},
          {"eq", [=] { eq(fine, x); }},
          {"ge", [=] { ge(x, fine); }},
          {"where", [=] { where(mask, fine, x); }},
          {"where", [=] { where(mask, x, fine); }},
          {"where", [=] { where(x, fine, fine); }},
          {"sum", [=] { sum(x); }},
          {"matmul", [=] { matmul(x, fine); }},
          {"matmul", [=] { matmul(fine, x); }},
          {"cat", [=] {
             byre::cat({fine, x});
           }}};
}

TEST(ElementStatesTest, uninitialized_operands_are_refused_by_name_and_state) {
  const Tensor fine = Tensor::zeros({4}, DType::f32);
  Tensor no_memory = fine.clone();
  no_memory.free_memory();
  Tensor no_dtype(Device::cpu());
  Tensor neither(Device::cpu());
  neither.resize({4});
  const std::vector<Sample> samples{{"storage-uninitialized", no_memory},
                                    {"dtype-uninitialized", no_dtype},
                                    {"uninitialized", neither}};
  for (const Sample& sample : samples) {
    for (const auto& [name, use] : every_use_as_operand(sample.tensor, fine)) {
      const std::string text = complaint_of<byre::StateError>(use);
      EXPECT_EQ(text.rfind(name + ": the tensor ", 0), 0U) << text;
      EXPECT_TRUE(says(text, sample.name));
    }
    Tensor written = fine.clone();
    EXPECT_TRUE(
        says(complaint_of<byre::StateError>([&] { copy_(written, sample.tensor); }), sample.name));
  }
}

TEST(ElementStatesTest, writing_gives_memory_to_a_tensor_that_has_a_dtype) {
  Tensor x = Tensor::zeros({2}, DType::i16);
  x.free_memory();
  fill_(x, 3);
  EXPECT_EQ(x.at<std::int16_t>({1}), 3);
  x.free_memory();
  zero_(x);
  EXPECT_EQ(x.at<std::int16_t>({1}), 0);
  x.free_memory();
  copy_(x, Tensor::of<float>({}, {2.5F}));
  EXPECT_EQ(x.at<std::int16_t>({1}), 2);
}

TEST(ElementStatesTest, copying_gives_the_dtype_too_and_filling_wants_one) {
  Tensor x(Device::cpu());
  x.resize({3});
  EXPECT_EQ(
      complaint_of<byre::StateError>([&] { fill_(x, 1); }),
      "fill_: the tensor [3] is dtype-uninitialized. Call realize(dtype) or mutable_data<T>() "
      "first.");
  EXPECT_EQ(complaint_of<byre::StateError>([&] { zero_(x); }).rfind("zero_: ", 0), 0U);
  EXPECT_THROW(copy_(x, Tensor::zeros({2}, DType::bf16)), byre::ShapeError);
  EXPECT_FALSE(x.is_dtype_initialized());
  copy_(x, Tensor::of<byre::BFloat16>({1}, {byre::BFloat16(2.0F)}));
  EXPECT_EQ(x.dtype(), DType::bf16);
  EXPECT_EQ(float(x.at<byre::BFloat16>({2})), 2.0F);
}

TEST(ElementDevicesTest, computing_off_the_host_is_refused_by_name) {
  const Tensor fine = Tensor::zeros({4}, DType::f32);
  const Tensor there = fine.to(FakeDevice::first().device());
  for (const auto& [name, use] : every_use_as_operand(there, fine)) {
    if (name != "where") {  // its condition's dtype may come first
      EXPECT_EQ(complaint_of<byre::DeviceError>(use),
                name +
                    ": an operand is on device 1:1 (fake), and computing is done on the "
                    "host. Copy it with to(Device::cpu()).");
    } else {
      EXPECT_THROW(use(), byre::DeviceError);
    }
  }
}

TEST(ElementDevicesTest, copies_convert_and_broadcast_between_devices) {
  const Tensor source = telling<float>({4});
  const auto expect_converted = [&](const Tensor& found) {
    expect_elements<std::int32_t>(found.to(Device::cpu()), {3, 4}, [&](const Dims& indices) {
      Tensor one = Tensor::empty({}, DType::i32);
      return copy_(one, source.select(0, indices[1])).at<std::int32_t>({});
    });
  };
  Tensor there = Tensor::zeros({3, 4}, DType::i32, FakeDevice::first().device());
  copy_(there, source);  // host to device
  expect_converted(there);
  zero_(there);
  copy_(there, source.to(FakeDevice::first().device()));  // within the device, converted
  expect_converted(there);
  Tensor here = Tensor::zeros({3, 4}, DType::i32);
  copy_(here, source.to(FakeDevice::first().device()));  // device to host
  expect_converted(here);
  Tensor again = Tensor::empty({3, 4}, DType::i32, FakeDevice::first().device());
  copy_(again, there);  // within the device, as it is
  expect_converted(again);
}

/// Memory that the host could address, in a device that copies it or, if told to, fails to. It says
/// that it has more than there can be.
class FailingDevice final : public byre::DeviceSupport {
 public:
  static FailingDevice& instance() {
    static FailingDevice device;
    static const bool is_registered =
        (byre::register_device(device.memory_.device(), device), true);
    static_cast<void>(is_registered);
    return device;
  }

  bool fails = false;

  byre::Allocator& allocator() noexcept override { return memory_; }
  void copy_to_host(void* destination, const void* source, std::size_t nbytes) override {
    transfer(destination, source, nbytes);
  }
  void copy_from_host(void* destination, const void* source, std::size_t nbytes) override {
    transfer(destination, source, nbytes);
  }
  const char* name() const noexcept override { return "failing"; }

 private:
  void transfer(void* destination, const void* source, std::size_t nbytes) const {
    if (fails) {
      throw byre::DeviceError(byre::format_text("the device failed"));
    }
    std::memcpy(destination, source, nbytes);
  }

  class Memory final : public byre::Allocator {
   public:
    Memory() : Allocator(Device(7, 1)) {}
    byre::Block allocate(const byre::Request& request) override {
      return request.nbytes >= vast ? byre::Block{&nowhere_, request.nbytes, &nowhere_}
                                    : byre::default_allocator().allocate(request);
    }
    void deallocate(const byre::Block& block) noexcept override {
      if (block.base != &nowhere_) {
        byre::default_allocator().deallocate(block);
      }
    }
    const char* name() const noexcept override { return "failing memory"; }

   private:
    static constexpr std::size_t vast = byre::max_nbytes / 8;
    alignas(byre::data_alignment) std::byte nowhere_{};
  };

  Memory memory_;
};

TEST(ElementDevicesTest, a_device_that_fails_leaves_the_state_of_what_was_to_be_written) {
  FailingDevice& device = FailingDevice::instance();
  const Device there = device.allocator().device();
  const Tensor source = telling<float>({4});
  const Tensor on_device = source.to(there);
  Tensor neither(Device::cpu());
  neither.resize({4});
  Tensor no_memory = Tensor::empty({2, 4}, DType::i32, there);
  no_memory.free_memory();
  Tensor full = Tensor::zeros({4}, DType::i32, there);
  device.fails = true;
  EXPECT_THROW(copy_(neither, on_device), byre::DeviceError);
  EXPECT_FALSE(neither.is_dtype_initialized());
  EXPECT_FALSE(neither.is_storage_initialized());
  EXPECT_THROW(copy_(no_memory, source), byre::DeviceError);
  EXPECT_THROW(copy_(no_memory, on_device), byre::DeviceError);
  EXPECT_FALSE(no_memory.is_storage_initialized());
  EXPECT_THROW(copy_(full, source), byre::DeviceError);
  device.fails = false;
  expect_elements<std::int32_t>(full.to(Device::cpu()), {4}, [](const Dims&) { return 0; });
  copy_(neither, on_device);
  expect_elements<float>(neither, {4},
                         [&](const Dims& indices) { return at<float>(source, indices); });
}

TEST(ElementDevicesTest, what_spans_more_than_the_host_has_is_out_of_memory) {
  if constexpr (sizeof(std::size_t) == 4) {
    GTEST_SKIP() << "the host may have all that 32 bits count";
  }
  const Device there = FailingDevice::instance().allocator().device();
  Tensor ends =
      Tensor::empty({2, static_cast<std::int64_t>(byre::max_nbytes / 32)}, DType::i32, there)
          .select(1, 0);
  EXPECT_THROW(fill_(ends, 1), byre::OutOfMemory);
}

TEST(ElementDevicesTest, views_on_a_device_are_written_without_what_lies_between) {
  Tensor there = Tensor::zeros({4, 6}, DType::i16, FakeDevice::first().device());
  const Tensor before = there.lazy_clone();
  Tensor part = there.slice(0, 1, 4, 2).slice(1, 0, 6, 3);
  fill_(part, 5);
  expect_elements<std::int16_t>(there.to(Device::cpu()), {4, 6}, [](const Dims& indices) {
    return static_cast<std::int16_t>(indices[0] % 2 == 1 && indices[1] % 3 == 0 ? 5 : 0);
  });
  expect_elements<std::int16_t>(before.to(Device::cpu()), {4, 6},
                                [](const Dims&) { return std::int16_t{0}; });
  Tensor front = there.narrow(0, 0, 3);
  EXPECT_THROW(copy_(front, there.narrow(0, 1, 3)), byre::ShapeError);
  Tensor none = Tensor::empty({0}, DType::f32, FakeDevice::first().device());
  EXPECT_EQ(zero_(none).numel(), 0);
}

}  // namespace
}  // namespace byre::test
