// SPDX-License-Identifier: BSL-1.0
/// What gives a tensor memory, takes it, or exchanges it, where families share a storage; and what is refused or fails,
/// where nothing was accessed then. accesses_test.cpp has what each operation throws in error mode, programs_test.cpp
/// what the error says, and tests/equivalence that the access goes through when it is tried again.
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

class Resize : public Tracked {
 protected:
  /// A write that y has not observed, at line 11, by a tensor that is gone: y is alone with the storage.
  void write_and_leave_alone() {
    write(x, site(11));
    x = Tensor();
  }
};

TEST_F(Resize, of_what_families_share_is_refused) {
  EXPECT_THROW(y.free_memory(), StateError);
  EXPECT_THROW(y.realize(DType::f64), StateError);
  EXPECT_THROW(y.resize({4, 3}), StateError);
  EXPECT_THROW(y.reserve({4, 3}), StateError);
  EXPECT_THROW(y.extend(1), StateError);
  EXPECT_TRUE(y.aliases(x));
  EXPECT_FALSE(y.is_of_view_family(x));
  y.resize({1, 3});
  EXPECT_TRUE(y.aliases(x)) << "of fewer it stays";
  write(x, site(11));
  read(y, site(12));
  EXPECT_EQ(to_string(reports.only().access.shape), "[1, 3]");
}

TEST_F(Resize, to_other_memory_leaves_the_family) {
  alignas(64) static float values[6] = {};
  for (void (*const change)(Tensor&) :
       {+[](Tensor& tensor) {
          tensor.free_memory().reserve({2, 3});
        },
        +[](Tensor& tensor) { tensor.realize(DType::f64); },
        +[](Tensor& tensor) { tensor.share_external(values, DType::f32, [](void*) {}); },
        +[](Tensor& tensor) {
          const Tensor clone = tensor.lazy_clone();
          tensor.reserve({4, 3});
        }}) {
    Tensor tensor = reshaped(Tensor::zeros({6}, DType::f32), {2, 3});
    change(tensor);
    const Tensor first = Tensor::over(tensor.storage(), tensor.sizes(), tensor.dtype());
    EXPECT_TRUE(tensor.is_of_view_family(first)) << "for that which its storage begins with";
  }
}

TEST_F(Resize, that_moves_bools_reads_also_what_are_no_elements_now) {
  Tensor whole = Tensor::zeros({4}, DType::boolean);
  Tensor square = reshaped(whole, {2, 2});
  whole.set_at<bool>({0}, true, site(11));
  whole = Tensor();
  square.resize({0, 2}).reserve({3, 2}, site(12)).resize({2, 2});
  EXPECT_EQ(reports.only().access.site.line, 12U);
  EXPECT_TRUE(square.at<bool>({0, 0}, site(13))) << "a copy would have been false";
  EXPECT_EQ(reports.count(), 1U);
}

TEST_F(Resize, away_from_a_lazy_clone_reads_as_well) {
  write(x, site(11));
  const Tensor clone = x.lazy_clone(site(14));  // so that what y has is moved to a new storage
  x = Tensor();
  y.reserve({4, 3}, site(12));
  EXPECT_EQ(reports.only().access.site.line, 12U);
  EXPECT_EQ(y.at<float>({0, 0}, site(13)), 7);
  EXPECT_EQ(reports.count(), 1U);
}

TEST_F(Resize, that_is_thrown_for_changes_nothing) {
  Tensor z = reshaped(x, {2, 3}, ReshapeMode::error);
  write_and_leave_alone();
  y = Tensor();
  EXPECT_THROW(z.extend(1, 40, site(12)), ReshapeViolation);
  EXPECT_EQ(to_string(z.sizes()), "[2, 3]");
  EXPECT_EQ(z.storage().nbytes(), 6 * sizeof(float));
  z.extend(1, 40, site(12));
  EXPECT_EQ(to_string(z.sizes()), "[3, 3]");
}

}  // namespace
}  // namespace byre::test
