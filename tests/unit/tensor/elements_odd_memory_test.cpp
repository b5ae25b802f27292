// SPDX-License-Identifier: BSL-1.0
/// Operations on memory that is unusual: bool of other bytes than 0 and 1, none at all, and none yet.
#include "elements_support.hpp"

#include <byre/tensor/print.hpp>

#include <cstring>

namespace byre::test {
namespace {

/// A tensor's elements, each byte of which counts.
template <class T>
std::vector<T> bytes_of(const Tensor& tensor) {
  const Tensor contiguous = tensor.contiguous();
  EXPECT_EQ(contiguous.dtype(), byre::dtype_of<T>);
  std::vector<T> bytes(static_cast<std::size_t>(contiguous.numel()));
  std::memcpy(bytes.data(), contiguous.raw_data(), contiguous.nbytes());
  return bytes;
}

/// Of bool.
std::vector<std::uint8_t> bytes_of_bool(const Tensor& tensor) {
  EXPECT_EQ(tensor.dtype(), DType::boolean);
  return bytes_of<std::uint8_t>(tensor.view(DType::u8));
}

using Bytes = std::vector<std::uint8_t>;

/// Bools, and the same storage as bytes, by which they are made others than 0 and 1.
struct OddBools {
  Tensor bytes = Tensor::zeros({4}, DType::u8);
  Tensor bools = Tensor::over(bytes.storage(), {4}, DType::boolean);

