// SPDX-License-Identifier: BSL-1.0
/// Two families that write memory of a device at once: each write is the storage's last where it ends,
/// and none is lost. What is in between is called by the device, so that no clock decides. Two writes
/// that meet within one step of the generations are families_race of the model checkers.
#include <byre/tensor/devices.hpp>

#include <functional>
#include <utility>

#include "support/user_allocators.hpp"
#include "watched.hpp"

namespace byre::test {
namespace {

/// Something else happens while it is written, once.
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
    allocator_.copy(destination, source, nbytes);
  }
  void copy_from_host(void* destination, const void* source, std::size_t nbytes) override {
    if (const auto now = std::exchange(meanwhile, nullptr)) {
      now();
    }
    allocator_.copy(destination, source, nbytes);
  }
  const char* name() const noexcept override { return "interrupted"; }
  Device device() const noexcept { return allocator_.device(); }

  std::function<void()> meanwhile;

 private:
  DeviceAllocator allocator_{Device(1, 7)};
};

/// x, and y = x.reshape({2, 3}) at line 10; x is written at line 11 while y is at line 12.
class DeviceWrites : public testing::TestWithParam<ReshapeMode> {
 protected:
  DeviceWrites() {
    device_.meanwhile = [&] { fill_(x, 2, line(11)); };
  }
  ~DeviceWrites() override { device_.meanwhile = nullptr; }

  /// Whether y was told of line 11, by a report or an error, when it was written.
  bool is_told_of_the_other(Tensor part) {
    try {
      fill_(part, 3, line(12));
    } catch (const ReshapeViolation& error) {
      return is_of(error.violation(), 11, 12);
    }
    return GetParam() == ReshapeMode::warn && is_of(reports.only(), 11, 12);
  }
  /// The line of the write that a read at this line is told of; 0 if it is told of none.
  std::uint32_t told_at_read(const Tensor& tensor, std::uint32_t at) {
    const std::size_t before = reports.count();
    try {
      static_cast<void>(tensor.clone(line(at)));
    } catch (const ReshapeViolation& error) {
      return error.violation().write.site.line;
    }
    return reports.count() == before ? 0 : reports.all().back().write.site.line;
  }
  static bool is_of(const Violation& violation, std::uint32_t write, std::uint32_t access) {
    return violation.write.site.line == write && violation.access.site.line == access &&
           violation.access_writes;
  }
  std::vector<float> values() {
    const shadow::ScopedSuppression suppression;
    return values_of(x.to(Device::cpu()));
  }

  InterruptedDevice& device_ = InterruptedDevice::registered();
  CaughtReports reports;
  Tensor x = Tensor::zeros({6}, DType::f32, device_.device());
  Tensor y = reshaped(x, {2, 3}, GetParam());
};

INSTANTIATE_TEST_SUITE_P(Watched, DeviceWrites,
                         testing::Values(ReshapeMode::warn, ReshapeMode::error),
                         [](const auto& mode) { return std::string(name_of(mode.param)); });

TEST_P(DeviceWrites, a_write_that_ends_after_anothers_is_told_of_it_and_is_the_last) {
  EXPECT_TRUE(is_told_of_the_other(y));
  EXPECT_EQ(values(), std::vector<float>(6, 3.0F)) << "it was made, whatever was thrown";
  EXPECT_EQ(told_at_read(x, 13), 12U);
  EXPECT_EQ(told_at_read(y, 14), 0U) << "it wrote all there is";
  EXPECT_EQ(shadow::summary().violations, 2U);
}

TEST_P(DeviceWrites, a_write_of_a_part_leaves_what_another_wrote_meanwhile_to_be_told_of) {
  EXPECT_TRUE(is_told_of_the_other(y.select(0, 0)));
  EXPECT_EQ(values(), (std::vector<float>{3, 3, 3, 2, 2, 2}));
  EXPECT_EQ(told_at_read(y, 13), 11U);
  EXPECT_EQ(told_at_read(x, 14), 12U);
  EXPECT_EQ(shadow::summary().violations, 3U);
}

TEST_P(DeviceWrites, both_writes_are_told_to_a_third_family) {
  const Tensor z = reshaped(x, {3, 2}, GetParam());
  EXPECT_TRUE(is_told_of_the_other(y));
  EXPECT_EQ(told_at_read(z, 13), 12U) << "the last";
  EXPECT_EQ(told_at_read(z, 14), 0U);
}

}  // namespace
}  // namespace byre::test
