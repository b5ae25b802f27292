// SPDX-License-Identifier: BSL-1.0
/// Error mode, and what is refused or fails: nothing was accessed then. accesses_test.cpp has what is
/// thrown by each operation, programs_test.cpp what the error says, and tests/equivalence that the access goes through
/// when it is tried again.
#include "tracked.hpp"

namespace byre::test {
namespace {

/// y = x.reshape({2, 3}) in error mode, and x was written since, at line 11.
class Errors : public testing::Test {
 protected:
  Errors() { write(x, site(11)); }

  const CaughtReports reports;
  Tensor x = Tensor::zeros({6}, DType::f32);
  const Tensor y = reshaped(x, {2, 3}, ReshapeMode::error);
};

TEST_F(Errors, come_after_what_is_refused_anyway) {
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

TEST_F(Errors, leave_a_tensor_without_memory_as_it_was) {
  Tensor target(Device::cpu());
  target.resize({2, 3});
  EXPECT_THROW(copy_(target, y, site(12)), ReshapeViolation);
  EXPECT_FALSE(target.is_storage_initialized());
  EXPECT_FALSE(target.is_dtype_initialized());
  copy_(target, y, site(12));
  EXPECT_EQ(values_of(target), std::vector<float>(6, 7.0F));
}

}  // namespace
}  // namespace byre::test
