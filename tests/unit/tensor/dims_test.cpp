// SPDX-License-Identifier: BSL-1.0
/// Dims as a sequence: in place up to five, elsewhere beyond, the same to whoever uses it.
#include <byre/tensor/dims.hpp>

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace byre::test {
namespace {

using byre::Dims;

TEST(DimsTest, behaves_as_a_vector_below_and_above_what_fits_in_place) {
  Dims dims;
  std::vector<std::int64_t> model;
  const auto expect_equal = [&] {
    ASSERT_EQ(std::vector<std::int64_t>(dims.begin(), dims.end()), model);
  };
  for (const std::size_t most : std::initializer_list<std::size_t>{3, 9, 5, 6}) {
    while (model.size() < most) {
      const auto number = static_cast<std::int64_t>(model.size() * 10 + most);
      const auto middle = static_cast<std::ptrdiff_t>(model.size() / 2);
      dims.push_back(number);
      model.push_back(number);
      EXPECT_EQ(*dims.insert(dims.begin() + middle, -number), -number);
      model.insert(model.begin() + middle, -number);
      expect_equal();
      EXPECT_EQ(dims.back(), model.back());
    }
    Dims copy(dims);
    EXPECT_EQ(copy, dims);
    copy.front() = 999;
    EXPECT_NE(copy, dims);
    const Dims moved(std::move(copy));
    EXPECT_EQ(moved.size(), model.size());
    EXPECT_EQ(copy.size(), 0U);  // NOLINT: what was moved from is empty
    copy = dims;
    EXPECT_EQ(copy, dims);
    while (model.size() > most / 2) {
      dims.erase(dims.begin() + 1);
      model.erase(model.begin() + 1);
      expect_equal();
      dims.pop_back();
      model.pop_back();
      expect_equal();
    }
    dims.resize(most, 7);
    model.resize(most, 7);
    expect_equal();
    dims.resize(1);
    model.resize(1);
    expect_equal();
  }
}

TEST(DimsTest, grows_and_shrinks_by_one_without_moving_each_time) {
  constexpr std::size_t most = 1'000'000;
  Dims dims;
  std::size_t moves = 0;
  const auto count_moves = [&](const auto& change) {
    const std::int64_t* const before = dims.data();
    change();
    moves += dims.data() == before ? 0U : 1U;
  };
  while (dims.size() < most) {
    count_moves([&] { dims.push_back(static_cast<std::int64_t>(dims.size())); });
    ASSERT_LE(moves, 20U) << "at " << dims.size();  // 2^20 is more than there are
  }
  EXPECT_EQ(dims[most / 2], static_cast<std::int64_t>(most / 2));
  EXPECT_EQ(Dims(dims), dims);
  Dims copy(dims);
  copy.push_back(7);
  EXPECT_EQ(copy[most - 1], dims.back());
  EXPECT_EQ(copy.back(), 7);
  moves = 0;
  while (!dims.empty()) {
    count_moves([&] { dims.pop_back(); });
    ASSERT_LE(moves, 1U) << "at " << dims.size();  // back in place
  }
}

}  // namespace
}  // namespace byre::test
