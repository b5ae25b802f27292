// SPDX-License-Identifier: BSL-1.0
/// Accessors, and their strides in the form that std::mdspan requires. The unit tests are compiled
/// as C++20, which lacks std::mdspan; a C++23 program in tests/embedding uses std::mdspan.
#include "elements_support.hpp"
#include "support/tensor/fake_device.hpp"

#include <byre/tensor/accessor.hpp>

#include <cstdint>
#include <initializer_list>

namespace byre::test {
namespace {

template <class T>
class AccessorTest : public testing::Test {};
TYPED_TEST_SUITE(AccessorTest, AllTypes);

TYPED_TEST(AccessorTest, an_accessor_reads_the_elements_that_at_returns) {
  for (const Sample& sample : samples_of_3_by_4<TypeParam>()) {
    SCOPED_TRACE(sample.name);
    const auto elements = byre::accessor<TypeParam, 2>(sample.tensor);
    EXPECT_EQ(elements.size(0), 3);
    EXPECT_EQ(elements.size(1), 4);
    EXPECT_EQ(elements.stride(0), sample.tensor.strides()[0]);
    expect_elements<TypeParam>(sample.tensor, {3, 4}, [&](const Dims& indices) {
      return elements(indices[0], indices[1]);
    });
  }
  EXPECT_TRUE(is_same((byre::accessor<TypeParam, 0>(test_values<TypeParam>({}, 1))()),
                      test_value<TypeParam>(1)));
}

TEST(AccessorTest, writing_materializes_and_reading_does_not) {
  Tensor x = test_values<float>({2, 3});
  const Tensor clone = x.lazy_clone();
  static_cast<void>(byre::accessor<float, 2>(x));
  EXPECT_TRUE(x.storage().shares_data_with(clone.storage()));
  byre::mutable_accessor<float, 2>(x)(1, 2) = 42;
  EXPECT_EQ(x.at<float>({1, 2}), 42);
  EXPECT_NE(clone.at<float>({1, 2}), 42);
  x.free_memory();
  byre::mutable_accessor<float, 2>(x)(0, 0) = 1;
  EXPECT_EQ(x.at<float>({0, 0}), 1);
}

TEST(AccessorTest, a_wrong_ndim_dtype_state_or_device_is_rejected) {
  Tensor x = test_values<float>({2, 3});
  EXPECT_EQ(complaint_of<byre::ShapeError>([&] { byre::accessor<float, 1>(x); }),
            "accessor: 1 dimensions requested, the tensor has 2: [2, 3]. Request 2.");
  EXPECT_THROW((byre::mutable_accessor<float, 3>(x)), byre::ShapeError);
  EXPECT_THROW((byre::accessor<double, 2>(x)), byre::DTypeError);
  EXPECT_EQ(complaint_of<byre::DeviceError>(
                [&] { byre::accessor<float, 2>(x.to(FakeDevice::first().device())); }),
            "accessor: the tensor is on device 1:1 (fake), required is the host. Copy it by "
            "to(Device::cpu()).");
  x.free_memory();
  EXPECT_THROW((byre::accessor<float, 2>(x)), byre::StateError);
}

TEST(StridesForMdspan, equal_the_strides_of_the_view_for_sizes_above_1) {
  const auto strides_of = [](const byre::Layout& layout) {
    return to_string(byre::detail::strides_for_mdspan(layout, "test"));
  };
  EXPECT_EQ(strides_of({{1, 4}, {0, 3}}), "[1, 3]");
  EXPECT_EQ(strides_of({{2, 1, 2}, {2, 99, 1}}), "[2, 1, 1]");
  EXPECT_EQ(strides_of({{2, 3}, {3, 1}}), "[3, 1]") << "dense";
  EXPECT_EQ(strides_of({{3, 2, 2}, {4, 24, 1}}), "[4, 24, 1]") << "with a gap, in another order";
  EXPECT_EQ(strides_of({{3, 0}, {0, 1}}), "[1, 1]") << "without elements";
  for (const byre::Layout& odd : std::initializer_list<byre::Layout>{
           {{3}, {0}}, {{2, 3}, {1, 1}}, {{2, 2}, {3, 2}}, {{3, 2, 2}, {4, 11, 1}}}) {
    EXPECT_THROW(strides_of(odd), byre::ShapeError) << to_string(odd.sizes);
  }
  EXPECT_EQ(
      complaint_of<byre::ShapeError>([&] {
        strides_of({{2, 3}, {5, 2}});
      }),
      "test: std::mdspan cannot express sizes [2, 3] with strides [5, 2]: elements share memory "
      "or interleave. Use an accessor, or clone() the tensor first.");
}

#if !defined(NDEBUG)
TEST(AccessorDeathTest, an_index_out_of_range_aborts_unless_ndebug_is_defined) {
  const Tensor x = test_values<float>({2, 3});
  const auto elements = byre::accessor<float, 2>(x);
  EXPECT_DEATH(static_cast<void>(elements(0, 3)), "accessor index out of range");
  EXPECT_DEATH(static_cast<void>(elements(-1, 0)), "accessor index out of range");
}
#endif

}  // namespace
}  // namespace byre::test
