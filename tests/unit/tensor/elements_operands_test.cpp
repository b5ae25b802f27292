// SPDX-License-Identifier: BSL-1.0
/// Unusual operands: bools whose bytes are neither 0 nor 1, tensors without elements or without
/// memory, and operands that share memory with the output. elements_in_place_test.cpp tests random
/// cases of shared memory.
#include "elements_support.hpp"

#include <byre/tensor/elements/detail/overlap.hpp>
#include <byre/tensor/print.hpp>

#include <cstring>

#include "support/random.hpp"

namespace byre::test {
namespace {

using byre::Layout;
using byre::detail::Extent;

/// The elements of a tensor in row-major order.
template <class T>
std::vector<T> bytes_of(const Tensor& tensor) {
  const Tensor contiguous = tensor.contiguous();
  EXPECT_EQ(contiguous.dtype(), byre::dtype_of<T>);
  std::vector<T> bytes(static_cast<std::size_t>(contiguous.numel()));
  std::memcpy(bytes.data(), contiguous.raw_data(), contiguous.nbytes());
  return bytes;
}

/// The bytes of a tensor of bools.
std::vector<std::uint8_t> bytes_of_bool(const Tensor& tensor) {
  EXPECT_EQ(tensor.dtype(), DType::boolean);
  return bytes_of<std::uint8_t>(tensor.view(DType::u8));
}

using Bytes = std::vector<std::uint8_t>;

/// A tensor of bools with the bytes 0, 1, 2 and 255, and a tensor of these bytes.
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

TEST_F(BoolBytesTest, bytes_other_than_0_are_true_in_every_operation) {
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

TEST_F(BoolBytesTest, copies_and_in_place_operations_write_only_0_and_1) {
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

/// Tensors without elements: two with strides that would overflow in bytes, and two without memory.
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

TEST(NoElementsTest, every_operation_accepts_a_tensor_without_elements) {
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

TEST(NoElementsTest, sums_and_matrix_products_over_no_elements_are_zero) {
  Tensor x = Tensor::zeros({3, 0}, DType::f32);
  x.free_memory();
  EXPECT_EQ(bytes_of<float>(sum(x, {1})), (std::vector<float>{0, 0, 0}));
  Tensor stack = Tensor::zeros({2, 0, 3}, DType::f32);
  stack.free_memory();
  const Tensor row = Tensor::zeros({3, 1}, DType::f32);
  EXPECT_EQ(matmul(stack, row).sizes(), (Dims{2, 0, 1}));
  const Tensor other = stack.movedim({1}, {2});
  EXPECT_EQ(bytes_of<float>(matmul(other, stack)), std::vector<float>(18, 0.0F));
}

TEST(NoDtypeTest, copy_sets_a_missing_dtype_to_the_dtype_of_the_source) {
  Tensor x = Tensor(byre::Device::cpu()).resize({3});
  EXPECT_THROW(copy_(x, Tensor::zeros({2}, DType::bf16)), byre::ShapeError);
  EXPECT_FALSE(x.is_dtype_initialized());
  copy_(x, Tensor::of<byre::BFloat16>({1}, {byre::BFloat16(2.0F)}));
  EXPECT_EQ(bytes_of<byre::BFloat16>(x), std::vector(3, byre::BFloat16(2.0F)));
}

TEST(Overlap, slices_along_one_dimension_do_not_overlap) {
  Random random(seed());
  for (int round = 0; round < 3'000; ++round) {
    const Dims sizes{random.number<std::int64_t>(1, 5), random.number<std::int64_t>(1, 5),
                     random.number<std::int64_t>(1, 5)};
    const Layout whole = byre::contiguous_layout(sizes, "test");
    const std::int64_t axis = random.number<std::int64_t>(0, 2);
    const std::int64_t size = sizes[static_cast<std::size_t>(axis)];
    const std::int64_t cut = random.number<std::int64_t>(0, size);
    const auto part = [&](std::int64_t start, std::int64_t end) {
      Layout layout = byre::views::slice(whole, axis, start, end);
      const auto first = static_cast<std::uint64_t>(4096 + layout.offset * 4);
      return Extent{first, byre::views::permute(layout, {2, 0, 1}), 4};
    };
    ASSERT_EQ(byre::detail::overlap_of(part(0, cut), part(cut, size)), byre::detail::Overlap::none)
        << to_string(sizes) << " along " << axis << " at " << cut;
    ASSERT_EQ(byre::detail::overlap_of(part(cut, size), part(0, cut)), byre::detail::Overlap::none)
        << to_string(sizes) << " along " << axis << " at " << cut;
  }
}

TEST(Overlap, overlap_is_same_if_address_layout_and_itemsize_are_equal) {
  const Extent words{4096, byre::contiguous_layout({4}, "test"), 4};
  const Extent first_bytes{4096, {.sizes = {4}, .strides = {4}}, 1};
  EXPECT_EQ(byre::detail::overlap_of(words, words), byre::detail::Overlap::same);
  EXPECT_EQ(byre::detail::overlap_of(words, first_bytes), byre::detail::Overlap::partial);
  Tensor x = Tensor::of<float>({2}, {1, -2});
  copy_(x, x.view(DType::i32));  // a conversion, not a copy
  EXPECT_EQ(x.at<float>({0}), 0x3F80'0000);
}

TEST(InPlaceTest, interleaved_views_do_not_overlap) {
  const Tensor x = test_values<std::int32_t>({6, 8});
  for (const auto& [written, read] :
       {std::pair(x.slice(0, 0, 6, 2), x.slice(0, 1, 6, 2)),
        std::pair(x.slice(1, 0, 8, 2), x.slice(1, 1, 8, 2)),
        std::pair(x.select(1, 0), x.select(1, 1)), std::pair(x.narrow(1, 0, 4), x.narrow(1, 4, 4)),
        std::pair(x.narrow(0, 0, 3), x.narrow(0, 3, 3)),
        std::pair(x.diagonal(), x.diagonal(1).narrow(0, 0, 6)),
        std::pair(x.slice(0, 0, 6, 2), x.select(0, 1))}) {
    EXPECT_NO_THROW(add_(written, read));  // elements_in_place_test.cpp tests the result
  }
}

/// Tests the message. elements_in_place_test.cpp tests which operands are rejected, and that a
/// rejected operation changes nothing.
TEST(InPlaceTest, a_partially_overlapping_operand_is_rejected) {
  Tensor x = test_values<float>({4, 4});
  EXPECT_EQ(complaint_of<byre::ShapeError>([&] { add_(x, x.t()); }),
            "add_: an operand of sizes [4, 4] and strides [1, 4] partially overlaps the written "
            "tensor, of sizes [4, 4] and strides [4, 1], and would be read after the write. Call "
            "clone() on the operand first.");
  EXPECT_THROW(add_(x, x.select(0, 1).select(0, 2)), byre::ShapeError);
  EXPECT_THROW(add_(x, x.view(DType::u8).narrow(1, 3, 4)), byre::ShapeError);
}

TEST(InPlaceTest, overlap_of_memory_borrowed_twice_is_detected) {
  std::array<float, 5> memory{1, 2, 3, 4, 5};
  const auto over = [&](std::size_t from) {
    return Tensor::over(
        byre::Storage(byre::Buffer::borrow(memory.data() + from, 4 * sizeof(float))), {4},
        DType::f32);
  };
  Tensor front = over(0);
  EXPECT_THROW(add_(front, over(1)), byre::ShapeError);
  add_(front, over(0));
  EXPECT_EQ(memory, (std::array<float, 5>{2, 4, 6, 8, 5}));
}

TEST(InPlaceTest, a_write_to_elements_that_share_memory_is_rejected) {
  Tensor rows = test_values<float>({1, 3}).expand({2, 3});
  EXPECT_EQ(complaint_of<byre::ShapeError>([&] { relu_(rows); }),
            "relu_: elements of the written tensor share memory: sizes [2, 3], strides [0, 1], as "
            "after expand() or as_strided(). Call clone() on it first.");
  EXPECT_THROW(fill_(rows, 1), byre::ShapeError);
}

TEST(InPlaceTest, the_written_tensor_never_broadcasts) {
  Tensor row = test_values<float>({1, 3});
  EXPECT_EQ(
      complaint_of<byre::ShapeError>([&] {
        add_(row, test_values<float>({2, 3}));
      }),
      "add_: an operand of sizes [2, 3] does not broadcast to the sizes of the written tensor, "
      "[1, 3]. Use the operation that returns a new tensor.");
  EXPECT_THROW(copy_(row, test_values<float>({2, 3})), byre::ShapeError);
  EXPECT_THROW(copy_(row, test_values<float>({1, 1, 3})), byre::ShapeError);
  EXPECT_EQ(complaint_of<byre::ShapeError>([&] {
              add(row, test_values<float>({2, 4}));
            }),
            "add: sizes [1, 3] and [2, 4] do not broadcast: counted from the last dimension, two "
            "sizes must be equal or one of them 1. Change one operand by view() or unsqueeze().");
}

TEST(InPlaceTest, operands_that_are_only_read_are_not_materialized) {
  const Tensor x = test_values<float>({64});
  const Tensor y = x.lazy_clone();
  add(x, y);
  sum(x);
  matmul(x, y);
  EXPECT_TRUE(x.storage().shares_data_with(y.storage()));
}

}  // namespace
}  // namespace byre::test
