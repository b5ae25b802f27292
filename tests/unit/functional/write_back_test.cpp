// SPDX-License-Identifier: BSL-1.0
/// WriteBack: where it fails, nothing was written; also nothing on a device, which is written before the
/// host's memory is.
#include <byre/functional/functionalize/detail/write_back.hpp>

#include "support/failing_allocator.hpp"
#include "support/tensor/fake_device.hpp"
#include "tensors.hpp"

namespace byre::test {
namespace {

std::string text_on_host(const Tensor& tensor) {
  return byre::to_string(tensor.to(Device::cpu()));
}

TEST(WriteBackTest, no_device_is_written_where_memory_of_the_host_cannot_be_copied) {
  FailingAllocator allocator;
  const Tensor there = Tensor::zeros({2}, DType::f32).to(FakeDevice::first().device());
  const Tensor shared = zero_(*std::make_unique<Tensor>(Tensor::empty({2}, DType::f32, allocator)));
  const Tensor other = shared.lazy_clone();
  const Tensor ones = Tensor::of<float>({2}, {1, 1});
  const auto write_both = [&] {
    WriteBack writes("test");
    writes.write(there, ones);
    writes.write(shared, ones);
    writes.commit();
  };
  const std::string zeros = byre::to_string(other);
  allocator.fail_allocation(0);
  EXPECT_THROW(write_both(), OutOfMemory);
  EXPECT_EQ(text_on_host(there), zeros);
  EXPECT_EQ(byre::to_string(shared), zeros);
  write_both();
  EXPECT_EQ(text_on_host(there), byre::to_string(ones));
  EXPECT_EQ(byre::to_string(shared), byre::to_string(ones));
  EXPECT_EQ(byre::to_string(other), zeros);
}

}  // namespace
}  // namespace byre::test