  OddBools() { copy_(bytes, Tensor::of<std::uint8_t>({4}, {0, 1, 2, 255})); }
};

class BoolBytesTest : public testing::Test {
 protected:
  const Tensor odd_ = OddBools().bools;
  const Tensor yes_ = Tensor::of<bool>({4}, {true, true, true, true});
  const Tensor no_ = Tensor::zeros({4}, DType::boolean);
};

TEST_F(BoolBytesTest, all_but_0_are_true_to_every_operation) {
  EXPECT_EQ(bytes_of_bool(eq(odd_, yes_)), (Bytes{0, 1, 1, 1}));
  EXPECT_EQ(bytes_of_bool(ge(odd_, yes_)), (Bytes{0, 1, 1, 1}));
  EXPECT_EQ(bytes_of_bool(add(odd_, no_)), (Bytes{0, 1, 1, 1}));
  EXPECT_EQ(bytes_of_bool(mul(yes_, odd_)), (Bytes{0, 1, 1, 1}));
  EXPECT_EQ(bytes_of<float>(exp(mul(odd_, 0.0))), (std::vector<float>{1, 1, 1, 1}));
  EXPECT_EQ(bytes_of_bool(where(odd_, yes_, no_)), (Bytes{0, 1, 1, 1}));
  EXPECT_EQ(bytes_of_bool(where(yes_, odd_, no_)), (Bytes{0, 1, 1, 1}));
  EXPECT_EQ(bytes_of_bool(matmul(odd_.view({4, 1}), yes_.view({1, 4}).narrow(1, 0, 1))),
            (Bytes{0, 1, 1, 1}));
  EXPECT_EQ(bytes_of_bool(byre::cat({odd_, no_})), (Bytes{0, 1, 1, 1, 0, 0, 0, 0}));
  EXPECT_EQ(sum(odd_).at<std::int64_t>({}), 3);
  EXPECT_EQ(bytes_of<std::int64_t>(add(odd_, 1)), (std::vector<std::int64_t>{1, 2, 2, 2}));
  EXPECT_EQ(to_string(odd_), "[False  True  True  True]");
}

TEST_F(BoolBytesTest, copies_and_operations_in_place_leave_0_and_1) {
  Tensor written = no_.clone();
  EXPECT_EQ(bytes_of_bool(copy_(written, odd_)), (Bytes{0, 1, 1, 1}));
  EXPECT_EQ(bytes_of_bool(copy_(written, odd_.narrow(0, 2, 1))), (Bytes{1, 1, 1, 1}));
  Tensor spread = Tensor::zeros({8}, DType::boolean);
  Tensor part = spread.slice(0, 0, 8, 2);
  copy_(part, odd_);
  EXPECT_EQ(bytes_of_bool(spread), (Bytes{0, 0, 1, 0, 1, 0, 1, 0}));
  OddBools own;
  add_(own.bools, no_);
  EXPECT_EQ(bytes_of<std::uint8_t>(own.bytes), (Bytes{0, 1, 1, 1}));
}

/// With strides whose bytes cannot be counted, and without memory.
std::vector<Sample> tensors_without_elements(DType dtype) {
  constexpr auto huge = static_cast<std::int64_t>(byre::max_nbytes / 4);
  std::vector<Sample> samples{
      {"huge", Tensor::empty({0, huge, 2}, dtype)},
      {"huge, transposed", Tensor::empty({2, huge, 0}, dtype).transpose(0, 2)},
      {"freed", Tensor::empty({3, 0}, dtype)},
      {"freed stack", Tensor::empty({2, 0, 3}, dtype)}};
  samples[2].tensor.free_memory();
  samples[3].tensor.free_memory();
  return samples;
}

TEST(NoElementsTest, every_operation_has_a_result_without_elements) {
  for (Sample& sample : tensors_without_elements(DType::f64)) {
    SCOPED_TRACE(sample.name);
    Tensor& x = sample.tensor;
    EXPECT_EQ(add(x, x).sizes(), x.sizes());
    EXPECT_EQ(add(x, 1).sizes(), x.sizes());
    EXPECT_EQ(add_(x, x).numel(), 0);
    EXPECT_EQ(eq(x, x).dtype(), DType::boolean);
    EXPECT_EQ(where(eq(x, x), x, 1).numel(), 0);
    EXPECT_EQ(exp(x).numel(), 0);
    EXPECT_EQ(copy_(x, x.clone()).numel(), 0);
    EXPECT_EQ(fill_(x, 1).numel(), 0);
    EXPECT_EQ(byre::cat({x, x}, 0).numel(), 0);
    EXPECT_EQ(sum(x).at<double>({}), 0);
    EXPECT_EQ(x.clone().sizes(), x.sizes());
  }
}

TEST(NoElementsTest, sums_and_products_of_nothing_are_zero) {
  Tensor x = Tensor::zeros({3, 0}, DType::f32);
  x.free_memory();
  EXPECT_EQ(bytes_of<float>(sum(x, {1})), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(sum(x, {0}).numel(), 0);
  Tensor stack = Tensor::zeros({2, 0, 3}, DType::f32);
  stack.free_memory();
  const Tensor row = Tensor::zeros({3, 1}, DType::f32);
  EXPECT_EQ(matmul(stack, row).sizes(), (Dims{2, 0, 1}));
  const Tensor other = stack.movedim({1}, {2});
  EXPECT_EQ(bytes_of<float>(matmul(other, stack)), std::vector<float>(18, 0.0F));
}

TEST(NoDtypeTest, copying_gives_the_dtype_and_filling_wants_one) {
  Tensor x = Tensor(byre::Device::cpu()).resize({3});
  EXPECT_EQ(
      complaint_of<byre::StateError>([&] { fill_(x, 1); }),
      "fill_: the tensor [3] is dtype-uninitialized. Call realize(dtype) or mutable_data<T>() "
      "first.");
  EXPECT_TRUE(complaint_of<byre::StateError>([&] { zero_(x); }).starts_with("zero_: "));
  EXPECT_THROW(copy_(x, Tensor::zeros({2}, DType::bf16)), byre::ShapeError);
  EXPECT_FALSE(x.is_dtype_initialized());
  copy_(x, Tensor::of<byre::BFloat16>({1}, {byre::BFloat16(2.0F)}));
  EXPECT_EQ(bytes_of<byre::BFloat16>(x), std::vector(3, byre::BFloat16(2.0F)));
}

}  // namespace
}  // namespace byre::test
