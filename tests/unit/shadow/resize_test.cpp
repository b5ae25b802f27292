// SPDX-License-Identifier: BSL-1.0
/// Operations that give a tensor memory, free it or replace it, while families share the storage.
/// An operation that is rejected or fails does not count as an access. accesses_test.cpp tests
/// which operations throw in error mode, programs_test.cpp the violation that they throw, and
/// tests/equivalence that a repeated access succeeds.
#include "tracked.hpp"

namespace byre::test {
namespace {

/// y = x.reshape({2, 3}) in error mode, and x was written after that, at line 11.
class Errors : public testing::Test {
 protected:
  Errors() { write(x, site(11)); }

  const CaughtReports reports;
  Tensor x = Tensor::zeros({6}, DType::f32);
  const Tensor y = reshaped(x, {2, 3}, ReshapeMode::error);
};

TEST_F(Errors, invalid_arguments_are_rejected_and_count_as_no_access) {
  const Tensor four = Tensor::zeros({4}, DType::f32);
  EXPECT_THROW(add_(y, four, site(12)), ShapeError);
  EXPECT_THROW(static_cast<void>(add(y, four, site(12))), ShapeError);
  EXPECT_THROW(static_cast<void>(sum(y, {7}, false, site(12))), ShapeError);
  EXPECT_THROW(static_cast<void>(matmul(y, y, site(12))), ShapeError);
  EXPECT_THROW(static_cast<void>(cat({y, four}, 0, site(12))), ShapeError);
  EXPECT_THROW(static_cast<void>(y.at<double>({0, 0}, site(12))), DTypeError);
  EXPECT_THROW(static_cast<void>(y.reshape({7}, site(12))), ShapeError);
  EXPECT_THROW(static_cast<void>(y.t().reshape({7}, site(12))), ShapeError);
  EXPECT_THROW(read(y, site(12)), ReshapeViolation) << "a rejected operation counted as a read";
}

TEST_F(Errors, a_copy_that_throws_leaves_its_target_without_memory) {
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
  /// Writes x at line 11, then destroys x. Afterwards y is the only owner, and has not observed the
  /// write.
  void write_and_leave_alone() {
    write(x, site(11));
    x = Tensor();
  }
};

TEST_F(Resize, memory_that_families_share_cannot_be_resized) {
  EXPECT_THROW(y.free_memory(), StateError);
  EXPECT_THROW(y.realize(DType::f64), StateError);
  EXPECT_THROW(y.resize({4, 3}), StateError);
  EXPECT_THROW(y.reserve({4, 3}), StateError);
  EXPECT_THROW(y.extend(1), StateError);
  EXPECT_TRUE(y.aliases(x));
  EXPECT_FALSE(y.is_of_view_family(x));
  y.resize({1, 3});
  EXPECT_TRUE(y.aliases(x)) << "expected the shared memory, in which fewer elements fit";
  write(x, site(11));
  read(y, site(12));
  EXPECT_EQ(to_string(reports.only().access.shape), "[1, 3]");
}

TEST_F(Resize, new_memory_belongs_to_its_storages_first_family) {
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
    EXPECT_TRUE(tensor.is_of_view_family(first)) << "expected the first family of the storage";
  }
}

TEST_F(Resize, a_move_to_new_memory_reads_bools_beyond_the_elements) {
  Tensor whole = Tensor::zeros({4}, DType::boolean);
  Tensor square = reshaped(whole, {2, 2});
  whole.set_at<bool>({0}, true, site(11));
  whole = Tensor();
  square.resize({0, 2}).reserve({3, 2}, site(12)).resize({2, 2});
  EXPECT_EQ(reports.only().access.site.line, 12U);
  EXPECT_TRUE(square.at<bool>({0, 0}, site(13)))
      << "expected the aliased value, not that of a copy";
  EXPECT_EQ(reports.count(), 1U);
}

TEST_F(Resize, a_move_to_a_new_storage_counts_as_a_read) {
  write(x, site(11));
  const Tensor clone = x.lazy_clone(site(14));  // so that reserve() moves y to a new storage
  x = Tensor();
  y.reserve({4, 3}, site(12));
  EXPECT_EQ(reports.only().access.site.line, 12U);
  EXPECT_EQ(y.at<float>({0, 0}, site(13)), 7);
  EXPECT_EQ(reports.count(), 1U);
}

TEST_F(Resize, an_extend_that_throws_a_violation_changes_nothing) {
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
