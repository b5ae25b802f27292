// SPDX-License-Identifier: BSL-1.0
/// Accessors, and mdspans where there are any.
#include "elements_support.hpp"
#include "fake_device.hpp"

#include <byre/tensor/accessor.hpp>

namespace byre_test {
namespace {

template <class T>
class AccessorTest : public testing::Test {};
TYPED_TEST_SUITE(AccessorTest, AllTypes);

TYPED_TEST(AccessorTest, reads_what_at_reads) {
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
  EXPECT_TRUE(is_same((byre::accessor<TypeParam, 0>(telling<TypeParam>({}, 1))()),
                      telling_value<TypeParam>(1)));
}

TEST(AccessorTest, writing_materializes_and_reading_does_not) {
  Tensor x = telling<float>({2, 3});
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

TEST(AccessorTest, the_wrong_count_type_state_or_device_is_refused) {
  FakeDevice::instance();
  Tensor x = telling<float>({2, 3});
  EXPECT_EQ(refusal<byre::ShapeError>([&] { byre::accessor<float, 1>(x); }),
            "accessor: for 1 dimensions, of a tensor that has 2, [2, 3]. Name as many as it has.");
  EXPECT_THROW((byre::mutable_accessor<float, 3>(x)), byre::ShapeError);
  EXPECT_THROW((byre::accessor<double, 2>(x)), byre::DTypeError);
  EXPECT_EQ(refusal<byre::DeviceError>([&] { byre::accessor<float, 2>(x.to(fake_device)); }),
            "accessor: the tensor is on device 7:0 (inverting), whose memory the host cannot "
            "address. Copy it with to(Device::cpu()).");
  x.free_memory();
  EXPECT_THROW((byre::accessor<float, 2>(x)), byre::StateError);
}

#if !defined(NDEBUG)
TEST(AccessorDeathTest, an_index_out_of_range_ends_a_program_that_is_not_a_release) {
  const Tensor x = telling<float>({2, 3});
  const auto elements = byre::accessor<float, 2>(x);
  EXPECT_DEATH(static_cast<void>(elements(0, 3)), "an accessor was used out of its range");
  EXPECT_DEATH(static_cast<void>(elements(-1, 0)), "an accessor was used out of its range");
}
#endif

#if defined(__cpp_lib_mdspan)
TEST(MdspanTest, sees_the_same_elements) {
  Tensor x = telling<std::int32_t>({4, 3}).t();
  const auto elements = byre::as_mdspan<std::int32_t, 2>(x);
  expect_elements<std::int32_t>(x, {3, 4}, [&](const Dims& indices) {
    const std::array<std::int64_t, 2> index{indices[0], indices[1]};
    return elements[index];
  });
  const auto writable = byre::as_mutable_mdspan<std::int32_t, 2>(x);
  writable[std::array<std::int64_t, 2>{2, 3}] = 42;
  EXPECT_EQ(x.at<std::int32_t>({2, 3}), 42);
  EXPECT_THROW((byre::as_mdspan<std::int32_t, 2>(telling<std::int32_t>({1, 3}).expand({2, 3}))),
               byre::ShapeError);
}
#endif

}  // namespace
}  // namespace byre_test
