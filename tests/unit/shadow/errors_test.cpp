// SPDX-License-Identifier: BSL-1.0
/// Error mode, and what is refused or fails: nothing was accessed then. accesses_test.cpp has what is
/// thrown by each operation, and tests/equivalence that it goes through when it is tried again.
#include "support/tensor/fake_device.hpp"
#include "tracked.hpp"

namespace byre::test {
namespace {

/// y = x.reshape({2, 3}) in error mode, and x was written since, at line 11.
class Errors : public testing::Test {
 protected:
  explicit Errors(Device device = Device::cpu()) : x(Tensor::zeros({6}, DType::f32, device)) {
    write(x, site(11));
  }

  CaughtReports reports;
  Tensor x;
  Tensor y = reshaped(x, {2, 3}, ReshapeMode::error);
};

TEST_F(Errors, have_their_violation_and_say_it) {
  write(x, site(11));
  try {
    read(y, site(12));
    FAIL() << "nothing was thrown";
  } catch (const ReshapeViolation& error) {
    EXPECT_EQ(error.violation().access.site.line, 12U);
    EXPECT_EQ(error.what(), to_string(error.violation()));
  }
  EXPECT_NO_THROW(read(y, site(12))) << "once";
  EXPECT_EQ(reports.count(), 0U);
  EXPECT_EQ(shadow::summary().violations, 1U);
}

TEST_F(Errors, come_after_what_is_refused_anyway) {
  write(x, site(11));
  const Tensor four = Tensor::zeros({4}, DType::f32);
  EXPECT_THROW(add_(y, four, site(12)), ShapeError);
  EXPECT_THROW(static_cast<void>(add(y, four, site(12))), ShapeError);
  EXPECT_THROW(static_cast<void>(sum(y, {7}, false, site(12))), ShapeError);
  EXPECT_THROW(static_cast<void>(matmul(y, y, site(12))), ShapeError);
  EXPECT_THROW(static_cast<void>(cat({y, four}, 0, site(12))), ShapeError);
  EXPECT_THROW(static_cast<void>(y.at<double>({0, 0}, site(12))), DTypeError);
  EXPECT_THROW(static_cast<void>(y.reshape({7}, site(12))), ShapeError);
  EXPECT_THROW(static_cast<void>(y.t().reshape({7}, site(12))), ShapeError);
  EXPECT_THROW(read(y, site(12)), ReshapeViolation) << "nothing was read until now";
}

TEST_F(Errors, of_an_earlier_write_come_before_a_report_of_the_last) {
  Tensor z = reshaped(x, {3, 2}, ReshapeMode::warn, site(20));
  EXPECT_THROW(read(y, site(12)), ReshapeViolation);
  write(y, site(12));
  write(z, site(13));
  EXPECT_THROW(read(x, site(14)), ReshapeViolation);
  EXPECT_NO_THROW(read(x, site(14)));
  EXPECT_EQ(reports.only().access.site.line, 13U);
}

TEST_F(Errors, thrown_by_a_write_are_thrown_by_a_read_as_a_first_write) {
  EXPECT_THROW(write_part(y, site(12)), ReshapeViolation);
  try {
    read(y, site(13));
    FAIL() << "nothing was thrown";
  } catch (const ReshapeViolation& error) {
    EXPECT_EQ(error.violation().advice, Advice::reshape_and_clone) << "y follows no earlier write";
  }
}

TEST_F(Errors, leave_a_tensor_without_memory_as_it_was) {
  Tensor target(Device::cpu());
  target.resize({2, 3});
  write(x, site(11));
  EXPECT_THROW(copy_(target, y, site(12)), ReshapeViolation);
  EXPECT_FALSE(target.is_storage_initialized());
  EXPECT_FALSE(target.is_dtype_initialized());
  copy_(target, y, site(12));
  EXPECT_EQ(values_of(target), std::vector<float>(6, 7.0F));
}

class ErrorsOnDevices : public Errors {
 protected:
  ErrorsOnDevices() : Errors(FakeDevice::first().device()) {}
};

TEST_F(ErrorsOnDevices, are_thrown_before_anything_is_copied_there) {
  const Tensor source = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  write(x, site(11));
  const int uploads = FakeDevice::first().uploads;
  EXPECT_THROW(copy_(y, source, site(12)), ReshapeViolation);
  EXPECT_EQ(FakeDevice::first().uploads, uploads);
  EXPECT_NO_THROW(read(x, site(13)));
  copy_(y, source, site(12));
  EXPECT_THROW(read(x, site(13)), ReshapeViolation);
  EXPECT_EQ(values_of(x)[5], 6);
}

TEST_F(ErrorsOnDevices, of_the_device_mean_that_nothing_was_written) {
  Tensor z = reshaped(x, {2, 3});
  write(x, site(11));
  FakeDevice::first().fails_to_upload = true;
  EXPECT_THROW(write(z, site(12)), DeviceError);
  FakeDevice::first().fails_to_upload = false;
  EXPECT_EQ(reports.only().access.site.line, 12U);
  read(x, site(13));
  EXPECT_EQ(reports.count(), 1U) << "nobody is stale";
  read(z, site(14));
  ASSERT_EQ(reports.count(), 2U) << "z was not written over";
  EXPECT_EQ(reports.last().write.site.line, 11U);
}

}  // namespace
}  // namespace byre::test
