// SPDX-License-Identifier: BSL-1.0
/// What may be written in place beside which operands, and that lazy clones do not notice.
#include "elements_support.hpp"

#include <byre/tensor/elements/detail/overlap.hpp>

#include <set>

#include "support/random.hpp"

namespace byre::test {
namespace {

using byre::Layout;
using byre::detail::Extent;

std::set<std::uint64_t> addresses_of(const Extent& extent) {
  std::set<std::uint64_t> bytes;
  for_each_index(extent.layout.sizes, [&](const Dims& indices) {
    std::uint64_t first = extent.first;
    for (std::size_t axis = 0; axis < indices.size(); ++axis) {
      first +=
          static_cast<std::uint64_t>(indices[axis] * extent.layout.strides[axis] * extent.itemsize);
    }
    for (std::int64_t byte = 0; byte < extent.itemsize; ++byte) {
      bytes.insert(first + static_cast<std::uint64_t>(byte));
    }
  });
  return bytes;
}

bool have_common_bytes(const Extent& a, const Extent& b) {
  const auto in_a = addresses_of(a);
  const auto in_b = addresses_of(b);
  return std::any_of(in_b.begin(), in_b.end(), [&](auto byte) { return in_a.contains(byte); });
}

class OverlapTest : public testing::Test {
 protected:
  std::int64_t random(std::int64_t least, std::int64_t most) { return random_.number(least, most); }

  Extent random_extent() {
    const auto ndim = static_cast<std::size_t>(random(0, 3));
    Layout layout{.sizes = Dims(ndim, 0), .strides = Dims(ndim, 0)};
    for (std::size_t axis = 0; axis < ndim; ++axis) {
      layout.sizes[axis] = random(random(0, 9) == 0 ? 0 : 1, 4);
      layout.strides[axis] = random(0, 12);
    }
    const std::int64_t itemsize = std::int64_t{1} << random(0, 3);
    return {static_cast<std::uint64_t>(1000 + random(0, 40)), layout, itemsize};
  }

