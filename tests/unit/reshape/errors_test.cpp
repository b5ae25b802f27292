// SPDX-License-Identifier: BSL-1.0
/// Error mode: what is thrown changes nothing, and is thrown once.
#include <byre/tensor/accessor.hpp>

#include "support/tensor/fake_device.hpp"
#include "watched.hpp"

namespace byre::test {
namespace {

/// y = x.reshape({2, 3}) in error mode, and x was written since, at line 11.
class Errors : public testing::Test {
 protected:
  explicit Errors(Device device = Device::cpu()) : x(Tensor::zeros({6}, DType::f32, device)) {
    fill_(x, 1, line(11));
  }

  CaughtReports reports;
  Tensor x;
  Tensor y = reshaped(x, {2, 3}, ReshapeMode::error);
};

class ErrorsOfWrites : public Errors, public testing::WithParamInterface<void (*)(Tensor&)> {};

INSTANTIATE_TEST_SUITE_P(
    All, ErrorsOfWrites,
    testing::Values(
        +[](Tensor& y) { fill_(y, 5, line(12)); }, +[](Tensor& y) { zero_(y, line(12)); },
        +[](Tensor& y) { copy_(y, Tensor::zeros({3}, DType::f64), line(12)); },
        +[](Tensor& y) { add_(y, 5, line(12)); }, +[](Tensor& y) { exp_(y, line(12)); },
        +[](Tensor& y) {
          y.set_at<float>({0, 0}, 5, line(12));
        },
        +[](Tensor& y) { *y.mutable_data<float>(Wait::allowed, line(12)) = 5; },
        +[](Tensor& y) { static_cast<void>(y.mutable_raw_data(Wait::allowed, line(12))); },
        +[](Tensor& y) { mutable_accessor<float, 2>(y, line(12))(0, 0) = 5; },
        +[](Tensor& y) {
          copy_(y, y.flatten().view({2, 3}).lazy_clone(line(12)), line(12));
        }));

TEST_P(ErrorsOfWrites, a_write_is_thrown_before_anything_changed_and_goes_through_again) {
  fill_(x, 2, line(11));
  const Tensor shares = x.lazy_clone(line(14));
  EXPECT_THROW(GetParam()(y), ReshapeViolation);
  EXPECT_EQ(values_of(x), std::vector<float>(6, 2.0F));
  EXPECT_TRUE(x.storage().shares_data_with(shares.storage())) << "nothing was made writable";
  EXPECT_EQ(shadow::summary().untracked_escapes, 0U);
  EXPECT_NO_THROW(static_cast<void>(x.clone(line(13)))) << "there was no write to be told of";
  EXPECT_NO_THROW(GetParam()(y));
  EXPECT_THROW(static_cast<void>(x.clone(line(13))), ReshapeViolation);
  EXPECT_EQ(values_of(shares), std::vector<float>(6, 2.0F));
  EXPECT_EQ(reports.count(), 0U) << "what is thrown is not told as well";
}

TEST_F(Errors, what_is_refused_anyway_has_read_nothing) {
  fill_(x, 2, line(11));
  EXPECT_THROW(add_(y, Tensor::zeros({4}, DType::f32), line(12)), ShapeError);
  EXPECT_THROW(static_cast<void>(add(y, Tensor::zeros({4}, DType::f32), line(12))), ShapeError);
  EXPECT_THROW(static_cast<void>(sum(y, {7}, false, line(12))), ShapeError);
  EXPECT_THROW(static_cast<void>(matmul(y, y, line(12))), ShapeError);
  EXPECT_THROW(static_cast<void>(cat({y, Tensor::zeros({4}, DType::f32)}, 0, line(12))),
               ShapeError);
  EXPECT_THROW(static_cast<void>(y.at<double>({0, 0}, line(12))), DTypeError);
  EXPECT_THROW(static_cast<void>(y.reshape({7}, line(12))), ShapeError);
  EXPECT_THROW(static_cast<void>(y.t().reshape({7}, line(12))), ShapeError);
  EXPECT_THROW(static_cast<void>(y.clone(line(12))), ReshapeViolation) << "it was not told before";
}

TEST_F(Errors, a_read_is_thrown_once) {
  fill_(x, 2, line(11));
  EXPECT_THROW(static_cast<void>(y.at<float>({0, 0}, line(12))), ReshapeViolation);
  EXPECT_EQ(y.at<float>({0, 0}, line(12)), 2);
}

TEST_F(Errors, the_error_says_all_three_lines) {
  fill_(x, 2, line(11));
  try {
    static_cast<void>(y.clone(line(12)));
    FAIL() << "nothing was thrown";
  } catch (const ReshapeViolation& error) {
    const std::string text = error.what();
    for (const char* const number : {":10", ":11", ":12"}) {
      EXPECT_NE(text.find(model_file + std::string(number)), std::string::npos) << text;
    }
  }
}

TEST_F(Errors, operands_are_thrown_one_after_the_other_and_nothing_is_written) {
  Tensor z = reshaped(x, {2, 3}, ReshapeMode::error);
  Tensor sum = Tensor::zeros({2, 3}, DType::f32);
  fill_(x, 2, line(11));
  EXPECT_THROW(add_(sum, y, line(12)), ReshapeViolation);
  EXPECT_EQ(values_of(sum), std::vector<float>(6, 0.0F));
  EXPECT_THROW(add_(y, z, line(12)), ReshapeViolation);  // z; y was told
  EXPECT_NO_THROW(static_cast<void>(x.clone(line(13))));
  add_(y, z, line(12));
  EXPECT_EQ(values_of(y), std::vector<float>(6, 4.0F));
}

TEST_F(Errors, a_reshape_that_copies_is_thrown_and_leaves_the_tensor_as_it_was) {
  Tensor transposed = y.t();
  fill_(x, 2, line(11));
  EXPECT_THROW(transposed.reshape_({6}, line(12)), ReshapeViolation);
  EXPECT_EQ(to_string(transposed.sizes()), "[3, 2]");
  EXPECT_TRUE(transposed.is_of_view_family(y));
  transposed.reshape_({6}, line(12));
  EXPECT_EQ(values_of(transposed), std::vector<float>(6, 2.0F));
}

TEST_F(Errors, what_had_no_memory_has_none_after) {
  Tensor target(Device::cpu());
  target.resize({2, 3});
  fill_(x, 2, line(11));
  EXPECT_THROW(copy_(target, y, line(12)), ReshapeViolation);
  EXPECT_FALSE(target.is_storage_initialized());
  EXPECT_FALSE(target.is_dtype_initialized());
  copy_(target, y, line(12));
  EXPECT_EQ(values_of(target), std::vector<float>(6, 2.0F));
}

TEST_F(Errors, silence_is_kept) {
  fill_(x, 2, line(11));
  const shadow::ScopedSuppression suppression;
  EXPECT_EQ(y.at<float>({0, 0}, line(12)), 2);
  EXPECT_EQ(shadow::summary().suppressed, 1U);
}

TEST_F(Errors, a_family_that_joins_by_share_data_is_told_as_the_others) {
  Tensor joined = Tensor::zeros({3, 2}, DType::f32);
  joined.share_data(y);
  fill_(x, 2, line(11));
  EXPECT_THROW(static_cast<void>(joined.clone(line(12))), ReshapeViolation);
  EXPECT_NO_THROW(static_cast<void>(y.clone(line(13)))) << "one family, told once";
}

class ErrorsOnDevices : public Errors {
 protected:
  ErrorsOnDevices() : Errors(FakeDevice::first().device()) {}
};

TEST_F(ErrorsOnDevices, a_copy_to_a_device_is_thrown_before_it) {
  const Tensor source = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  fill_(x, 2, line(11));
  const int uploads = FakeDevice::first().uploads;
  EXPECT_THROW(copy_(y, source, line(12)), ReshapeViolation);
  EXPECT_EQ(FakeDevice::first().uploads, uploads);
  EXPECT_NO_THROW(static_cast<void>(x.to(Device::cpu(), line(13))));
  copy_(y, source, line(12));
  EXPECT_THROW(static_cast<void>(x.to(Device::cpu(), line(13))), ReshapeViolation);
  EXPECT_EQ(x.to(Device::cpu(), line(13)).at<float>({5}), 6);
}

TEST_F(ErrorsOnDevices, a_copy_that_fails_is_no_write_and_leaves_what_was_not_read) {
  Tensor z = reshaped(x, {2, 3});
  fill_(x, 2, line(11));
  FakeDevice::first().fails_to_upload = true;
  EXPECT_THROW(fill_(z, 3, line(12)), DeviceError);
  FakeDevice::first().fails_to_upload = false;
  EXPECT_EQ(reports.only().access.site.line, 12U);
  static_cast<void>(x.to(Device::cpu(), line(13)));
  EXPECT_EQ(reports.count(), 1U) << "there was no write to be told of";
  static_cast<void>(z.to(Device::cpu(), line(14)));
  ASSERT_EQ(reports.count(), 2U) << "z was not replaced";
  EXPECT_EQ(reports.all()[1].write.site.line, 11U);
}

}  // namespace
}  // namespace byre::test
