// SPDX-License-Identifier: BSL-1.0
/// Two families that write memory of a device at once: each write is the storage's last where it ends,
/// and none is lost. What is in between is called by the device, so that no clock decides. Two writes
/// that meet within one step of the generations are families_race of the model checkers.
#include <byre/tensor/devices.hpp>

#include <functional>
#include <utility>

#include "support/failing_allocator.hpp"
#include "tracked.hpp"

namespace byre::test {
namespace {

/// Something else happens while it is copied to, once.
class InterruptedDevice final : public DeviceSupport {
 public:
  static InterruptedDevice& registered() {
    static InterruptedDevice support;
    static const bool is_registered = (register_device(support.device(), support), true);
    static_cast<void>(is_registered);
    return support;
  }

  Allocator& allocator() noexcept override { return allocator_; }
  void copy_to_host(void* destination, const void* source, std::size_t nbytes) override {
    allocator_.Allocator::copy(destination, source, nbytes);
  }
  void copy_from_host(void* destination, const void* source, std::size_t nbytes) override {
    allocator_.copy(destination, source, nbytes);
  }
  const char* name() const noexcept override { return "interrupted"; }
  Device device() const noexcept { return allocator_.device(); }

  void interrupt(std::function<void()> meanwhile) {
    allocator_.during_copy([this, meanwhile = std::move(meanwhile)] {
      allocator_.during_copy(nullptr);
      meanwhile();
    });
  }
  void fail_to_copy() { allocator_.fail_copy(0); }

 private:
  FailingAllocator allocator_{Device(1, 7)};
};

/// x, and y = x.reshape({2, 3}) at line 10; x is written at line 11 while y is at line 12.
class DeviceWrites : public testing::TestWithParam<ReshapeMode> {
 protected:
  /// The line of the write that is reported or thrown at this access; 0 for none.
  template <class Access>
  std::uint32_t reported_at(const Access& access) {
    const std::size_t before = reports.count();
    try {
      access();
    } catch (const ReshapeViolation& error) {
      return error.violation().write.site.line;
    }
    return reports.count() == before ? 0 : reports.last().write.site.line;
  }
  std::uint32_t reported_at_read(const Tensor& tensor, std::uint32_t line) {
    return reported_at([&] { read(tensor, site(line)); });
  }
  std::uint32_t reported_at_write(Tensor part) {
    return reported_at_write_by([&] { fill_(part, 3, site(12)); });
  }
  std::uint32_t reported_at_write_by(const std::function<void()>& write) {
    device_.interrupt([&] { fill_(x, 2, site(11)); });
    return reported_at(write);
  }

  InterruptedDevice& device_ = InterruptedDevice::registered();
  CaughtReports reports;
  Tensor x = Tensor::zeros({6}, DType::f32, device_.device());
  Tensor y = reshaped(x, {2, 3}, GetParam());
};

INSTANTIATE_TEST_SUITE_P(Tracked, DeviceWrites,
                         testing::Values(ReshapeMode::warn, ReshapeMode::error),
                         [](const auto& mode) { return std::string(name_of(mode.param)); });

TEST_P(DeviceWrites, that_end_after_anothers_are_reported_and_are_the_last) {
  const Tensor z = reshaped(x, {3, 2}, GetParam());
  EXPECT_EQ(reported_at_write(y), 11U);
  EXPECT_EQ(values_of(x), std::vector<float>(6, 3.0F)) << "it was made, whatever was thrown";
  EXPECT_EQ(reported_at_read(x, 13), 12U);
  EXPECT_EQ(reported_at_read(y, 14), 0U) << "it wrote all there is";
  EXPECT_EQ(reported_at_read(z, 15), 12U);
  EXPECT_EQ(shadow::summary().violations, 3U);
}

TEST_P(DeviceWrites, that_are_copies_within_it_end_where_the_copy_does) {
  const Tensor threes = add(Tensor::zeros({2, 3}, DType::f32), 3).to(device_.device());
  EXPECT_EQ(reported_at_write_by([&] { copy_(y, threes, site(12)); }), 11U);
  EXPECT_EQ(values_of(x), std::vector<float>(6, 3.0F));
  EXPECT_EQ(reported_at_read(x, 13), 12U);
  EXPECT_EQ(reported_at_read(y, 14), 0U);
}

TEST_P(DeviceWrites, that_fail_are_none) {
  const Tensor on_host = Tensor::zeros({2, 3}, DType::f32);
  for (const Tensor& source : {on_host, on_host.to(device_.device())}) {
    device_.fail_to_copy();
    EXPECT_THROW(copy_(y, source, site(12)), FailingAllocator::CopyFailed);
    EXPECT_EQ(reported_at_read(x, 13), 0U);
  }
}

TEST_P(DeviceWrites, of_a_part_leave_the_rest_of_what_another_wrote_meanwhile) {
  EXPECT_EQ(reported_at_write(y.select(0, 0)), 11U);
  EXPECT_EQ(values_of(x), (std::vector<float>{3, 3, 3, 2, 2, 2}));
  EXPECT_EQ(reported_at_read(y, 14), 11U);
  EXPECT_EQ(reported_at_read(x, 13), 12U);
}

}  // namespace
}  // namespace byre::test