 private:
  Random random_{seed()};
};

TEST_F(OverlapTest, no_overlap_is_ever_missed) {
  int found_none = 0;
  for (int round = 0; round < 20'000; ++round) {
    const Extent a = random_extent();
    const Extent b = random_extent();
    if (byre::detail::overlap_of(a, b) == byre::detail::Overlap::none) {
      ++found_none;
      ASSERT_FALSE(have_common_bytes(a, b))
          << a.first << to_string(a.layout.sizes) << to_string(a.layout.strides) << a.itemsize
          << " and " << b.first << to_string(b.layout.sizes) << to_string(b.layout.strides)
          << b.itemsize;
    }
  }
  EXPECT_GT(found_none, 1000);
}

TEST_F(OverlapTest, parts_of_a_tensor_cut_along_one_dimension_are_told_apart) {
  for (int round = 0; round < 3'000; ++round) {
    const Dims sizes{random(1, 5), random(1, 5), random(1, 5)};
    const Layout whole = byre::contiguous_layout(sizes, "test");
    const std::int64_t axis = random(0, 2);
    const std::int64_t size = sizes[static_cast<std::size_t>(axis)];
    const std::int64_t cut = random(0, size);
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

TEST(Overlap, is_the_same_for_elements_of_the_same_bytes_alone) {
  const Extent words{4096, byre::contiguous_layout({4}, "test"), 4};
  const Extent first_bytes{4096, {.sizes = {4}, .strides = {4}}, 1};
  EXPECT_EQ(byre::detail::overlap_of(words, words), byre::detail::Overlap::same);
  EXPECT_EQ(byre::detail::overlap_of(words, first_bytes), byre::detail::Overlap::partial);
  Tensor x = Tensor::of<float>({2}, {1, -2});
  copy_(x, x.view(DType::i32));  // which converts
  EXPECT_EQ(x.at<float>({0}), 0x3F80'0000);
}

TEST(InPlaceTest, parts_that_interleave_are_apart) {
  const Tensor x = telling<std::int32_t>({6, 8});
  for (const auto& [written, read] :
       {std::pair(x.slice(0, 0, 6, 2), x.slice(0, 1, 6, 2)),
        std::pair(x.slice(1, 0, 8, 2), x.slice(1, 1, 8, 2)),
        std::pair(x.select(1, 0), x.select(1, 1)), std::pair(x.narrow(1, 0, 4), x.narrow(1, 4, 4)),
        std::pair(x.narrow(0, 0, 3), x.narrow(0, 3, 3)),
        std::pair(x.diagonal(), x.diagonal(1).narrow(0, 0, 6)),
        std::pair(x.slice(0, 0, 6, 2), x.select(0, 1))}) {
    EXPECT_NO_THROW(add_(written, read));  // elements_in_place_test.cpp says what it computes
  }
}

TEST(InPlaceTest, a_tensor_may_be_its_own_operand) {
  for (const Dims& axes : {Dims{0, 1}, Dims{1, 0}}) {
    Tensor x = telling<float>({3, 300}).permute(axes);
    const Tensor before = x.clone();
    add_(x, x);
    mul_(x, x.alias());
    expect_elements<float>(x, before.sizes(), [&](const Dims& indices) {
      const float twice = at<float>(before, indices) + at<float>(before, indices);
      return twice * twice;
    });
    EXPECT_TRUE(copy_(x, x).aliases(x));
  }
}

TEST(InPlaceTest, an_operand_that_overlaps_in_part_is_refused_and_nothing_changes) {
  Tensor x = telling<float>({4, 4});
  const Tensor before = x.clone();
  EXPECT_EQ(complaint_of<byre::ShapeError>([&] { add_(x, x.t()); }),
            "add_: an operand of sizes [4, 4] and strides [1, 4] overlaps the tensor that is "
            "written, of sizes [4, 4] and strides [4, 1], in part, and would be read after it was "
            "written. clone() the operand first.");
  EXPECT_THROW(add_(x, x.select(0, 1).select(0, 2)), byre::ShapeError);
  EXPECT_THROW(add_(x, x.view(DType::u8).narrow(1, 3, 4)), byre::ShapeError);
  expect_elements<float>(x, {4, 4},
                         [&](const Dims& indices) { return at<float>(before, indices); });
}

TEST(InPlaceTest, memory_that_was_borrowed_twice_is_known_to_be_the_same) {
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

TEST(InPlaceTest, a_tensor_whose_elements_share_memory_is_not_written) {
  Tensor rows = telling<float>({1, 3}).expand({2, 3});
  EXPECT_EQ(complaint_of<byre::ShapeError>([&] { relu_(rows); }),
            "relu_: elements of the tensor that is written share memory: it has sizes [2, 3] and "
            "strides [0, 1], as expand and as_strided make them. clone() it first.");
  EXPECT_THROW(fill_(rows, 1), byre::ShapeError);
  EXPECT_THROW(copy_(rows, rows.clone()), byre::ShapeError);
  Tensor windows = telling<float>({5}).unfold(0, 3, 1);
  EXPECT_THROW(add_(windows, 1), byre::ShapeError);
}

TEST(InPlaceTest, a_result_never_broadcasts) {
  Tensor row = telling<float>({1, 3});
  EXPECT_EQ(
      complaint_of<byre::ShapeError>([&] {
        add_(row, telling<float>({2, 3}));
      }),
      "add_: an operand of sizes [2, 3] does not broadcast to [1, 3], those of the tensor that "
      "is written, which stay as they are. Use the operation that returns a new tensor.");
  EXPECT_THROW(copy_(row, telling<float>({2, 3})), byre::ShapeError);
  EXPECT_THROW(copy_(row, telling<float>({1, 1, 3})), byre::ShapeError);
  EXPECT_EQ(complaint_of<byre::ShapeError>([&] {
              add(row, telling<float>({2, 4}));
            }),
            "add: sizes [1, 3] and [2, 4] do not broadcast: from the last dimension on, sizes have "
            "to be equal or one of them 1. view() or unsqueeze() one operand so that they are.");
}

TEST(InPlaceTest, reading_operands_copies_nothing) {
  const Tensor x = telling<float>({64});
  const Tensor y = x.lazy_clone();
  add(x, y);
  sum(x);
  matmul(x, y);
  EXPECT_TRUE(x.storage().shares_data_with(y.storage()));
}

}  // namespace
}  // namespace byre::test
